package box

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// escape is one way out.
type escape struct {
	name  string
	task  string
	first func(*testing.T, *fixture) []string // prepares it; returns what to try
}

func escapes() []escape {
	paths := func(f func(g *fixture) []string) func(*testing.T, *fixture) []string {
		return func(_ *testing.T, g *fixture) []string { return f(g) }
	}
	hidden := func(g *fixture) []string {
		return []string{
			g.Home + "/.ssh/id", g.Home + "/.aws/credentials", g.Home + "/.gnupg/key", g.Home + "/.netrc",
			g.Home + "/.config/gh/hosts", g.Home + "/.mine", g.State + "/repo-2/journal", g.State + "/repo-1/trees/a2/up/file",
		}
	}
	taken := func(g *fixture) []string { return append([]string{"/etc/passwd"}, hidden(g)...) }
	return []escape{
		{name: "read secrets", task: "read", first: paths(hidden)},
		{name: "find secrets", task: "read", first: paths(func(g *fixture) []string { return []string{g.Dir} })},
		{name: "write to the system", task: "touch", first: paths(func(*fixture) []string {
			return []string{"/etc/passwd", "/usr/bin/env", "/opt/x", "/root/x", "/boot/x"}
		})},
		{name: "write to the state", task: "write", first: paths(func(g *fixture) []string {
			return []string{g.Base + "/file", g.State + "/repo-1/trees/a2/up/file", g.State + "/repo-2/journal", g.Up + "/x", g.State + "/x"}
		})},
		{name: "write to shared objects", task: "write", first: paths(func(g *fixture) []string {
			return []string{g.Objects + "/aa"}
		})},
		{name: "remount and unmount", task: "remount", first: paths(taken)},
		{name: "look underneath", task: "look", first: paths(hidden)},
		{name: "leave a chroot", task: "chroot", first: paths(taken)},
		{name: "open by handle", task: "handle", first: paths(hidden)},
		{name: "trace the supervisor", task: "ptrace"},
		{name: "descriptors", task: "descriptors"},
		{name: "kill others", task: "kill", first: bystanders},
		{name: "change the kernel's settings", task: "system", first: func(*testing.T, *fixture) []string {
			if os.Getuid() != 0 {
				// Some are of the agent's own namespaces, or refused only later.
				return []string{"/proc/sys/vm", "/proc/sys/fs", "/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/sys"}
			}
			return []string{"/proc", "/sys"}
		}},
		{name: "devices", task: "device"},
		{name: "control groups", task: "groups"},
		{name: "shared memory", task: "shm", first: segment},
		{name: "sockets", task: "dial", first: sockets},
		{name: "terminals", task: "terminal", first: terminal},
		{name: "keys", task: "key", first: key},
	}
}

// TestEscapes tries all ways out, as the agent and with namespaces of its own,
// from a HOME and a state below /tmp and not below it.
func TestEscapes(t *testing.T) {
	t.Parallel()
	need(t, Full)
	for i, e := range escapes() {
		for n, nested := range []bool{false, true} {
			for _, where := range places(t, i+n) {
				g := newFixture(t, where(t))
				t.Run(fmt.Sprintf("%s/nested=%v%s", e.name, nested, filepath.Dir(g.Dir)), func(t *testing.T) {
					var args []string
					if e.first != nil {
						args = e.first(t, g)
					}
					w := compose(t, Full, g.place())
					out, err := inside(job{Walls: w, Task: task{Name: e.task, Args: args, Nested: nested}})
					if err != nil {
						t.Fatal(err)
					}
					for _, line := range lines(out) {
						t.Errorf("the agent could %s", line)
					}
					g.untouched(t)
				})
			}
		}
	}
}

// untouched checks from outside what no agent may change.
func (g *fixture) untouched(t *testing.T) {
	t.Helper()
	for path, want := range map[string]string{
		g.Home + "/.bashrc": "theirs", g.Repo + "/file": "checkout", g.Repo + "/.git/config": "shared",
		g.Repo + "/.git/hooks/pre-commit": "hook", g.Repo + "/.git/refs/heads/main": "ref",
		g.Repo + "/.git/objects/aa": "object", g.Sibling + "/file": "sibling", g.Base + "/file": "base",
		g.Home + "/.cache/warm": "warm", g.Home + "/.ssh/id": secret,
	} {
		info, err := os.Stat(path)
		text, _ := os.ReadFile(path)
		if err != nil || string(text) != want || info.Mode().Perm() != 0o644 {
			t.Errorf("%s is %q now, %v", path, text, err)
		}
	}
	for _, dir := range []string{g.Home, g.Repo, g.Repo + "/.git", g.Repo + "/.git/objects", g.Sibling, g.Base} {
		if exists(dir + "/planted") {
			t.Errorf("something was planted in %s", dir)
		}
	}
}

