package proc

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// patient bounds the wait of a test for an event that must happen.
const patient = time.Minute

// mode is a way to start supervisors.
type mode struct {
	name  string
	attr  func() *syscall.SysProcAttr
	walls testSandbox
}

func (m mode) launcher() *Launcher {
	return &Launcher{Binary: exe(), Args: []string{"__supervise"}, Attr: m.attr}
}

// inModes runs a test once in every mode that works here.
func inModes(t *testing.T, test func(t *testing.T, m mode)) {
	t.Helper()
	t.Parallel()
	for _, m := range allModes() {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			p, err := m.launcher().Start(t.Context(), m.spec(t, "exit", "0"))
			if err != nil && m.attr != nil {
				t.Skipf("this system has no such namespaces: %v", err)
			} else if err != nil {
				t.Fatal(err)
			}
			exit := p.Wait()
			if exit.Reason == StartFailed && m.attr != nil {
				t.Skipf("this system has no such walls: %s", exit.Text)
			}
			test(t, m)
		})
	}
}

// runName is a test's own, also when another user runs the same test.
func runName(t *testing.T) string { return fmt.Sprint(t.Name(), os.Getppid()) }

// spec describes a role of the test binary.
func (m mode) spec(t *testing.T, role string, args ...string) Spec {
	t.Helper()
	sandbox, err := json.Marshal(m.walls)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	return Spec{
		Run: runName(t), Argv: append([]string{exe(), "agent", role}, args...),
		Env: []string{}, Dir: dir, Sandbox: sandbox,
		Stdout: filepath.Join(dir, "stdout"), Stderr: filepath.Join(dir, "stderr"),
	}
}

// start starts a spec whose process is gone at the end of the test.
func (m mode) start(t *testing.T, spec Spec) *Process {
	t.Helper()
	p, err := m.launcher().Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Kill(); p.Wait() })
	return p
}

// run runs a spec to its end and returns its output.
func (m mode) run(t *testing.T, spec Spec) (Exit, string) {
	t.Helper()
	exit := m.start(t, spec).Wait()
	stderr := read(t, spec.Stderr)
	if exit.Code >= 98 && exit.Code <= 99 {
		t.Fatalf("the test's own agent is broken: %s", stderr)
	}
	return exit, read(t, spec.Stdout)
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return string(b)
}

// printed waits until a process has printed this much.
func printed(t *testing.T, p *Process, bytes int64) {
	t.Helper()
	limit := time.After(patient)
	for {
		select {
		case g, open := <-p.Output():
			if g.Stdout >= bytes {
				return
			}
			if !open {
				t.Fatalf("it ended too early: %+v", p.Wait())
			}
		case <-limit:
			t.Fatal("it prints nothing")
		}
	}
}

// witness is a named pipe that processes hold open as long as they live.
type witness struct {
	path string
	r    *os.File
}

func newWitness(t *testing.T) *witness {
	t.Helper()
	w := &witness{path: filepath.Join(t.TempDir(), "fifo")}
	if err := syscall.Mkfifo(w.path, 0o600); err != nil {
		t.Fatal(err)
	}
	var err error
	w.r, err = os.OpenFile(w.path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.r.Close() })
	if err := w.r.SetReadDeadline(time.Now().Add(patient)); err != nil {
		t.Fatal(err)
	}
	return w
}

// meet waits until so many processes have announced themselves. It must not
// hold the pipe open for writing meanwhile: a child that another test forks
// just then would hold it too, and look like somebody who lives.
func (w *witness) meet(t *testing.T, processes int) {
	t.Helper()
	b := make([]byte, processes*len("here\n"))
	limit := time.Now().Add(patient)
	for got := 0; got < len(b); {
		n, err := w.r.Read(b[got:])
		got += n
		if err != nil && !errors.Is(err, io.EOF) || time.Now().After(limit) {
			t.Fatalf("only these came up: %q: %v", b[:got], err)
		}
		if err != nil {
			time.Sleep(time.Millisecond) // It has not been opened yet.
		}
	}
}

// gone fails unless all are dead at this moment.
func (w *witness) gone(t *testing.T) {
	t.Helper()
	if n, err := w.now(t); n != 0 || err != nil {
		t.Errorf("somebody lives: read = %d, %v, want 0, nil", n, err)
	}
}

// alive fails unless somebody lives.
func (w *witness) alive(t *testing.T) {
	t.Helper()
	if n, err := w.now(t); !errors.Is(err, syscall.EAGAIN) {
		t.Fatalf("all are dead: read = %d, %v, want EAGAIN", n, err)
	}
}

func (w *witness) now(t *testing.T) (n int, err error) {
	t.Helper()
	raw, rawErr := w.r.SyscallConn()
	if rawErr != nil {
		t.Fatal(rawErr)
	}
	if rawErr := raw.Control(func(fd uintptr) {
		n, err = syscall.Read(int(fd), make([]byte, 1))
	}); rawErr != nil {
		t.Fatal(rawErr)
	}
	return n, err
}

// end waits until all are dead.
func (w *witness) end(t *testing.T) {
	t.Helper()
	if err := w.r.SetReadDeadline(time.Now().Add(patient)); err != nil {
		t.Fatal(err)
	}
	if _, err := w.r.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("somebody lives: %v, want %v", err, io.EOF)
	}
}

// dead waits until a process is gone, or at least a zombie.
func dead(t *testing.T, pid int, start uint64) {
	t.Helper()
	limit := time.Now().Add(patient)
	for Alive(pid, start) {
		if time.Now().After(limit) {
			t.Fatalf("process %d lives", pid)
		}
		time.Sleep(time.Millisecond) // There is nothing to wait on.
	}
}

// halt stops a process, and returns once all its threads stand still. The
// signal is taken by a single thread, and until that thread runs the others go
// on.
func halt(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for limit := time.Now().Add(patient); !halted(pid); {
		if time.Now().After(limit) {
			t.Fatalf("process %d does not stop", pid)
		}
		time.Sleep(time.Millisecond) // There is nothing to wait on.
	}
}
