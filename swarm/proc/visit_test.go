package proc

import (
	"bytes"
	"context"
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
)

// withDoor adds a door to a spec.
func withDoor(t *testing.T, spec Spec) Spec {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "door")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	spec.Door = filepath.Join(dir, "ctl.sock")
	return spec
}

// hosts starts an agent that has a door and ends when its stdin does.
func (m mode) hosts(t *testing.T) (*Process, Spec) {
	t.Helper()
	spec := withDoor(t, m.spec(t, "cat"))
	spec.Pipe = true
	return m.start(t, spec), spec
}

// visited runs a command at a door and returns its output.
func visited(t *testing.T, door string, argv ...string) (VisitExit, string, error) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	exit, err := Visit(t.Context(), VisitRequest{
		Door: door, Argv: argv, Dir: "/", Env: []string{"PATH=/usr/bin:/bin", "HERE=\xff"},
		Files: [3]*os.File{nil, w, w},
	})
	_ = w.Close()
	out, rerr := io.ReadAll(r)
	if rerr != nil {
		t.Fatal(rerr)
	}
	return exit, string(out), err
}

// TestVisitAdopts: a visitor gets the variables that it names as the agent has
// them, and no others of the agent's.
func TestVisitAdopts(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		spec := withDoor(t, m.spec(t, "cat"))
		spec.Pipe = true
		spec.Env = append(spec.Env, "HOME=/agent", "TOKEN=agent")
		m.start(t, spec)
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		_, err = Visit(t.Context(), VisitRequest{
			Door: spec.Door, Argv: []string{"sh", "-c", "echo $HOME $TMPDIR $TOKEN"}, Dir: "/",
			Env: []string{"PATH=/usr/bin:/bin", "HOME=/person", "TMPDIR=/person"}, Adopt: []string{"HOME", "TMPDIR"},
			Files: [3]*os.File{nil, w, w},
		})
		_ = w.Close()
		out, rerr := io.ReadAll(r)
		if want := "/agent /person\n"; err != nil || rerr != nil || string(out) != want {
			t.Errorf("%q, %v, %v, want %q", out, err, rerr, want)
		}
	})
}

func TestVisit(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		p, spec := m.hosts(t)
		tests := []struct {
			argv []string
			want VisitExit
			out  string
		}{
			{[]string{"sh", "-c", `printf %s "$HERE"; cat; pwd`}, VisitExit{Code: 0}, "\xff/\n"},
			{[]string{exe(), "agent", "exit", "77"}, VisitExit{Code: 77}, ""},
			{[]string{"sh", "-c", "echo a; echo b >&2; kill -TERM $$"}, VisitExit{143, "SIGTERM"}, "a\nb\n"},
		}
		var at sync.WaitGroup
		for _, test := range tests {
			at.Go(func() {
				exit, out, err := visited(t, spec.Door, test.argv...)
				if err != nil || exit != test.want || out != test.out {
					t.Errorf("%q: %+v, %q, %v, want %+v, %q", test.argv, exit, out, err, test.want, test.out)
				}
			})
		}
		at.Wait()
		if err := p.CloseStdin(); err != nil {
			t.Fatal(err)
		}
		if exit := p.Wait(); exit.Code != 0 || exit.Left != 0 || exit.Text != "" {
			t.Errorf("the agent ended %+v, want code 0 and none left", exit)
		}
		if _, err := os.Lstat(spec.Door); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the door is still there: %v", err)
		}
		if _, _, err := visited(t, spec.Door, "true"); !errors.Is(err, ErrGone) {
			t.Errorf("a visit after the end: %v, want %v", err, ErrGone)
		}
	})
}

func TestVisitCannotRun(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		_, spec := m.hosts(t)
		plain := filepath.Join(spec.Dir, "plain")
		if err := os.WriteFile(plain, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]int{"no-such-command": 127, "/no/such": 127, plain: 126, "/": 126} {
			_, _, err := visited(t, spec.Door, name)
			var failed *CommandError
			if !errors.As(err, &failed) || failed.Code() != want {
				t.Errorf("%s: %v, want a CommandError of code %d", name, err, want)
			}
		}
		for _, r := range []VisitRequest{
			{Door: spec.Door, Dir: "/"},
			{Door: spec.Door, Dir: "here", Argv: []string{"true"}},
			{Door: spec.Door, Dir: "/", Argv: []string{"true"}, Env: []string{strings.Repeat("x", mostAsked)}},
		} {
			if _, err := Visit(t.Context(), r); err == nil {
				t.Errorf("Visit accepts %q in %q", r.Argv, r.Dir)
			}
		}
	})
}

