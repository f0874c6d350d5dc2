package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"agentswarm/internal/testing/campaign"
	"agentswarm/internal/testprogram"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree"
)

// fixture is a repository of three packages with a HOME and a state of its own,
// and all that swarm needs to run there.
type fixture struct {
	t     *testing.T
	dir   string
	repo  string
	state string
	env   []string
	ledger
	walled bool // agents have a sandbox and private workspaces

	about  string   // the context of a failure, for its message
	spaces []string // that are held open, see spacesOf
}

const yardItems = 3

// usersConfig is the user's configuration of git. Since 2.47 a commit or a fetch
// leaves a process behind that looks whether there is something to tidy, with a
// lock in the repository until it is done.
const usersConfig = "[user]\n\tname = Ada\n\temail = ada@example.org\n" +
	"[init]\n\tdefaultBranch = main\n[maintenance]\n\tauto = false\n"

func newFixture(t *testing.T) *fixture {
	t.Helper()
	return newFixtureIn(t, t.TempDir())
}

// newFixtureIn is newFixture in a folder that the caller removes.
func newFixtureIn(t *testing.T, dir string) *fixture {
	t.Helper()
	y := &fixture{
		t: t, dir: dir, repo: filepath.Join(dir, "repo"), state: filepath.Join(dir, "state"),
		ledger: ledger(filepath.Join(dir, "ledger")),
	}
	y.env = []string{
		"HOME=" + filepath.Join(dir, "home"), "PATH=" + os.Getenv("PATH"), "TERM=dumb",
		"SWARM_STATE_DIR=" + y.state, "GIT_CONFIG_NOSYSTEM=1", "TMPDIR=" + filepath.Join(dir, "tmp"),
		"SWARM_SANDBOX=off", "SWARM_BACKEND=worktree", "SWARM_PASS_ENV=SIGNALS WORK HELD", "GOCOVERDIR=" + os.Getenv("GOCOVERDIR"),
	}
	for _, d := range []string{"home", "tmp", "ledger/notes", "ledger/die", "ledger/paused", "git"} {
		y.must(os.MkdirAll(filepath.Join(dir, d), 0o755))
	}
	y.write("home/.gitconfig", usersConfig)
	for i := range yardItems {
		y.write(fmt.Sprintf("repo/pkg/p%d/f.txt", i), fmt.Sprintf("file %d\n", i))
	}
	y.git("init", "-q")
	y.git("add", "-A")
	y.git("commit", "-q", "-m", "first")
	return y
}

// yardBackends are those of a fixture: linked worktrees without a sandbox, and
// overlays in a sandbox.
func fixtureBackends() []worktree.Backend {
	return []worktree.Backend{worktree.Linked, worktree.Overlay}
}

// onBackends runs a test on the backends given in the gate, and on all of
// yardBackends in a campaign.
func onBackends(t *testing.T, gate []worktree.Backend, test func(*testing.T, *fixture)) {
	t.Helper()
	if campaign.Running(t) {
		gate = fixtureBackends()
	}
	for _, backend := range gate {
		t.Run(string(backend), func(t *testing.T) {
			t.Parallel()
			y := newFixture(t)
			y.on(backend)
			test(t, y)
		})
	}
}

// on has agents work on a backend: linked worktrees as a fixture has them anyway,
// or overlays in a sandbox, as users have them by default. The ledger is open
// to them. It skips the test where no sandbox can be started.
func (y *fixture) on(backend worktree.Backend) {
	if backend == worktree.Linked {
		return
	}
	y.t.Helper()
	if ok, err := scriptCondition("overlays", worktree.Overlay); !ok || err != nil {
		y.t.Skip("no sandbox with overlays can be set up here", err)
	}
	y.t.Cleanup(func() { endBelow(y.dir) })
	y.walled = true
	y.env = append(y.env, "SWARM_SANDBOX=auto", "SWARM_BACKEND="+string(backend))
	y.must(openTo(filepath.Join(y.dir, "home"), y.path()))
}