// TestCopies writes to all that is private, and finds it nowhere else.
func TestCopies(t *testing.T) {
	t.Parallel()
	for _, where := range []func(*testing.T) string{outside, inTmp} {
		for _, level := range ladder() {
			if !level.Overlay() || try(level, new(facts)) != nil {
				continue
			}
			g := newFixture(t, where(t))
			w := compose(t, level, g.place())
			for _, path := range []string{
				g.Home + "/.bashrc", g.Home + "/.cache/warm", g.Sibling + "/file", g.Repo + "/file", g.Repo + "/.git/config",
			} {
				out := sh(t, w, `cat "$1" && echo new >"$1" && cat "$1"; echo x >"$1.new"; rm "$1"; ls "$1" 2>&1; true`, path)
				if !strings.Contains(out, "new\n") || !strings.Contains(out, "No such file") {
					t.Errorf("%v: %s cannot be written to: %q", level, path, out)
				}
			}
			if out := sh(t, w, `cat "$1" "$2"/dir/old`, g.Repo+"/.git/config.new", g.Repo); out != "x\nold" {
				t.Errorf("%v: the workspace holds %q", level, out)
			}
			g.untouched(t)
		}
	}
}

// bystanders are processes that are not the agent's.
func bystanders(t *testing.T, _ *fixture) []string {
	t.Helper()
	own, parent := strconv.Itoa(os.Getpid()), strconv.Itoa(os.Getppid())
	return []string{own, startOf(own), parent, startOf(parent)}
}

// startOf is when a process started, as the kernel counts; empty where there is
// none to be seen.
func startOf(pid string) string {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	if err != nil || len(fields) < 20 {
		return ""
	}
	return fields[19]
}

// TestKillIsSeen: of a process that the agent can end it is told, and not of its
// own that has the number of another.
func TestKillIsSeen(t *testing.T) {
	t.Parallel()
	if out := run(t, Sandbox{}, "kill", bystanders(t, nil)[:2]...); !strings.Contains(out, fmt.Sprintf("signal process %d\n", os.Getpid())) {
		t.Errorf("of a process that can be ended it was told %q", out)
	}
	need(t, Full)
	w := compose(t, Full, newFixture(t, outside(t)).place())
	if out := run(t, w, "kill", "1", startOf(strconv.Itoa(os.Getpid()))); out != "" {
		t.Errorf("of its own supervisor the agent could %s", out)
	}
}

func segment(t *testing.T, _ *fixture) []string {
	t.Helper()
	key := 0x5a000000 | os.Getpid()
	id, err := unix.SysvShmGet(key, 4096, unix.IPC_CREAT|0o600)
	if err != nil {
		t.Skipf("no shared memory: %v", err)
	}
	t.Cleanup(func() { _, _ = unix.SysvShmCtl(id, unix.IPC_RMID, nil) })
	return []string{strconv.Itoa(key)}
}

// sockets are those that have work done outside: swarm's own, docker's, one
// without a file, and one in HOME.
func sockets(t *testing.T, g *fixture) []string {
	t.Helper()
	all := []string{g.Ctl + "/s", g.Docker}
	for _, path := range all {
		listen(t, path)
	}
	mkdir(t, g.Home+"/.docker/run")
	listen(t, g.Home+"/.docker/run/docker.sock")
	all = append(all, g.Home+"/.docker/run/docker.sock", "/run/docker.sock", "/var/run/docker.sock",
		"/run/dbus/system_bus_socket", "/run/systemd/private", "/run/user/"+strconv.Itoa(os.Getuid())+"/bus")
	if r, err := newRuleset(0, unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET); err == nil && r.fd >= 0 {
		r.close()
		name := "@swarm-box-" + filepath.Base(g.Dir)
		l, err := net.Listen("unix", name)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		all = append(all, name)
	}
	return all
}