// TestVisitCallerKilled kills the caller: the visitor and all its family must
// go, while the agent stays.
func TestVisitCallerKilled(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		p, spec := m.hosts(t)
		w := newWitness(t)
		caller := exec.Command(exe(), "visitor", spec.Door, exe(), "agent", "family", w.path, "stays")
		if err := caller.Start(); err != nil {
			t.Fatal(err)
		}
		w.meet(t, familySize+1)
		if err := caller.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = caller.Wait()
		w.end(t)
		if err := errors.Join(p.Write([]byte("still\n")), p.CloseStdin()); err != nil {
			t.Error(err)
		}
		if exit := p.Wait(); exit.Code != 0 || exit.Left != 0 || read(t, spec.Stdout) != "still\n" {
			t.Errorf("the agent ended %+v, want code 0 and none left", exit)
		}
	})
}

func TestVisitCancelled(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		_, spec := m.hosts(t)
		w := newWitness(t)
		why := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		failed := make(chan error, 1)
		go func() {
			_, err := Visit(ctx, VisitRequest{
				Door: spec.Door, Dir: "/", Argv: []string{exe(), "agent", "family", w.path, "stays"},
			})
			failed <- err
		}()
		w.meet(t, familySize+1)
		cancel(why)
		if err := <-failed; !errors.Is(err, why) {
			t.Errorf("Visit = %v, want %v", err, why)
		}
		w.end(t)
	})
}

// TestVisitAgentEnds ends the agent in several ways: its visitors go with it
// and are not on its account.
func TestVisitAgentEnds(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		for name, end := range map[string]func(p *Process) error{
			"by itself": (*Process).CloseStdin,
			"killed":    func(p *Process) error { p.Kill(); return nil },
		} {
			p, spec := m.hosts(t)
			w := newWitness(t)
			failed := make(chan error, 1)
			go func() {
				_, err := Visit(t.Context(), VisitRequest{
					Door: spec.Door, Dir: "/", Argv: []string{exe(), "agent", "family", w.path, "stays"},
				})
				failed <- err
			}()
			w.meet(t, familySize+1)
			if err := end(p); err != nil {
				t.Fatal(err)
			}
			exit := p.Wait()
			w.gone(t)
			if err := <-failed; !errors.Is(err, ErrGone) {
				t.Errorf("%s: Visit = %v, want %v", name, err, ErrGone)
			}
			if exit.Reason != Exited || exit.Left != 0 || exit.Escaped != 0 {
				t.Errorf("%s: the agent ended %+v, want none left", name, exit)
			}
		}
	})
}

func TestVisitIsNotCounted(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		p, spec := m.hosts(t)
		if exit, out, err := visited(t, spec.Door, exe(), "agent", "burns"); err != nil || exit.Code != 0 {
			t.Fatalf("%+v, %q, %v", exit, out, err)
		}
		if err := p.CloseStdin(); err != nil {
			t.Fatal(err)
		}
		// Less than half of the visitor's usage, and more than nothing.
		if exit := p.Wait(); exit.CPU > 200*time.Millisecond || exit.CPU <= 0 || exit.MaxRSS <= 0 {
			t.Errorf("%+v: it is charged with its visitor", exit)
		}
	})
}

func TestVisitSignals(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		_, spec := m.hosts(t)
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		signals := make(chan os.Signal)
		go func() {
			buf := make([]byte, len("ready\n"))
			_, _ = io.ReadFull(r, buf)
			signals <- syscall.SIGCHLD // which is not passed on
			signals <- syscall.SIGTERM
		}()
		exit, err := Visit(t.Context(), VisitRequest{
			Door: spec.Door, Dir: "/", Argv: []string{exe(), "agent", "polite"},
			Files: [3]*os.File{nil, w, nil}, Signals: signals,
		})
		if err != nil || exit.Code != 7 {
			t.Errorf("%+v, %v, want code 7", exit, err)
		}
		_ = w.Close()
	})
}

