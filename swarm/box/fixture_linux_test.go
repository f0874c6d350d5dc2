package box

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// fixture is a machine in small: a HOME, a repository and a sibling of it, and
// the state folder with a workspace and what belongs to somebody else.
type fixture struct {
	Dir, Home, Repo, Sibling, State, Ctl, Docker string
	Base, Up, Work, Git, Private, Objects        string
	Env                                          map[string]string
}

// secret is what nobody may read.
const secret = "-- a secret --"

func newFixture(t *testing.T, dir string) *fixture {
	t.Helper()
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	under := func(parts ...string) string { return filepath.Join(append([]string{dir}, parts...)...) }
	g := &fixture{
		Dir: dir, Home: under("home"), Repo: under("home/src/repo"), Sibling: under("home/src/sibling"),
		State: under("home/.state/swarm"), Ctl: under("ctl"), Docker: under("docker.sock"),
	}
	own := filepath.Join(g.State, "repo-1", "trees", "a1")
	g.Base, g.Up, g.Work = filepath.Join(g.State, "repo-1", "base"), filepath.Join(own, "up"), filepath.Join(own, "wk")
	g.Git, g.Private = filepath.Join(own, "git"), filepath.Join(own, "box")
	g.Objects = filepath.Join(g.State, "repo-1", "objects")
	for _, name := range []string{g.Up, g.Work, g.Private, g.Ctl, filepath.Join(g.Home, ".cache")} {
		mkdir(t, name)
	}
	for path, text := range map[string]string{
		g.Home + "/.ssh/id": secret, g.Home + "/.aws/credentials": secret, g.Home + "/.gnupg/key": secret,
		g.Home + "/.bashrc": "theirs", g.Home + "/.netrc": secret, g.Home + "/.config/gh/hosts": secret, g.Home + "/.mine": secret,
		g.Home + "/.cache/warm": "warm", g.Repo + "/file": "checkout", g.Repo + "/.git/config": "shared",
		g.Repo + "/.git/hooks/pre-commit": "hook", g.Repo + "/.git/refs/heads/main": "ref",
		g.Repo + "/.git/objects/aa": "object", g.Sibling + "/file": "sibling",
		g.Base + "/file": "base", g.Base + "/dir/old": "old", g.Git + "/config": "private",
		g.State + "/repo-2/journal": secret, g.State + "/repo-1/trees/a2/up/file": secret,
	} {
		write(t, path, text)
	}
	mkdir(t, filepath.Join(g.Base, ".git"))
	if err := os.Symlink(filepath.Join(g.Repo, ".git", "objects"), g.Objects); err != nil {
		t.Fatal(err)
	}
	g.Env = map[string]string{"DOCKER_HOST": "unix://" + g.Docker}
	return g
}

// place is what an agent on the ground is given, on a level with overlays.
func (g *fixture) place() Place {
	return Place{
		State: g.State, Home: g.Home, Private: g.Private, Sockets: []string{g.Ctl},
		Hide: []string{"~/.mine"}, Getenv: func(name string) string { return g.Env[name] },
		Pieces: []Piece{
			{At: g.Objects, From: filepath.Join(g.Repo, ".git", "objects")},
			{At: g.Repo, Lower: []string{g.Base}, Upper: g.Up, Work: g.Work},
			{At: filepath.Join(g.Repo, ".git"), From: g.Git, Write: true},
		},
	}
}

// on is the same on any level: without overlays the workspace is a folder, and
// without mounts it is where it lies.
func (g *fixture) on(level Level) Place {
	p := g.place()
	switch {
	case level == Landlock:
		p.Pieces = []Piece{{At: g.Up, From: g.Up, Write: true}, {At: g.Git, From: g.Git, Write: true}}
	case !level.Overlay():
		p.Pieces[1] = Piece{At: g.Repo, From: g.Base, Write: true}
	}
	return p
}

// listen opens a socket that answers as long as the test takes. Where the path
// is too long for one a folder of its own leads to it.
func listen(t *testing.T, path string) {
	t.Helper()
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	l, err := net.Listen("unix", fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), filepath.Base(path)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_ = c.Close()
		}
	}()
}

func mkdir(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	mkdir(t, filepath.Dir(path))
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// outside is a folder that is not below a private /tmp.
func outside(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "swarm-box-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { discard(t, dir) })
	return dir
}

// inTmp is a folder below /tmp.
func inTmp(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "swarm-box-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { discard(t, dir) })
	return dir
}

// discard removes what a sandbox has left, as whoever made them.
func discard(t *testing.T, dir string) {
	t.Helper()
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() && err == nil {
			return os.Chmod(path, 0o700)
		}
		return nil
	})
	if err := os.RemoveAll(dir); err != nil {
		t.Errorf("what walls left cannot be removed: %v", err)
	}
}

// compose is Compose of a closed sandbox.
func compose(t *testing.T, level Level, p Place) Sandbox {
	t.Helper()
	w, err := Compose(level, false, p)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// run lets an agent do something, and fails where that is not what is wanted.
func run(t *testing.T, w Sandbox, name string, args ...string) string {
	t.Helper()
	out, err := inside(job{Walls: w, Task: task{Name: name, Args: args}})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return out
}

// sh runs a shell in a sandbox.
func sh(t *testing.T, w Sandbox, script string, args ...string) string {
	t.Helper()
	out, err := inside(job{Walls: w, Argv: append([]string{"/bin/sh", "-c", script, "sh"}, args...)})
	if err != nil {
		t.Fatalf("sh -c %q: %v\n%s", script, err, out)
	}
	return out
}

// task is what the agent that this binary plays is to do.
type task struct {
	Name   string
	Args   []string
	Nested bool   // in a user and a mount namespace of its own, with all rights
	Outer  string // the mounts of the test
}

// playAgent does a task and prints what came of it.
func playAgent(text string) int {
	var do task
	err := json.Unmarshal([]byte(text), &do)
	if err == nil && do.Nested {
		do.Nested = false
		err = nest(do)
	} else if err == nil {
		var out string
		out, err = do.run()
		fmt.Print(out)
	}
	if err != nil {
		fmt.Fprint(os.Stderr, err)
		return 1
	}
	return 0
}

// nest starts the task once more inside of namespaces of the agent's own.
func nest(do task) error {
	text, _ := json.Marshal(do)
	for _, dir := range looking() {
		_ = os.Mkdir(dir, 0o755) // Whom nobody maps can make none later.
	}
	_ = os.WriteFile("/tmp/control/file", []byte(secret), 0o644)
	attr := Attr(Full)
	attr.Cloneflags &^= unix.CLONE_NEWPID // so that 1 is the supervisor
	start := func() (*os.Process, error) {
		return os.StartProcess(self, []string{self, "agent", string(text)},
			&os.ProcAttr{Files: []*os.File{nil, os.Stdout, os.Stderr}, Sys: attr, Env: os.Environ()})
	}
	p, err := start()
	if errors.Is(err, unix.EPERM) {
		// Root cannot map itself again, and has all rights nevertheless.
		attr.UidMappings, attr.GidMappings = nil, nil
		p, err = start()
	}
	if err != nil {
		return fmt.Errorf("nest: %w", err)
	}
	state, err := p.Wait()
	if err == nil && !state.Success() {
		err = errors.New(state.String())
	}
	return err
}

// looking are the folders through which an agent looks at others.
func looking() []string { return []string{"/tmp/bind", "/tmp/layers", "/tmp/none", "/tmp/control"} }

// lines are what an agent found wanting, one each.
func lines(out string) []string {
	return strings.FieldsFunc(out, func(r rune) bool { return r == '\n' })
}