// terminal is one that somebody works at.
func terminal(t *testing.T, _ *fixture) []string {
	t.Helper()
	near, far, err := pty.Open()
	if err != nil {
		t.Skipf("no terminals: %v", err)
	}
	p, err := os.StartProcess("/bin/sleep", []string{"sleep", "1000"}, &os.ProcAttr{
		Files: []*os.File{far, far, far}, Sys: &syscall.SysProcAttr{Setsid: true, Setctty: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.Kill()
		_, _ = p.Wait()
		_, _ = near.Close(), far.Close()
	})
	return []string{far.Name()}
}

// key is one in the session that swarm was started in.
func key(t *testing.T, _ *fixture) []string {
	t.Helper()
	runtime.LockOSThread() // The session is of this thread, which ends with the test.
	if _, err := unix.KeyctlInt(unix.KEYCTL_JOIN_SESSION_KEYRING, 0, 0, 0, 0); err != nil {
		t.Skipf("no keys: %v", err)
	}
	if _, err := unix.AddKey("user", "swarm-box", []byte(secret), unix.KEY_SPEC_SESSION_KEYRING); err != nil {
		t.Skipf("no keys: %v", err)
	}
	if _, err := unix.KeyctlSearch(unix.KEY_SPEC_SESSION_KEYRING, "user", "swarm-box", 0); err != nil {
		t.Fatal(err)
	}
	return []string{"swarm-box"}
}

// TestRunning: of /run nothing is seen by which other programs are reached.
func TestRunning(t *testing.T) {
	t.Parallel()
	need(t, Full)
	entries, err := os.ReadDir("/run")
	if err != nil {
		t.Skip(err)
	}
	g := newFixture(t, outside(t))
	seen := strings.Fields(sh(t, compose(t, Full, g.place()), `ls -A /run`))
	if len(seen) > 4 || len(entries) > 4 && len(seen) == len(entries) {
		t.Errorf("the agent sees %q in /run", seen)
	}
}

// TestFenced: without namespaces signals and sockets without a file end at the
// fence all the same.
func TestFenced(t *testing.T) {
	t.Parallel()
	need(t, Landlock)
	g := newFixture(t, outside(t))
	args := sockets(t, g)
	if name := args[len(args)-1]; !strings.HasPrefix(name, "@") {
		t.Skip("this kernel's Landlock knows nothing but files")
	}
	w := compose(t, Landlock, g.on(Landlock))
	if out := run(t, w, "dial", args[len(args)-1]); out != "" {
		t.Errorf("the agent could %s", out)
	}
	if out := run(t, w, "signal", strconv.Itoa(os.Getpid())); out != "" {
		t.Errorf("the agent could %s", out)
	}
	if os.Getuid() == 0 {
		if out := run(t, w, "device"); out != "" {
			t.Errorf("the agent could %s", out)
		}
	}
	out := sh(t, w, `echo x >"$1/x" && cat "$1/x"; echo y >/dev/null && echo null; (echo x >"$2/planted" || echo closed) 2>&-
		mktemp -u >/dev/null && cat "$3" 2>&- || echo hidden`, g.Up, g.Home, g.Home+"/.ssh/id")
	if out != "x\nnull\nclosed\nhidden\n" {
		t.Errorf("behind the fence: %q", out)
	}
	g.untouched(t)
}

// TestFencedRepository: a /tmp that holds what is only read, or the repository,
// is not opened.
func TestFencedRepository(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{"/srv": true, "/tmp/checkout": false, "/tmp": false, "/tmpfiles": true} {
		for name, p := range map[string]Place{
			"read":   {Pieces: []Piece{{At: path, From: path}}},
			"closed": {Closed: []string{"/nonexistent", path}},
		} {
			p.State, p.Private, p.Getenv = "/nonexistent/state", outside(t), os.Getenv
			w := compose(t, Landlock, p)
			open := slices.ContainsFunc(w.Pieces, func(p Piece) bool { return p.At == "/tmp" && p.Write })
			if open != want {
				t.Errorf("with a %s checkout at %s /tmp is open: %v", name, path, open)
			}
			if got := slices.Contains(Shared(p), "/tmp"); got != open {
				t.Errorf("with a %s checkout at %s /tmp is open: %v; Shared says %v", name, path, open, got)
			}
		}
	}
}

// TestFencedSecret: a /tmp that holds a hidden file is not opened. A hidden socket does
// not close it.
func TestFencedSecret(t *testing.T) {
	t.Parallel()
	need(t, Landlock)
	for _, tt := range []struct {
		name   string
		hide   func(g *fixture, p *Place, dir string)
		opened bool
	}{
		{name: "a file by --hide", hide: func(_ *fixture, p *Place, dir string) { p.Hide = []string{dir + "/file"} }},
		{name: "a folder by --hide", hide: func(_ *fixture, p *Place, dir string) { p.Hide = []string{dir} }},
		{name: "a file by a variable", hide: func(g *fixture, _ *Place, dir string) { g.Env["KUBECONFIG"] = dir + "/file" }},
		{name: "a socket", hide: func(g *fixture, _ *Place, dir string) { g.Env["SSH_AUTH_SOCK"] = dir + "/socket" }, opened: true},
		{name: "a folder of sockets", hide: func(_ *fixture, p *Place, dir string) { p.Sockets = []string{dir} }, opened: true},
	} {
		dir := inTmp(t)
		write(t, dir+"/file", secret)
		listen(t, dir+"/socket")
		g := newFixture(t, outside(t))
		p := g.on(Landlock)
		tt.hide(g, &p, dir)
		want := "hidden\nclosed\n"
		if tt.opened {
			want = secret + "written\n"
		}
		out := sh(t, compose(t, Landlock, p), `cat "$1/file" 2>&- || echo hidden; (echo x >"$1/file" && echo written || echo closed) 2>&-`, dir)
		if out != want {
			t.Errorf("%s: the agent got %q, want %q", tt.name, out, want)
		}
	}
}

// TestMasked: sockets are hidden where no private folder hides them anyway, and
// so is the agent's own folder for what it writes.
func TestMasked(t *testing.T) {
	t.Parallel()
	for _, level := range ladder() {
		g := newFixture(t, t.TempDir())
		p := g.on(level)
		p.Pieces = append(p.Pieces, Piece{At: "/srv", From: "/srv"}, Piece{At: g.Dir, From: g.Dir})
		g.Env["SSH_AUTH_SOCK"], g.Env["XDG_RUNTIME_DIR"] = g.Sibling+"/file", g.Dir
		w := compose(t, level, p)
		var masks []string
		for _, piece := range w.Pieces {
			if piece.Empty {
				masks = append(masks, piece.At)
			}
		}
		for _, want := range []string{g.Ctl, g.Sibling + "/file", g.State, g.Home + "/.ssh"} {
			if !slices.Contains(masks, want) {
				t.Errorf("%v: %s is not hidden, but %q", level, want, masks)
			}
		}
	}
	if try(Full, new(facts)) != nil {
		return
	}
	g := newFixture(t, outside(t))
	write(t, g.Private+"/home/x", secret)
	p := g.place()
	p.Pieces = append(p.Pieces, Piece{At: filepath.Dir(g.Private), From: filepath.Dir(g.Private)})
	if out := run(t, compose(t, Full, p), "read", g.Private); out != "" {
		t.Errorf("the agent could %s", out)
	}
}

// TestSetuid runs a program whose owner the agent would like to be.
func TestSetuid(t *testing.T) {
	t.Parallel()
	need(t, Full)
	if os.Getuid() != 0 {
		t.Skip("it needs root to make a program of somebody else")
	}
	home, err := os.UserHomeDir() // agents see no other files of /tmp and /var/tmp
	if err != nil {
		t.Skip("there is no HOME to put a program into: ", err)
	}
	dir, err := os.MkdirTemp(home, ".swarm-box-")
	if err != nil {
		t.Skip("HOME cannot be written to: ", err)
	}
	t.Cleanup(func() { discard(t, dir) })
	program := filepath.Join(dir, "cat")
	text, err := os.ReadFile("/bin/cat")
	if err != nil {
		t.Fatal(err)
	}
	write(t, program, string(text))
	for _, step := range []error{
		os.Chown(program, 1234, 1234), os.Chmod(program, 0o755|os.ModeSetuid|os.ModeSetgid), os.Chmod(dir, 0o755),
	} {
		if step != nil {
			t.Fatal(step)
		}
	}
	g := newFixture(t, outside(t))
	out := sh(t, compose(t, Full, g.place()), `"$1" /proc/self/status`, program)
	if !strings.Contains(out, "Uid:\t0\t0\t0\t0\n") || !strings.Contains(out, "CapEff:\t0000000000000000\n") {
		t.Errorf("a setuid program became %s", out)
	}
}
