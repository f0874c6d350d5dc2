package governor

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"agentswarm/swarm/limit"
)

// The test binary plays another process that holds slots: with GOVERNOR_CHILD
// set to a folder it enters the lane once for each line it reads, says so, and
// ends with its stdin.
func TestMain(m *testing.M) {
	dir := os.Getenv("GOVERNOR_CHILD")
	if dir == "" {
		os.Exit(m.Run())
	}
	g, err := Open(dir, real(nil))
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		if _, err := g.Enter(context.Background(), Request{Lane: "p/m"}); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("in")
	}
	os.Exit(0)
}

func real(warn func(string)) Options {
	return Options{Now: time.Now, Chance: limit.Random, Warn: warn}
}

// child is another process at the same governor.
type child struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func play(t *testing.T, dir string) *child {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := &child{cmd: exec.CommandContext(t.Context(), exe)}
	c.cmd.Env = append(os.Environ(), "GOVERNOR_CHILD="+dir)
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	c.out = bufio.NewReader(out)
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.cmd.Process.Kill()
		_ = c.cmd.Wait()
	})
	return c
}

// enter has the other process enter once more.
func (c *child) enter(t *testing.T) {
	t.Helper()
	if _, err := io.WriteString(c.in, "\n"); err != nil {
		t.Fatal(err)
	}
	if line, err := c.out.ReadString('\n'); err != nil || line != "in\n" {
		t.Fatalf("the other process said %q, %v", line, err)
	}
}

func open(t *testing.T, dir string, o Options) *Governor {
	t.Helper()
	g, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Close() })
	return g
}

func enter(t *testing.T, g *Governor) *Pass {
	t.Helper()
	p, err := g.Enter(t.Context(), Request{Lane: "p/m"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// inLine counts those who wait for the lane.
func inLine(g *Governor) int {
	l := g.lane("p/m")
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.queue)
}

// queue enters from a goroutine; it delivers the reasons of the wait first.
func queue(ctx context.Context, g *Governor) (why chan string, in chan *Pass) {
	why, in = make(chan string, 10), make(chan *Pass, 1)
	go func() {
		p, _ := g.Enter(ctx, Request{Lane: "p/m", Waits: func(text string) { why <- text }})
		in <- p
	}()
	return why, in
}

// TestTwoProcesses share a lane: a process waits for the places of the other,
// and gets them at once when the other is killed.
func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "governor")
	other := play(t, dir)
	for range 7 {
		other.enter(t)
	}
	g := open(t, dir, real(nil))
	mine := enter(t, g)
	why, in := queue(t.Context(), g)
	if got, want := <-why, "waiting for a slot (p/m: 8 of 8)"; got != want {
		t.Errorf("it waits with %q, want %q", got, want)
	}
	if err := other.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	p := <-in
	if p == nil {
		t.Fatal("it was not let in")
	}
	p.Done()
	mine.Done()
	if n := inLine(g); n != 0 {
		t.Errorf("%d are in line", n)
	}
	if held := readLane(t, dir).Holders; len(held) != 0 {
		t.Errorf("%v is held after all have left", held)
	}
}

// TestDoneLetsTheNextIn passes a slot on within a process and to another.
func TestDoneLetsTheNextIn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, b := open(t, dir, real(nil)), open(t, dir, real(nil))
	var passes []*Pass
	for range 8 {
		passes = append(passes, enter(t, a))
	}
	whyA, inA := queue(t.Context(), a)
	<-whyA
	passes[0].Done()
	passes[0].Done() // twice is harmless
	p := <-inA
	whyB, inB := queue(t.Context(), b)
	<-whyB
	p.Done()
	(<-inB).Done()
}

// TestClosed leaves nothing behind that another process would count.
func TestClosed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, err := Open(dir, real(nil))
	if err != nil {
		t.Fatal(err)
	}
	for range 8 {
		enter(t, a)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	enter(t, open(t, dir, real(nil)))
	// A file that a killed process left goes with the next that comes.
	left := filepath.Join(dir, "alive", "gone")
	if err := os.WriteFile(left, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	open(t, dir, real(nil))
	if _, err := os.Stat(left); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file of a process that is gone: %v", err)
	}
}

