package main

import (
	"bytes"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"agentswarm/worktree"
)

// TestIsolation measures each cell of the table in docs/isolation.md: an agent
// in each mode of the sandbox tries each row.
func TestIsolation(t *testing.T) {
	t.Parallel()
	documented := isolationTable(t)
	for column, mode := range sandboxModes() {
		t.Run(mode.name, func(t *testing.T) {
			t.Parallel()
			needMode(t, mode)
			y := newFixtureAtHome(t)
			if line := y.swarm([]string{"SWARM_SANDBOX=auto"}, "doctor").stdout; mode.name == modeFull && strings.Contains(line, "full (but") {
				t.Skip("the full sandbox is incomplete here:", line)
			}
			measured := measureIsolation(t, y, mode)
			maps.Copy(measured, y.measureChecks(mode, checkRows()))
			for action, cells := range documented {
				if got, want := measured[action], expected(cells[column]); got != want {
					t.Errorf("%s: docs/isolation.md says %q, measured %q", action, cells[column], got)
				}
			}
			for action, got := range measured {
				if documented[action] == nil {
					t.Errorf("%s: docs/isolation.md has no such row; measured %q", action, got)
				}
			}
		})
	}
}

// TestChecksApart: where HOME is a folder of its own in the full sandbox, a check gets
// no file of its agent there and in the folders for temporary files.
func TestChecksApart(t *testing.T) {
	t.Parallel()
	for _, mode := range []sandboxMode{
		{modeNoOverlays, []string{"nonamespaces", "-no-overlays"}},
		{"HOME with a mount", []string{"unshare", "-rm", "sh", "-ec", `mkdir -p ~/mounted; mount -t tmpfs none ~/mounted; exec "$@"`, "sh"}},
	} {
		t.Run(mode.name, func(t *testing.T) {
			t.Parallel()
			needMode(t, sandboxMode{name: modeFull})
			y := newFixtureAtHome(t)
			y.env = append(y.env, "SWARM_SANDBOX=auto", "SWARM_BACKEND=auto")
			inHome := y.listen("unix", filepath.Join(y.dir, "home", "s"))
			y.copyTestBinary(filepath.Join(y.dir, "bin", isolationProbeName))
			rows := append(checkRows(), checkRow{
				action: "leave files in `/var/tmp` of its check", agent: "echo agent > /var/tmp/left", check: "grep -q agent /var/tmp/left",
			}, checkRow{
				action: "connect to a Unix socket in your HOME", agent: "true",
				check: fmt.Sprintf("%s connect unix '%s'", filepath.Join(y.dir, "bin", isolationProbeName), inHome),
			})
			for action, got := range y.measureChecks(mode, rows) {
				want := "no"
				if action == rows[0].action || action == rows[len(rows)-1].action {
					want = "yes"
				}
				if got != want {
					t.Errorf("%s: %s, want %s", action, got, want)
				}
			}
		})
	}
}

