package git

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestNewDropsWhatWouldMoveGit(t *testing.T) {
	t.Parallel()
	g := New([]string{"GIT_DIR=/x", "GIT_INDEX_FILE=y", "LANGUAGE=de", "LC_ALL=de_DE", "HOME=/h", "GITHUB=1", "GIT_LFS_SKIP_SMUDGE=1", "GIT_LFS_SKIP_SMUDGE_X=1"})
	want := []string{"HOME=/h", "GITHUB=1", "GIT_LFS_SKIP_SMUDGE=1", "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_EDITOR=false", "GIT_PAGER=cat", "SWARM_OFF=false"}
	if !slices.Equal(g.env, want) {
		t.Errorf("New keeps %q, want %q", g.env, want)
	}
}

func TestRun(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	g.commit("a", "a\n")
	r := g.repo()
	out, err := r.Run(t.Context(), Cmd{Args: []string{"cat-file", "blob", "HEAD:a"}})
	if err != nil || string(out) != "a\n" {
		t.Errorf("Run = %q, %v", out, err)
	}
	var into bytes.Buffer
	out, err = r.Run(t.Context(), Cmd{Args: []string{"cat-file", "--batch-check"}, Stdin: strings.NewReader("HEAD:a\n"), Stdout: &into})
	if err != nil || len(out) > 0 || !strings.HasSuffix(into.String(), " blob 2\n") {
		t.Errorf("Run into a writer = %q, %q, %v", out, into.String(), err)
	}
	_, err = r.Run(t.Context(), Cmd{Args: []string{"cat-file", "blob", "HEAD:none"}})
	var bad *Error
	if !errors.As(err, &bad) || bad.Code != 128 || !strings.Contains(bad.Error(), "git cat-file: fatal: path 'none'") {
		t.Errorf("Run = %v, want an Error with code 128", err)
	}
	out, err = r.Run(t.Context(), Cmd{Args: []string{"config", "x.y"}, Config: []string{"x.y=z", "core.hooksPath=/own"}})
	if err != nil || string(out) != "z\n" {
		t.Errorf("Run with configuration = %q, %v", out, err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	cancel(cause)
	if _, err := r.Run(ctx, Cmd{Args: []string{"version"}}); !errors.Is(err, cause) {
		t.Errorf("Run of an ended context = %v, want its cause", err)
	}
}

// TestCancelEndsGit ends a git that waits for input that never comes.
func TestCancelEndsGit(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	r := g.repo()
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	in, out, err := os.Pipe()
	g.ok(err)
	defer in.Close()
	defer out.Close()
	said, says, err := os.Pipe()
	g.ok(err)
	defer said.Close()
	ended := make(chan error, 1)
	go func() {
		_, err := r.Run(ctx, Cmd{Args: []string{"cat-file", "--batch-check"}, Stdin: in, Stdout: says})
		ended <- errors.Join(err, says.Close())
	}()
	// An answer proves that it runs.
	_, err = out.WriteString("nothing\n")
	g.ok(err)
	_, err = said.Read(make([]byte, 64))
	g.ok(err)
	cancel(cause)
	if err := <-ended; !errors.Is(err, cause) {
		t.Errorf("Run = %v, want the cause", err)
	}
}

// TestProbeLeavesTheIndex looks at a checkout whose index is out of date.
func TestProbeLeavesTheIndex(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	g.commit("a", "a\n")
	r := g.repo()
	index := filepath.Join(g.root, ".git", "index")
	before, err := os.ReadFile(index)
	g.ok(err)
	g.write("a", "a\n")
	long := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	g.ok(os.Chtimes(filepath.Join(g.root, "a"), long, long))
	dirt, err := r.Dirt(t.Context())
	if err != nil || dirt.Any() {
		t.Errorf("Dirt = %+v, %v, want none", dirt, err)
	}
	if after, err := os.ReadFile(index); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the probe wrote the index, %v", err)
	}
}

func TestEnds(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		give []string
		want string
	}{
		{name: "nothing"},
		{name: "short", give: []string{" fatal: x\n"}, want: "fatal: x"},
		{
			name: "long", give: []string{"first\n", strings.Repeat("x", 3*endSize), "\nlast\n"},
			want: "first\n" + strings.Repeat("x", endSize-6) + "\n…\n" + strings.Repeat("x", endSize-6) + "\nlast",
		},
	}
	for _, tt := range tests {
		var e ends
		for _, s := range tt.give {
			if n, err := e.Write([]byte(s)); n != len(s) || err != nil {
				t.Errorf("%s: Write = %d, %v", tt.name, n, err)
			}
		}
		if got := e.String(); got != tt.want {
			t.Errorf("%s: String = %.80q (%d bytes), want %.80q (%d)", tt.name, got, len(got), tt.want, len(tt.want))
		}
	}
}

