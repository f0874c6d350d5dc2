package git

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestNewDropsWhatWouldMoveGit(t *testing.T) {
	t.Parallel()
	g := New([]string{"GIT_DIR=/x", "GIT_INDEX_FILE=y", "LANGUAGE=de", "LC_ALL=de_DE", "HOME=/h", "GITHUB=1"})
	want := []string{"HOME=/h", "GITHUB=1", "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_EDITOR=false", "GIT_PAGER=cat"}
	if !slices.Equal(g.env, want) {
		t.Errorf("New keeps %q, want %q", g.env, want)
	}
}

func TestRun(t *testing.T) {
	t.Parallel()
	g := newGround(t)
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

// TestCancelEndsGit ends a git that waits for input nobody sends.
func TestCancelEndsGit(t *testing.T) {
	t.Parallel()
	g := newGround(t)
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
	g := newGround(t)
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