// newFixtureAtHome is a fixture outside of /tmp and /var/tmp: there it would keep all of
// them closed to agents, and agents of the full sandbox see nothing else of them.
func newFixtureAtHome(t *testing.T) *fixture {
	t.Helper()
	home, err := os.UserHomeDir()
	if err != nil {
		t.Skip("there is no HOME to measure in: ", err)
	}
	dir, err := os.MkdirTemp(home, ".swarm-") // short: it holds sockets
	if err != nil {
		t.Skip("HOME cannot be written to: ", err)
	}
	t.Cleanup(func() {
		endBelow(dir)
		if err := worktree.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return newFixtureIn(t, dir)
}

// TestRepositoryBelowTmp: agents do not change a repository that lies in a folder
// which they may write to otherwise.
func TestRepositoryBelowTmp(t *testing.T) {
	t.Parallel()
	for _, mode := range allModes() {
		if mode.name == modeNone {
			continue // nothing keeps them from it
		}
		t.Run(mode.name, func(t *testing.T) {
			t.Parallel()
			needMode(t, mode)
			y := newFixtureAtHome(t)
			dir, err := os.MkdirTemp("/tmp", "swarm-isolation-")
			y.must(err)
			t.Cleanup(func() { y.must(worktree.RemoveAll(dir)) })
			repo := filepath.Join(dir, "repo")
			y.git("clone", "-q", y.repo, repo)
			y.repo = repo
			y.env = append(y.env, "SWARM_SANDBOX=auto", "SWARM_BACKEND=auto")
			before := y.theirs()
			failed := y.results(append(slices.Clone(mode.behind), "swarm", "run", "--json", "--each", "pkg/p0/", "--", "sh", "-c", `
for f in pkg/p0/f.txt new .git/HEAD .git/hooks/pre-commit; do echo agent >> '`+repo+`'/$f; done
rm -rf '`+repo+`'/pkg/p1; mv '`+repo+`'/pkg '`+dir+`'/moved
f=$(mktemp) && rm "$f"`))
			if text, ran := failed["pkg/p0"]; !ran || text != "" {
				t.Errorf("the agent did not end well: %v %s", failed, text)
			}
			if after := y.theirs(); after != before {
				t.Errorf("the agent changed the repository:\n%s\nwas\n%s", after, before)
			}
		})
	}
}

// TestSocketsBelowTmp: where the sockets of a run lie in /tmp, since the path of the
// state folder is too long for them, agents do not write to /tmp, and doctor says so.
func TestSocketsBelowTmp(t *testing.T) {
	t.Parallel()
	mode := sandboxModes()[1]
	needMode(t, mode)
	y := newFixtureAtHome(t)
	doctor := func(want string) {
		t.Helper()
		cmd := y.command(nil, "doctor")
		cmd.Args = append(slices.Clone(mode.behind), cmd.Args...)
		path, err := exec.LookPath(cmd.Args[0])
		y.must(err)
		cmd.Path = path
		if text, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("doctor: %v, want %q in\n%s", err, want, text)
		}
	}
	y.env = append(y.env, "SWARM_SANDBOX=auto", "SWARM_BACKEND=auto")
	doctor("its own HOME and TMPDIR and the machine's /tmp, ")
	y.state = filepath.Join(y.dir, strings.Repeat("x", 100))
	y.env = append(y.env, "SWARM_STATE_DIR="+y.state)
	doctor(" (not to /tmp, with files in it ")
	failed := y.results(append(slices.Clone(mode.behind), "swarm", "run", "--json", "--each", "pkg/p0/", "--", "sh", "-ec", `
ls /tmp/swarm-*/$SWARM_RUN-*.sock; ! rm -f /tmp/swarm-*/$SWARM_RUN-*.sock; ! touch /tmp/$SWARM_RUN`))
	if text, ran := failed["pkg/p0"]; !ran || text != "" {
		t.Errorf("the agent did not end well: %v %s", failed, text)
	}
}

// landlockVersion asks the kernel for the version of its Landlock; 0 is none.
func landlockVersion() int {
	abi, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(abi)
}

func hasLandlock() bool { return landlockVersion() > 0 }

// needMode skips a test where the system does not give a mode of the sandbox.
func needMode(t *testing.T, mode sandboxMode) {
	t.Helper()
	switch mode.name {
	case modeFull, modeNoOverlays:
		if ok, err := scriptCondition("mounts", worktree.Overlay); !ok || err != nil {
			t.Skip("no mounts in user namespaces here", err)
		}
	case modeLandlock:
		if !hasLandlock() {
			t.Skip("no Landlock here")
		}
	}
}

// expected returns the answer of a cell on this kernel. Landlock restricts
// signals and abstract sockets since ABI 6 (Linux 6.12, landlock(7)).
func expected(cell string) string {
	const since = ", from Linux 6.12"
	if answer, some := strings.CutSuffix(cell, since); some {
		if landlockVersion() >= 6 {
			return answer
		}
		return "yes"
	}
	return cell
}

// isolationTable reads the rows between the markers in docs/isolation.md: the
// action, and the cell of each mode.
func isolationTable(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("docs", "isolation.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string][]string{}
	for _, cells := range tableAfter(t, string(text), "<!-- measured: TestIsolation -->") {
		if len(cells) != 1+len(sandboxModes()) {
			t.Fatalf("docs/isolation.md: %q, want a cell for each mode", cells)
		}
		rows[cells[0]] = cells[1:]
	}
	return rows
}

// tableAfter returns the cells of a Markdown table, without its header, between
// a marker and the end marker.
func tableAfter(t *testing.T, text, marker string) (rows [][]string) {
	t.Helper()
	_, rest, _ := strings.Cut(text, marker+"\n")
	table, _, found := strings.Cut(rest, "<!-- end -->")
	for i, line := range strings.Split(strings.TrimSpace(table), "\n") {
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for k := range cells {
			cells[k] = strings.TrimSpace(cells[k])
		}
		if i >= 2 {
			rows = append(rows, cells)
		}
	}
	if !found || len(rows) == 0 {
		t.Fatalf("there is no table after %s", marker)
	}
	return rows
}

// TestToolExceptions: docs/isolation.md names each tool that cannot work in a
// mode, and no other.
func TestToolExceptions(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("docs", "isolation.md"))
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for _, tool := range tools() {
		for mode, reason := range tool.fails {
			want = append(want, tool.name+"|"+mode+"|"+reason)
		}
	}
	const marker = "<!-- exceptions: TestTools -->"
	if len(want) == 0 {
		if strings.Contains(string(text), marker) {
			t.Errorf("docs/isolation.md has a table after %s, and all tools work", marker)
		}
		return
	}
	for _, cells := range tableAfter(t, string(text), marker) {
		got = append(got, strings.Join(cells, "|"))
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("docs/isolation.md names\n%q, want\n%q", got, want)
	}
}

// isolationRow is an action that an agent tries.
type isolationRow struct {
	action string
	script string      // ends with 0 if the agent could do it
	effect func() bool // if set, decides in place of the script's exit code
}

// checkRow is a thing that an agent leaves for its check.
type checkRow struct {
	action string
	agent  string // ends with 0
	check  string // ends with 0 if the check finds it
}

// checkRows are the rows of checks.
func checkRows() []checkRow {
	return []checkRow{
		{action: "leave ignored files in the workspace of its check", agent: "echo agent > left.o", check: "grep -q agent left.o"},
		{action: "leave configuration in the HOME of its check", agent: "mkdir -p ~/.config/left && echo agent | tee ~/.leftrc > ~/.config/left/rc",
			check: "grep -q agent ~/.leftrc || grep -q agent ~/.config/left/rc"},
		{action: "leave files in `~/.cache` or `~/.local` of its check", agent: "echo agent | tee ~/.cache/left > ~/.local/left",
			check: "grep -q agent ~/.cache/left || grep -q agent ~/.local/left"},
		{action: "leave files in the TMPDIR of its check", agent: `echo agent > "${TMPDIR:-/tmp}/left"`, check: `grep -q agent "${TMPDIR:-/tmp}/left"`},
	}
}

// measureChecks has an agent leave all things and a check look for each, and
// returns yes or no for each.
func (y *fixture) measureChecks(mode sandboxMode, rows []checkRow) map[string]string {
	y.t.Helper()
	y.write("repo/.gitignore", "*.o\n")
	y.write("home/.cache/x", "x\n")
	y.write("home/.local/x", "x\n")
	for i, row := range rows {
		y.write(fmt.Sprintf("repo/leave/%02d", i), row.agent+"\necho changed > changed\n")
		y.write(fmt.Sprintf("repo/find/%02d", i), row.check+"\n")
	}
	y.git("add", "-A")
	y.git("commit", "-q", "-m", "checks")
	argv := append(slices.Clone(mode.behind), "swarm", "run", "--json", "-j", "1", "--retries", "0", "--each", "leave/*",
		"--verify", `sh -e "find/${SWARM_ITEM#leave/}"`, "--", "sh", "-e", "{item}")
	missing := y.results(argv)
	measured := map[string]string{}
	for i, row := range rows {
		text, ran := missing[fmt.Sprintf("leave/%02d", i)]
		if !ran || text != "" && !strings.HasPrefix(text, "completed:") {
			y.t.Errorf("%s: the agent did not do it: %s", row.action, text)
		}
		measured[row.action] = map[bool]string{true: "yes", false: "no"}[text == ""]
	}
	return measured
}

// measureIsolation has an agent try all actions, and returns yes or no for each.
func measureIsolation(t *testing.T, y *fixture, mode sandboxMode) map[string]string {
	t.Helper()
	y.env = slices.DeleteFunc(y.env, func(kv string) bool {
		return strings.HasPrefix(kv, "SWARM_SANDBOX=") || strings.HasPrefix(kv, "SWARM_BACKEND=") || strings.HasPrefix(kv, "TMPDIR=")
	})
	socket, end := y.otherRun(mode)
	defer end()
	rows := y.isolationRows(socket)
	for i, row := range rows {
		y.write(fmt.Sprintf("repo/try/%02d", i), row.script+"\n")
	}
	y.git("add", "-A")
	y.git("commit", "-q", "-m", "actions")
	argv := append(slices.Clone(mode.behind), "swarm", "run", "--json", "-j", "1", "--retries", "0", "--each", "try/*", "--", "sh", "-e", "{item}")
	failed := y.results(argv)
	measured := map[string]string{}
	for i, row := range rows {
		text, ran := failed[fmt.Sprintf("try/%02d", i)]
		could := text == ""
		if row.effect != nil {
			could = row.effect()
		}
		measured[row.action] = map[bool]string{true: "yes", false: "no"}[could]
		if !ran {
			t.Errorf("%s: no agent tried it", row.action)
		}
	}
	return measured
}

// otherRun starts a run whose agent works until end. It returns the control socket.
func (y *fixture) otherRun(mode sandboxMode) (socket string, end func()) {
	y.t.Helper()
	argv := append(slices.Clone(mode.behind), "swarm", "run", "--each", "pkg/p0/", "--", "sh", "-c", `touch "$SWARM_ARTIFACTS/up"; exec sleep 10000`)
	path, err := exec.LookPath(argv[0])
	y.must(err)
	var said bytes.Buffer
	cmd := exec.Command(path, argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = y.repo, y.env, &said, &said
	y.must(cmd.Start())
	end = sync.OnceFunc(func() { _ = cmd.Process.Signal(unix.SIGTERM); _ = cmd.Wait() })
	y.t.Cleanup(end)
	y.await("the other run", func() bool {
		up, err := filepath.Glob(filepath.Join(y.state, "*", "runs", "*", "a", "a1", "1", "artifacts", "up"))
		return err == nil && len(up) == 1
	})
	run := y.runs()[0].ID
	for _, dir := range []string{filepath.Join(y.state, "sockets"), fmt.Sprintf("/tmp/swarm-%d", os.Getuid())} {
		if found, err := filepath.Glob(filepath.Join(dir, run+"-*.sock")); err == nil && len(found) == 1 {
			return found[0], end
		}
	}
	y.t.Fatalf("there is no control socket of run %s", run)
	return "", end
}

// isolationRows prepares the targets of the agents. socket is the control
// socket of another run.
func (y *fixture) isolationRows(socket string) []isolationRow {
	y.write("outside/file", "yours\n")
	y.write("home/.ssh/id_ed25519", "secret\n")
	y.write("home/notes", "yours\n")
	outside, home := filepath.Join(y.dir, "outside"), filepath.Join(y.dir, "home")
	y.must(os.Chmod(filepath.Join(outside, "file"), 0o600))
	shared := fmt.Sprintf("/tmp/swarm-isolation-%d-%s", os.Getpid(), filepath.Base(y.dir))
	y.t.Cleanup(func() { _ = os.Remove(shared) })

	var inShared []string
	for _, dir := range []string{"/tmp", "/var/tmp", "/dev/shm"} {
		path := fmt.Sprintf("%s/swarm-isolation-yours-%d-%s", dir, os.Getpid(), filepath.Base(y.dir))
		y.must(os.WriteFile(path, []byte("yours\n"), 0o600))
		y.t.Cleanup(func() { _ = os.Remove(path) })
		inShared = append(inShared, path)
	}

	probe := filepath.Join(y.dir, "bin", isolationProbeName)
	y.copyTestBinary(probe)
	tcp := y.listen("tcp", "127.0.0.1:0")
	folder, err := os.MkdirTemp("/var/tmp", "swarm-isolation-")
	y.must(err)
	y.t.Cleanup(func() { _ = os.RemoveAll(folder) })
	inFolder := y.listen("unix", filepath.Join(folder, "s"))
	inHome := y.listen("unix", filepath.Join(home, "s"))
	// Where agents have folders of their own at paths of their own, they lie here.
	siblings := filepath.Join(y.state, "scratch", "sibling", "tmp")
	y.must(os.MkdirAll(siblings, 0o700))
	ofSibling := y.listen("unix", filepath.Join(siblings, "s"))
	y.must(os.MkdirAll(filepath.Join(y.state, "scratch", "sibling", "home"), 0o700))
	siblingsFile := filepath.Join(y.state, "scratch", "sibling", "home", "file")
	y.must(os.WriteFile(siblingsFile, []byte("sibling\n"), 0o600))
	// It counts as done if the agent's own HOME is neither the user's nor beside
	// that of the sibling.
	beside := fmt.Sprintf(`test "$HOME" = '%s' || test "${HOME%%/*/home}" = '%s' || exit 0; `, home, filepath.Join(y.state, "scratch"))
	abstract := y.listen("unix", "@swarm-isolation-"+filepath.Base(y.dir))
	pid := y.process()
	terminal, printed := y.terminal()
	key := y.sharedMemory()

	connect := func(network, address string) string {
		return fmt.Sprintf("%s connect %s '%s'", probe, network, address)
	}
	text := func(path, want string) func() bool {
		return func() bool { got, _ := os.ReadFile(path); return strings.Contains(string(got), want) }
	}
	return []isolationRow{
		{action: "read your files", script: "grep -q yours " + outside + "/file"},
		{action: "read `~/.ssh` and other known secrets", script: "grep -q secret " + home + "/.ssh/id_ed25519"},
		{action: "list the names in `~/.ssh`", script: "ls " + home + "/.ssh | grep -q id_ed25519"},
		{action: "read the state of swarm", script: "cat " + y.state + "/*/runs/*/run.json"},
		{action: "change your files", script: "echo agent >> " + outside + "/file", effect: text(filepath.Join(outside, "file"), "agent")},
		{action: "change the mode of your files", script: probe + " chmod 604 " + outside + "/file", effect: func() bool {
			info, err := os.Stat(filepath.Join(outside, "file"))
			return err == nil && info.Mode().Perm() == 0o604
		}},
		{action: "change the times of your files", script: "touch -d 2001-01-01 " + outside + "/file", effect: func() bool {
			info, err := os.Stat(filepath.Join(outside, "file"))
			return err == nil && info.ModTime().Year() <= 2001
		}},
		{action: "write to HOME", script: "echo agent >> ~/notes"},
		{action: "change your HOME", script: "echo agent >> ~/notes; echo agent >> " + home + "/notes", effect: text(filepath.Join(home, "notes"), "agent")},
		{action: "read or write the HOME of another agent", script: beside +
			fmt.Sprintf("grep -q sibling %[1]s || echo agent >> %[1]s || echo agent > %[1]s.new", siblingsFile)},
		{action: "write to `/tmp`", script: "f=$(mktemp /tmp/x.XXXXXX) && rm $f"},
		{action: "leave files in your `/tmp`", script: "echo agent > " + shared, effect: text(shared, "agent")},
		{action: "change your files in `/tmp`, `/var/tmp` or `/dev/shm`", script: "for f in " + strings.Join(inShared, " ") + "; do echo agent > $f || true; done", effect: func() bool {
			return slices.ContainsFunc(inShared, func(path string) bool { return text(path, "agent")() })
		}},
		{action: "create branches in your repository", script: "git branch agent && git branch --list agent | grep -q agent", effect: func() bool {
			return y.git("branch", "--list", "agent") != ""
		}},
		{action: "write to the git folder of your repository", script: "echo agent > " + y.repo + "/.git/agent", effect: text(filepath.Join(y.repo, ".git", "agent"), "agent")},
		{action: "connect to a Unix socket in `/var/tmp`", script: connect("unix", inFolder)},
		{action: "connect to a Unix socket in your HOME", script: connect("unix", inHome)},
		{action: "connect to a Unix socket in the TMPDIR of another agent", script: connect("unix", ofSibling)},
		{action: "connect to an abstract Unix socket", script: connect("unix", abstract)},
		{action: "connect to a server on localhost", script: connect("tcp", tcp)},
		{action: "attach your System V shared memory", script: fmt.Sprintf("%s shm %d", probe, key)},
		{action: "see your processes", script: fmt.Sprintf("test -d /proc/%d && grep -q %s /proc/%d/cmdline", pid, isolationProbeName, pid)},
		{action: "send signals to your processes", script: fmt.Sprintf("%s signal %d", probe, pid)},
		{action: "set limits of your processes, such as one of processor time", script: fmt.Sprintf("%s limit %d", probe, pid)},
		{action: "remove the control socket of its run", script: fmt.Sprintf(
			"s=$(ls %s/sockets/$SWARM_RUN-*.sock /tmp/swarm-%d/$SWARM_RUN-*.sock 2>/dev/null || true); test -n \"$s\" && /bin/rm -f $s", y.state, os.Getuid())},
		{action: "control a run", script: fmt.Sprintf("env -i %s control '%s' '%s/*/runs/*/secret'", probe, socket, y.state)},
		{action: "ask in the name of another agent", script: fmt.Sprintf("%s ask '%s.a1.1/s'", probe, strings.TrimSuffix(socket, ".sock"))},
		{action: "write to your terminals", script: "echo agent > " + terminal, effect: printed},
		{action: "leave a process that outlives the run", script: "setsid " + probe + " stay >/dev/null 2>&1 </dev/null &", effect: func() bool {
			return len(processesWith(probe+"\x00stay")) > 0
		}},
	}
}

// listen accepts connections until the end of the test, and returns the address.
func (y *fixture) listen(network, address string) string {
	y.t.Helper()
	l, err := net.Listen(network, address)
	y.must(err)
	y.t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_ = c.Close()
		}
	}()
	return l.Addr().String()
}