func TestTransient(t *testing.T) {
	t.Parallel()
	tests := []struct {
		give error
		want bool
	}{
		{give: nil},
		{give: errors.New("Unable to create 'x/config.lock': File exists")},
		{give: &Error{Stderr: "fatal: Unable to create '/r/.git/config.lock': File exists."}, want: true},
		{give: &Error{Stderr: "error: could not lock config file .git/config: File exists"}, want: true},
		{give: &Error{Stderr: "fatal: failed to read .git/worktrees/a1.1/commondir: Success"}, want: true},
		{give: &Error{Stderr: "fatal: Unable to create '/r/index.lock': Permission denied"}},
		{give: &Error{Stderr: "fatal: '/x' already exists"}},
		{give: &Error{Stderr: "fatal: invalid reference: x.lock"}},
	}
	for _, tt := range tests {
		if got := Transient(tt.give); got != tt.want {
			t.Errorf("Transient(%v) = %v, want %v", tt.give, got, tt.want)
		}
	}
}

// sleeper is a Keeper whose group is led by a child that sleeps.
type sleeper struct {
	cmd     *exec.Cmd
	stopped chan int
	err     error
}

func (s *sleeper) Group() (int, error) { return s.cmd.Process.Pid, s.err }

func (s *sleeper) Stop(pid int) error {
	s.stopped <- pid
	return syscall.Kill(pid, syscall.SIGKILL)
}

func newSleeper(t *testing.T) *sleeper {
	t.Helper()
	s := &sleeper{cmd: exec.Command("sleep", "1000"), stopped: make(chan int, 1)}
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
	})
	return s
}

// TestKeeper: git and its child processes are in the keeper's group, and swarm
// asks the keeper to stop them.
func TestKeeper(t *testing.T) {
	t.Parallel()
	r, s := newFixture(t).repo(), newSleeper(t)
	r.Keep(s)
	// The alias waits for a line, so that it is there to be looked at.
	alias := Cmd{Args: []string{"pid"}, Config: []string{"alias.pid=!echo $$; read line"}}
	answer, lines, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Close()
	defer lines.Close()
	group := 0
	alias.Stdin, alias.Stdout = answer, writerFunc(func(p []byte) (int, error) {
		pid, err := strconv.Atoi(strings.TrimSpace(string(p)))
		if err == nil {
			group, err = syscall.Getpgid(pid)
		}
		_, werr := lines.WriteString("\n")
		return len(p), errors.Join(err, werr)
	})
	if _, err := r.Run(t.Context(), alias); err != nil || group != s.cmd.Process.Pid {
		t.Errorf("a child of git is in group %d, %v, want %d", group, err, s.cmd.Process.Pid)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	in, out2, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer out2.Close()
	cause := errors.New("enough")
	watch := writerFunc(func(p []byte) (int, error) { cancel(cause); return len(p), nil })
	if _, err := out2.WriteString("nothing\n"); err != nil {
		t.Fatal(err)
	}
	_, err = r.Run(ctx, Cmd{Args: []string{"cat-file", "--batch-check"}, Stdin: in, Stdout: watch})
	if !errors.Is(err, cause) || len(s.stopped) != 1 {
		t.Errorf("Run = %v, and the keeper was asked %d times to stop it", err, len(s.stopped))
	}
	s.err = errors.New("no keeper")
	if _, err := r.Run(t.Context(), alias); !errors.Is(err, s.err) {
		t.Errorf("Run = %v without a keeper, want %v", err, s.err)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestErrorIsOneLine(t *testing.T) {
	t.Parallel()
	for stderr, want := range map[string]string{
		"":                                "git x: exit status 1",
		"fatal: no":                       "git x: fatal: no",
		"error: a\n\n\t\nfatal: b\n":      "git x: error: a; fatal: b",
		"\n \nwarning: a\r\n\r\nfatal: b": "git x: warning: a; fatal: b",
	} {
		if got := (&Error{Args: []string{"x"}, Code: 1, Stderr: stderr}).Error(); got != want {
			t.Errorf("Error of %q = %q, want %q", stderr, got, want)
		}
	}
	for _, tt := range []struct {
		err  error
		want string
	}{
		{&CrashError{Reason: "warning: a\n\nmerge-ort.c:1: b\n"}, "git crashed: warning: a; merge-ort.c:1: b"},
		{&RefMovedError{Refs: []string{"refs/a", "refs/b"}, Reason: "prepare: c\n\td\n"}, "refs/a, refs/b moved underneath: prepare: c; d"},
		{
			&RefMovedError{Refs: []string{"refs/a"}, Reason: "prepare: cannot lock ref 'refs/a': Unable to create '/r/.git/refs/a.lock': File exists.\n\nAnother git process seems to be running\n"},
			"refs/a cannot move: another git command holds /r/.git/refs/a.lock: wait for its end, or remove that file if none runs here",
		},
	} {
		if got := tt.err.Error(); got != tt.want {
			t.Errorf("%T = %q, want %q", tt.err, got, tt.want)
		}
	}
}