func (y *fixture) must(err error) {
	y.t.Helper()
	if err != nil {
		y.t.Fatal(err)
	}
}

func (y *fixture) write(name, text string) {
	y.t.Helper()
	path := filepath.Join(y.dir, name)
	y.must(os.MkdirAll(filepath.Dir(path), 0o755))
	y.must(os.WriteFile(path, []byte(text), 0o644))
}

// program writes a program that a test or an agent runs later.
func (y *fixture) program(name, text string) {
	y.t.Helper()
	path := filepath.Join(y.dir, name)
	y.must(os.MkdirAll(filepath.Dir(path), 0o755))
	testprogram.Write(y.t, path, text)
}

func (y *fixture) git(args ...string) string {
	y.t.Helper()
	out, err := gitIn(y.repo, y.env, args...)
	if err != nil {
		y.t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// said is the output and the exit code of a command; a signal is 128 and more.
type said struct {
	stdout, stderr string
	code           int
}

// swarm runs a command in the repository; more is added to its environment.
func (y *fixture) swarm(more []string, args ...string) said {
	y.t.Helper()
	cmd := y.command(more, args...)
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	s := said{stdout: stdout.String(), stderr: stderr.String(), code: cmd.ProcessState.ExitCode()}
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		s.code = 128 + int(status.Signal())
	}
	if cmd.ProcessState == nil || strings.Contains(s.stderr, "goroutine ") {
		y.t.Fatalf("swarm %v: %v\n%s", args, err, s.stderr)
	}
	return s
}

func (y *fixture) command(more []string, args ...string) *exec.Cmd {
	y.t.Helper()
	path, err := exec.LookPath("swarm")
	y.must(err)
	cmd := exec.Command(path, args...)
	cmd.Dir, cmd.Env = y.repo, append(append([]string{}, y.env...), more...)
	return cmd
}

// ends runs a command that must end with a code.
func (y *fixture) ends(code int, args ...string) said {
	y.t.Helper()
	s := y.swarm(nil, args...)
	if s.code != code {
		y.t.Fatalf("swarm %v ended with %d, want %d\n%s%s", args, s.code, code, s.stdout, s.stderr)
	}
	return s
}

// theirs is all that is the user's, byte for byte: HEAD, refs, index,
// configuration, stash and working tree.
func (y *fixture) theirs() string {
	y.t.Helper()
	var all strings.Builder
	y.must(filepath.WalkDir(y.repo, func(path string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(y.repo, path)
		if err != nil {
			return err
		}
		switch {
		case e.IsDir() && (rel == ".git/objects" || rel == ".git/refs/swarm" ||
			rel == ".git/worktrees" || rel == ".git/logs/refs/swarm"):
			return filepath.SkipDir
		case e.IsDir(), rel == ".git/packed-refs", rel == ".git/refs", rel == ".git/gc.pid":
			return nil
		}
		text, err := os.ReadFile(path)
		fmt.Fprintf(&all, "%s\n%s\n", rel, text)
		return err
	}))
	fmt.Fprintln(&all, y.git("for-each-ref", "--format=%(refname) %(objectname)",
		"refs/heads", "refs/tags", "refs/stash"))
	return all.String()
}

func (y *fixture) failf(format string, args ...any) {
	y.t.Helper()
	y.t.Fatalf("%s%s", y.about, fmt.Sprintf(format, args...))
}

// runs are the runs of the fixture; read like this, nothing puts them in order.
func (y *fixture) runs() []*store.Run {
	dirs, _ := filepath.Glob(filepath.Join(y.state, "repo-*"))
	var all []*store.Run
	for _, dir := range dirs {
		entries, err := (&store.State{Dir: dir}).Runs()
		y.must(err)
		for _, e := range entries {
			all = append(all, e.Run)
		}
	}
	return all
}

// view is the state by the journal of the run; nil while there is no run.
func (y *fixture) view() *store.View {
	runs := y.runs()
	if len(runs) == 0 {
		return nil
	}
	v, err := runs[len(runs)-1].View()
	y.must(err)
	return v
}

// alive are the processes of the run: their command lines name the fixture. A
// killed process may need a moment to be gone.
func (y *fixture) alive() []string {
	for deadline := time.Now().Add(never); ; {
		alive := processesWith(y.dir)
		if len(alive) == 0 || time.Now().After(deadline) {
			return alive
		}
		time.Sleep(5 * time.Millisecond) // a poll: the kernel tells nobody
	}
}

// nothingLost finds every write of every attempt in its ref, in a workspace
// that is kept, or in the trash.
func (y *fixture) nothingLost(v *store.View) {
	y.t.Helper()
	notes, err := os.ReadDir(y.path("notes"))
	y.must(err)
	trash, err := filepath.Glob(filepath.Join(y.state, "repo-*", "trash", "*", "tree"))
	y.must(err)
	for _, note := range notes {
		id, attempt, _ := strings.Cut(note.Name(), ".")
		places := y.refs(v.Identity.Run, id, attempt)
		var dirs []string
		for _, l := range v.Agent(task.ID(id)).Leases {
			dirs = append(dirs, l.Dir, filepath.Join(l.Dir, "up"))
		}
		for _, dir := range trash {
			if strings.Contains(dir, "-"+note.Name()+"/") {
				dirs = append(dirs, dir, filepath.Join(dir, "up"))
			}
		}
		for i := range y.lines(filepath.Join("notes", note.Name())) {
			path, text := ledgerWrite(id, i+1)
			found := slices.ContainsFunc(places, func(ref string) bool {
				out, err := gitIn(y.repo, y.env, "show", ref+":"+path)
				return err == nil && strings.Contains(string(out), text)
			}) || slices.ContainsFunc(dirs, func(dir string) bool {
				out, err := os.ReadFile(filepath.Join(dir, path))
				if errors.Is(err, fs.ErrNotExist) { // of an overlay
					out, err = os.ReadFile(filepath.Join(dir, "up", path))
				}
				return err == nil && strings.Contains(string(out), text)
			})
			if !found {
				y.failf("write %d of attempt %s is lost: it is not in %q or %q", i+1, note.Name(), places, dirs)
			}
		}
	}
}

// captures runs git where the names of captures are.
func (y *fixture) captures(args ...string) string {
	y.t.Helper()
	dir, err := refsDir(y.repo, y.state, append(os.Environ(), y.env...))
	y.must(err)
	return y.git(append([]string{"--git-dir=" + dir}, args...)...)
}

// refs are the commits of all captures of an attempt.
func (y *fixture) refs(run, id, attempt string) []string {
	y.t.Helper()
	name := fmt.Sprintf("refs/swarm/%s/a/%s/%s", run, id, attempt)
	var commits []string
	for line := range strings.Lines(y.captures("for-each-ref", "--format=%(objectname) %(refname)", "refs/swarm/"+run+"/a/"+id+"/")) {
		commit, ref, _ := strings.Cut(strings.TrimSpace(line), " ")
		if ref == name || strings.HasPrefix(ref, name+".") {
			commits = append(commits, commit)
		}
	}
	return commits
}

// tidy checks that nothing is left but refs, objects, and the workspaces
// that the journal names because they could not be captured.
func (y *fixture) tidy() {
	y.t.Helper()
	kept := map[string]bool{}
	for _, a := range y.view().Agents {
		for _, l := range a.Leases {
			kept[l.Dir], kept[l.Admin] = true, true
		}
	}
	for _, pattern := range []string{
		filepath.Join(y.repo, ".git", "worktrees", "*"),
		filepath.Join(y.state, "repo-*", "trees", "*", "*"),
	} {
		left, err := filepath.Glob(pattern)
		y.must(err)
		left = slices.DeleteFunc(left, func(path string) bool { return kept[path] })
		if len(left) > 0 {
			y.failf("left: %q", left)
		}
	}
	err := filepath.WalkDir(filepath.Join(y.repo, ".git"), func(path string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".lock") {
			err = errors.New(path + " is left")
		}
		return err
	})
	if err != nil {
		y.failf("%v", err)
	}
}