// process starts a process of the user's, and returns its number.
func (y *fixture) process() int {
	y.t.Helper()
	cmd := exec.Command(filepath.Join(y.dir, "bin", isolationProbeName), "wait")
	in, err := cmd.StdinPipe()
	y.must(err)
	y.must(cmd.Start())
	y.t.Cleanup(func() { _ = in.Close(); _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd.Process.Pid
}

// terminal opens a terminal of the user's, and reports whether anything was
// printed on it.
func (y *fixture) terminal() (path string, printed func() bool) {
	y.t.Helper()
	master, slave, err := pty.Open()
	y.must(err)
	y.t.Cleanup(func() { _ = master.Close(); _ = slave.Close() })
	return slave.Name(), func() bool {
		ready, err := unix.Poll([]unix.PollFd{{Fd: int32(master.Fd()), Events: unix.POLLIN}}, 0)
		return err == nil && ready == 1
	}
}

// sharedMemory makes a System V segment that ends with the test.
func (y *fixture) sharedMemory() int {
	y.t.Helper()
	sum := fnv.New32a()
	sum.Write([]byte(y.dir))
	key := int(sum.Sum32() >> 1) // keys are positive numbers of 32 bits
	id, err := unix.SysvShmGet(key, 4096, unix.IPC_CREAT|unix.IPC_EXCL|0o600)
	y.must(err)
	y.t.Cleanup(func() { _, _ = unix.SysvShmCtl(id, unix.IPC_RMID, nil) })
	return key
}

// copyTestBinary puts the test binary at a path that agents see in all modes.
func (y *fixture) copyTestBinary(path string) {
	y.t.Helper()
	self, err := os.Executable()
	y.must(err)
	in, err := os.Open(self)
	y.must(err)
	defer in.Close()
	y.must(os.MkdirAll(filepath.Dir(path), 0o755))
	out, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o755)
	y.must(err)
	_, err = io.Copy(out, in)
	y.must(errors.Join(err, out.Close()))
}
