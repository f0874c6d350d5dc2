package guard

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"agentswarm/internal/testprogram"
	"agentswarm/swarm/ask"
	"agentswarm/swarm/asksocket"
)

// TestMain makes copies of the test binary be guards. With os.Exit they would
// sleep for a second under the race detector.
func TestMain(m *testing.M) {
	if name, ok := Called(os.Args[0]); ok {
		syscall.Exit(Run(Request{Name: name, Argv: os.Args, Environ: os.Environ(), Stderr: os.Stderr}))
	}
	os.Exit(m.Run())
}

// fixture is a program with guards before it, and somebody who is asked.
type fixture struct {
	t      testing.TB
	dir    string
	socket string

	mu    sync.Mutex // guards asked
	asked []ask.Action
}

func newFixture(t testing.TB, decide func(context.Context, ask.Action) ask.Answer) *fixture {
	t.Helper()
	dir, err := os.MkdirTemp("", "guard") // short: a socket's path is bounded
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	g := &fixture{t: t, dir: dir, socket: filepath.Join(dir, "s")}
	s, err := asksocket.Listen(t.Context(), g.socket, func(ctx context.Context, r ask.Request) ask.Answer {
		g.mu.Lock()
		g.asked = append(g.asked, r.Actions...)
		g.mu.Unlock()
		return decide(ctx, r.Actions[0])
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	g.socket = s.Address()
	g.write("real/frob", "#!/bin/sh\necho \"$0|$*|$MORE\"\ncat\nexit 7\n")
	return g
}

// write writes a program.
func (g *fixture) write(name, text string) {
	g.t.Helper()
	file := filepath.Join(g.dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		g.t.Fatal(err)
	}
	testprogram.Write(g.t, file, text)
}

// guards makes guards of a build of their own, and returns their folder.
func (g *fixture) guards(build string, names ...string) string {
	g.t.Helper()
	self, err := os.Executable()
	if err != nil {
		g.t.Fatal(err)
	}
	text, err := os.ReadFile(self)
	if err != nil {
		g.t.Fatal(err)
	}
	g.write(build+"/swarm", string(text))
	dir := filepath.Join(g.dir, build, Folder, "set")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		g.t.Fatal(err)
	}
	for _, name := range names {
		if err := os.Symlink("../../swarm", filepath.Join(dir, name)); err != nil {
			g.t.Fatal(err)
		}
	}
	return dir
}

// said is the output of a command and its exit code; a signal is 128 and more.
type said struct {
	code        int
	out, errors string
}

// shell runs a text with some folders in PATH, and the programs that a shell
// needs.
func (g *fixture) shell(text string, path []string, more ...string) said {
	g.t.Helper()
	cmd := g.command(text, path, more...)
	var out, errs strings.Builder
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader("in\n"), &out, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		g.t.Fatal(err)
	}
	return said{code(cmd), out.String(), errs.String()}
}

func (g *fixture) command(text string, path []string, more ...string) *exec.Cmd {
	cmd := exec.Command("/bin/sh", "-c", text)
	cmd.Dir = g.dir
	cmd.Env = append([]string{"PATH=" + strings.Join(append(path, "/usr/bin:/bin"), ":"), ask.Variable + "=" + g.socket}, more...)
	return cmd
}

func code(cmd *exec.Cmd) int {
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return cmd.ProcessState.ExitCode()
}

func (g *fixture) lines() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	var all []string
	for _, a := range g.asked {
		all = append(all, a.Command)
	}
	return all
}

// byWord allows all commands but those with "no" in them.
func byWord(_ context.Context, a ask.Action) ask.Answer {
	if strings.Contains(a.Command, "no") {
		return ask.Answer{Reason: "it\nis bad", Instead: "yes"}
	}
	return ask.Answer{Allow: true}
}