// TestNoFile does not wait at an entry that is no file of a process.
func TestNoFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	open(t, dir, real(nil))
	pipe := filepath.Join(dir, "alive", "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	enter(t, open(t, dir, real(nil)))
	if _, err := os.Lstat(pipe); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the pipe: %v", err)
	}
}

func readLane(t *testing.T, dir string) (r record) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("the lanes are %v, %v", files, err)
	}
	text, err := os.ReadFile(files[0])
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestPrivate checks that other users cannot read the files.
func TestPrivate(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "governor")
	enter(t, open(t, dir, real(nil)))
	err := filepath.WalkDir(dir, func(file string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", file, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestDamaged makes a file anew that is none, and says so once.
func TestDamaged(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "{", "[]", `{"holders":{"x":{"n":-1}}}`, `{"holders":{"x":{"n":1000000}}}`, `{"window":{"size":-4}}`,
		`{"window":{"size":4000000,"patience":8}}`, `{"window":{"until":"soon"}}`,
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			enter(t, open(t, dir, real(nil))).Done()
			files, _ := filepath.Glob(filepath.Join(dir, "*.json"))
			if err := os.WriteFile(files[0], []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			var told []string
			g := open(t, dir, real(func(text string) { told = append(told, text) }))
			enter(t, g)
			enter(t, g)
			if len(told) != 1 || !strings.Contains(told[0], "was damaged and is made anew") {
				t.Errorf("told %q", told)
			}
			if r := readLane(t, dir); r.Window.Size != 8 || len(r.Holders) != 1 {
				t.Errorf("the lane is %+v", r)
			}
		})
	}
}

// TestHalfWritten: the half-written file of a killed process is not read, and
// does not stay.
func TestHalfWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	enter(t, open(t, dir, real(nil))).Done()
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	for range 2 {
		if err := os.WriteFile(files[0]+".new", []byte(`{"window":{"si`), 0o600); err != nil {
			t.Fatal(err)
		}
		enter(t, open(t, dir, real(nil)))
		if left, _ := filepath.Glob(filepath.Join(dir, "*.new*")); len(left) > 0 {
			t.Errorf("left is %q", left)
		}
	}
	if r := readLane(t, dir); len(r.Holders) != 2 {
		t.Errorf("the lane is %+v", r)
	}
}

// TestHeldBackByNobody continues alone if the files cannot be used, and reports
// that once.
func TestHeldBackByNobody(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var told []string
	g := open(t, dir, real(func(text string) { told = append(told, text) }))
	p := enter(t, g)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	for range 7 {
		enter(t, g)
	}
	if len(told) != 1 || !strings.Contains(told[0], "not shared") {
		t.Errorf("told %q", told)
	}
	why, in := queue(t.Context(), g)
	<-why // it counts its own
	p.Done()
	if <-in == nil {
		t.Error("it was not let in")
	}
}

// TestEnterEnds with the context, in line and at its head.
func TestEnterEnds(t *testing.T) {
	t.Parallel()
	g := Alone(real(nil))
	for range 8 {
		enter(t, g)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	var all sync.WaitGroup
	errs := make([]error, 3)
	for i := range errs {
		waits := make(chan string, 10)
		all.Go(func() {
			_, errs[i] = g.Enter(ctx, Request{Lane: "p/m", Waits: func(text string) { waits <- text }})
		})
		<-waits // those in line are told, too
	}
	cancel(why)
	all.Wait()
	for i, err := range errs {
		if !errors.Is(err, why) {
			t.Errorf("%d: %v", i, err)
		}
	}
	if n := inLine(g); n != 0 {
		t.Errorf("%d are in line", n)
	}
	if _, err := g.Enter(t.Context(), Request{Lane: "other"}); err != nil {
		t.Error("another lane has nothing to do with it:", err)
	}
}

// TestNobodyEntersAfterTheEnd of their context, though there is room.
func TestNobodyEntersAfterTheEnd(t *testing.T) {
	t.Parallel()
	g := Alone(real(nil))
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	cancel(why)
	for range 20 {
		if p, err := g.Enter(ctx, Request{Lane: "p/m"}); !errors.Is(err, why) {
			t.Fatalf("Enter = %v, %v, want the cause", p, err)
		}
	}
}