func TestVisitOnScreen(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		_, spec := m.hosts(t)
		s := newScreenOf(t, spec.Door, exe(), "agent", "isatty")
		s.await(t, "leads true")
		s.await(t, "end")
		s.ends(t, VisitExit{Code: 0})

		s = newScreenOf(t, spec.Door, exe(), "agent", "sizes")
		s.await(t, "80×24")
		if err := s.Resize(Size{Rows: 50, Cols: 132}); err != nil {
			t.Fatal(err)
		}
		s.await(t, "132×50")
		if _, err := s.Write([]byte{3}); err != nil {
			t.Fatal(err)
		}
		s.ends(t, VisitExit{Code: 130, Signal: "SIGINT"})
	})
}

// shown is a visit on a screen of 80×24.
type shown struct {
	*Screen
	seen  bytes.Buffer
	ended chan error
	exit  VisitExit // set when ended delivers
}

func newScreenOf(t *testing.T, door string, argv ...string) *shown {
	t.Helper()
	screen, err := NewScreen(Size{Rows: 24, Cols: 80})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = screen.Close() })
	s := &shown{Screen: screen, ended: make(chan error, 1)}
	if err := screen.SetReadDeadline(time.Now().Add(patient)); err != nil {
		t.Fatal(err)
	}
	go func() {
		var err error
		s.exit, err = Visit(t.Context(), VisitRequest{
			Door: door, Argv: argv, Dir: "/", Env: []string{"TERM=dumb"}, Screen: screen,
		})
		s.ended <- err
	}()
	return s
}

func (s *shown) await(t *testing.T, text string) {
	t.Helper()
	buf := make([]byte, 4096)
	for !strings.Contains(s.seen.String(), text) {
		n, err := s.Read(buf)
		s.seen.Write(buf[:n])
		if err != nil && !strings.Contains(s.seen.String(), text) {
			t.Fatalf("no %q on the screen, but %q: %v", text, s.seen.String(), err)
		}
	}
}

// ends waits for the end of the visit, and for the end of its output.
func (s *shown) ends(t *testing.T, want VisitExit) {
	t.Helper()
	if err := <-s.ended; err != nil || s.exit != want {
		t.Errorf("the visit ended %+v, %v, want %+v", s.exit, err, want)
	}
	if _, err := io.Copy(&s.seen, s.Screen); err != nil {
		t.Errorf("what is shown ends with %v", err)
	}
}

func TestDoors(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		spec := withDoor(t, m.spec(t, "exit", "0"))
		if err := os.WriteFile(spec.Door, []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := m.launcher().Start(t.Context(), spec); err == nil || read(t, spec.Door) != "mine" {
			t.Errorf("a door where there is a file: %v", err)
		}
		spec = withDoor(t, m.spec(t, "exit", "0"))
		if err := os.Chmod(filepath.Dir(spec.Door), 0o750); err != nil {
			t.Fatal(err)
		}
		if _, err := m.launcher().Start(t.Context(), spec); err == nil || !strings.Contains(err.Error(), "could enter") {
			t.Errorf("a door where others may come: %v", err)
		}
		spec.Door = "here"
		if _, err := m.launcher().Start(t.Context(), spec); err == nil {
			t.Error("a door that is not absolute is accepted")
		}
		spec = withDoor(t, m.spec(t, "exit", "0"))
		if _, err := (&Launcher{Binary: "/no/such"}).Start(t.Context(), spec); err == nil {
			t.Error("it starts what is not there")
		}
		if _, err := os.Lstat(spec.Door); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("a door without a house: %v", err)
		}
	})
}

func TestMostVisits(t *testing.T) {
	t.Parallel()
	m := allModes()[0]
	p, spec := m.hosts(t)
	w := newWitness(t)
	var at sync.WaitGroup
	for range mostVisits {
		at.Go(func() {
			if _, err := Visit(t.Context(), VisitRequest{
				Door: spec.Door, Dir: "/", Env: []string{"PATH=/usr/bin:/bin"},
				Argv: []string{"sh", "-c", `echo here >"$0"; exec sleep 1000`, w.path},
			}); !errors.Is(err, ErrGone) {
				t.Errorf("one of many: %v", err)
			}
		})
	}
	w.meet(t, mostVisits)
	_, _, err := visited(t, spec.Door, "true")
	if refused := (*RefusedError)(nil); !errors.As(err, &refused) || !strings.Contains(refused.Reason, fmt.Sprint(mostVisits)) {
		t.Errorf("one more than all: %v, want it refused", err)
	}
	p.Kill()
	at.Wait()
}