func TestRun(t *testing.T) {
	t.Parallel()
	g := newFixture(t, byWord)
	first, second := g.guards("one", "frob", "gone", "plain", "ends"), g.guards("two", "frob")
	real := filepath.Join(g.dir, "real")
	g.write("real/plain", "echo \"plain $*\"\n")
	g.write("real/ends", "#!/bin/sh\nkill -TERM $$\n")
	g.write("early/frob", "#!/bin/sh\necho early\n")
	none := "no person can be asked whether it may run: "
	for _, tt := range []struct {
		name, give string
		path       []string
		more       []string
		want       said
		asked      []string
	}{
		{"may", "frob a 'b  c' ''", []string{first, real}, []string{"MORE=x"}, said{7, real + "/frob|a b  c |x\nin\n", ""}, []string{"frob a 'b  c' ''"}},
		{"may not", "frob no", []string{first, real}, nil, said{Denied, "", "swarm: frob: it is bad. Instead: yes\n"}, []string{"frob no"}},
		{"nobody to ask", "frob", []string{first, real}, []string{ask.Variable + "="}, said{Denied, "", "swarm: frob: " + none + "SWARM_ASK names no socket\n"}, nil},
		{"the socket is gone", "frob", []string{first, real}, []string{ask.Variable + "=/nowhere/s:x"}, said{Denied, "", "swarm: frob: " + none + "connect /nowhere/s: no such file or directory\n"}, nil},
		{"no such program", "gone", []string{first, real}, nil, said{Missing, "", "swarm: gone: there is no such program in PATH\n"}, []string{"gone"}},
		{"one before the guard", "frob", []string{filepath.Join(g.dir, "early"), first, real}, nil, said{0, "early\n", ""}, nil},
		{"by its path", first + "/frob x", []string{filepath.Join(g.dir, "early"), first, real}, nil, said{7, real + "/frob|x|\nin\n", ""}, []string{"frob x"}},
		{"by its path, not in PATH", first + "/frob x", []string{real}, nil, said{7, real + "/frob|x|\nin\n", ""}, []string{"frob x"}},
		{"two guards", "frob x", []string{first, second, real}, nil, said{7, real + "/frob|x|\nin\n", ""}, []string{"frob x", "frob x"}},
		{"two guards, one twice", "frob x", []string{first, second, first, real}, nil, said{7, real + "/frob|x|\nin\n", ""}, []string{"frob x"}},
		{"a script without a first line", "plain 1 2", []string{first, real}, nil, said{0, "plain 1 2\n", ""}, []string{"plain 1 2"}},
		{"its signal", "exec ends", []string{first, real}, nil, said{128 + int(syscall.SIGTERM), "", ""}, []string{"ends"}},
		{"within others", "sh -c 'env frob x | cat'", []string{first, real}, nil, said{0, real + "/frob|x|\nin\n", ""}, []string{"frob x"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g.t, g.asked = t, nil
			if got := g.shell(tt.give, tt.path, tt.more...); got != tt.want {
				t.Errorf("%s = %+v, want %+v", tt.give, got, tt.want)
			}
			if got := g.lines(); !slices.Equal(got, tt.asked) {
				t.Errorf("%s asks about %q, want %q", tt.give, got, tt.asked)
			}
		})
	}
}

// TestWhere: the question names the folder.
func TestWhere(t *testing.T) {
	t.Parallel()
	g := newFixture(t, byWord)
	path := []string{g.guards("one", "frob"), filepath.Join(g.dir, "real")}
	g.shell("cd real && frob", path)
	g.mu.Lock()
	defer g.mu.Unlock()
	if want := (ask.Action{Command: "frob", Cwd: filepath.Join(g.dir, "real")}); len(g.asked) != 1 || !same(g.asked[0], want) {
		t.Errorf("asked about %+v, want %+v", g.asked, want)
	}
}

func same(a, b ask.Action) bool { return a.Command == b.Command && a.Cwd == b.Cwd }

// TestEndsWhileAsked: a guard that waits for an answer can be ended, and its
// command is not run.
func TestEndsWhileAsked(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{})
	g := newFixture(t, func(ctx context.Context, _ ask.Action) ask.Answer {
		close(asked)
		<-ctx.Done()
		return ask.Answer{Allow: true}
	})
	cmd := g.command("exec frob x", []string{g.guards("one", "frob"), filepath.Join(g.dir, "real")})
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	<-asked
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(out)
	if werr := cmd.Wait(); err != nil || werr == nil || code(cmd) != 128+int(syscall.SIGTERM) || len(text) > 0 {
		t.Errorf("it ends with %d, %v and %q", code(cmd), errors.Join(err, werr), text)
	}
}

// TestCalled: only a binary with another name than its own, beside a folder of
// guards, is a guard.
func TestCalled(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "swarm", "/x/swarm", "git", "./git"} {
		if got, ok := Called(name); ok { // this is no kept binary
			t.Errorf("Called(%q) = %q", name, got)
		}
	}
}

// BenchmarkGuard runs a program that may, in turn with itself without a guard,
// and reports how much longer it takes.
func BenchmarkGuard(b *testing.B) {
	g := newFixture(b, func(context.Context, ask.Action) ask.Answer { return ask.Answer{Allow: true} })
	guards := g.guards("one", "true")
	env := []string{"PATH=" + guards + ":/usr/bin:/bin", ask.Variable + "=" + g.socket}
	run := func(path string) {
		if err := (&exec.Cmd{Path: path, Args: []string{"true"}, Env: env}).Run(); err != nil {
			b.Fatal(err)
		}
	}
	real, err := exec.LookPath("true")
	if err != nil {
		b.Fatal(err)
	}
	b.Run("bare", func(b *testing.B) {
		for b.Loop() {
			run(real)
		}
	})
	b.Run("guarded", func(b *testing.B) {
		for b.Loop() {
			run(filepath.Join(guards, "true"))
		}
	})
}
