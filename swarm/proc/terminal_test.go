package proc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// onTerminal is a spec for a role on a terminal of 80×24.
func (m mode) onTerminal(t *testing.T, role string, args ...string) Spec {
	t.Helper()
	spec := m.spec(t, role, args...)
	spec.Terminal = &Size{Rows: 24, Cols: 80}
	return spec
}

// shell is a spec for a program of the system on a terminal.
func (m mode) shell(t *testing.T, argv ...string) Spec {
	t.Helper()
	spec := m.onTerminal(t, "")
	spec.Argv = argv
	spec.Env = []string{"PATH=/usr/bin:/bin", "TERM=dumb", "PS1=$ ", "HOME=" + spec.Dir}
	return spec
}

// screen is a test's view of a terminal.
type screen struct {
	terminal *Terminal
	watcher  *Watcher
	seen     []byte
	past     int // as far as await has looked
}

// look starts a process on a terminal and watches it from the beginning.
func (m mode) look(t *testing.T, spec Spec) (*Process, *screen) {
	t.Helper()
	p := m.start(t, spec)
	s := &screen{terminal: p.Terminal(), watcher: p.Terminal().Watch()}
	s.terminal.unread = patient // on a busy machine no process may read for long
	t.Cleanup(s.watcher.Close)
	before := read(t, spec.Stdout)
	s.seen = []byte(before[:min(int64(len(before)), s.watcher.From)])
	return p, s
}

// await waits until a text is shown after the text awaited before.
func (s *screen) await(t *testing.T, text string) {
	t.Helper()
	limit := time.After(patient)
	for {
		if i := bytes.Index(s.seen[s.past:], []byte(text)); i >= 0 {
			s.past += i + len(text)
			return
		}
		select {
		case b, open := <-s.watcher.Output():
			if !open {
				t.Fatalf("it ended without %q: %q", text, s.seen)
			}
			s.seen = append(s.seen, b...)
		case <-limit:
			t.Fatalf("it does not show %q: %q", text, s.seen)
		}
	}
}

func (s *screen) enter(t *testing.T, text string) {
	t.Helper()
	if n, err := s.terminal.Write([]byte(text)); n != len(text) || err != nil {
		t.Fatalf("Write(%q) = %d, %v", text, n, err)
	}
}

func TestTerminalIsOne(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		spec := m.onTerminal(t, "isatty")
		exit, got := m.run(t, spec)
		want := "0 true\r\n1 true\r\n2 true\r\nleads true\r\nend\r\n"
		if exit.Reason != Exited || exit.Code != 0 || exit.Left != 0 || got != want ||
			exit.StdoutBytes != int64(len(want)) || exit.StderrBytes != 0 {
			t.Errorf("%+v, %q, want %q", exit, got, want)
		}
		for path, size := range map[string]int{spec.Stdout: len(want), spec.Stderr: 0} {
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if info.Mode().Perm() != 0o600 || info.Size() != int64(size) {
				t.Errorf("%s: %v, %d bytes, want 0600, %d",
					path, info.Mode(), info.Size(), size)
			}
		}
		if p := m.start(t, m.spec(t, "exit", "0")); p.Terminal() != nil {
			t.Error("without Spec.Terminal there is one")
		}
	})
}

func TestTerminalShell(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		p, s := m.look(t, m.shell(t, "sh", "-i"))
		s.await(t, "$ ")
		s.enter(t, "echo sum-$((40+2))\n")
		s.await(t, "sum-42")
		s.enter(t, "stty size\n")
		s.await(t, "24 80")
		if err := s.terminal.Resize(Size{Rows: 50, Cols: 132}); err != nil {
			t.Fatal(err)
		}
		s.enter(t, "stty size\n")
		s.await(t, "50 132")
		s.enter(t, "sh -c 'echo up-$((1+1)); exec sleep 1000'\n")
		s.await(t, "up-2")
		// A terminal drops its pending output after the signal, and a prompt
		// with it: an empty line brings another.
		s.enter(t, "\x03\n")
		s.await(t, "$ ")
		s.enter(t, "echo code-$?\n")
		s.await(t, "code-130")
		s.enter(t, "sleep 1000 & jobs\n")
		s.await(t, "Running")
		s.enter(t, "exit 5\n")
		exit := p.Wait()
		if exit.Reason != Exited || exit.Code != 5 {
			t.Errorf("%+v, want code 5", exit)
		}
		if bytes.Contains(s.seen, []byte("job control")) {
			t.Errorf("it complains: %q", s.seen)
		}
	})
}

func TestResize(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		p, s := m.look(t, m.onTerminal(t, "sizes"))
		s.await(t, "80×24\r\n")
		for _, size := range []Size{{Rows: 25, Cols: 81}, {Rows: 1, Cols: 65535}} {
			if err := s.terminal.Resize(size); err != nil {
				t.Fatal(err)
			}
			s.await(t, size.String()+"\r\n")
			if got := s.terminal.Size(); got != size {
				t.Errorf("Size = %v, want %v", got, size)
			}
		}
		if err := s.terminal.Resize(Size{Rows: 0, Cols: 80}); err == nil ||
			!strings.Contains(err.Error(), "80×0") {
			t.Errorf("Resize to nothing = %v, want an error", err)
		}
		p.Kill()
		p.Wait()
		if err := s.terminal.Resize(Size{24, 80}); !errors.Is(err, ErrOver) {
			t.Errorf("Resize after the end = %v, want %v", err, ErrOver)
		}
		if n, err := s.terminal.Write([]byte("x")); n != 0 || !errors.Is(err, ErrOver) {
			t.Errorf("Write after the end = %d, %v, want %v", n, err, ErrOver)
		}
		if got := s.terminal.Size(); got.Cols != 65535 {
			t.Errorf("Size after the end = %v", got)
		}
	})
}

// TestTypeMuch types more than all buffers of the system hold.
func TestTypeMuch(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		spec := m.onTerminal(t, "echo")
		p, s := m.look(t, spec)
		s.await(t, "ready\n")
		text := strings.Repeat("typed ", 100_000)
		s.enter(t, text+"q")
		exit := p.Wait()
		if got, want := read(t, spec.Stdout), "ready\n"+strings.ToUpper(text)+"Q"; exit.Code != 0 ||
			got != want {
			t.Errorf("%+v, %d bytes, want %d", exit, len(got), len(want))
		}
	})
}

func TestTypeUnread(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		p, s := m.look(t, m.onTerminal(t, "unread"))
		s.await(t, "ready\n")
		s.terminal.unread = time.Millisecond
		much := make([]byte, 1<<20)
		n, err := s.terminal.Write(much)
		// Its time may be over before it has typed at all.
		for limit := time.Now().Add(patient); n == 0 && errors.Is(err, ErrUnread) && time.Now().Before(limit); {
			n, err = s.terminal.Write(much)
		}
		if !errors.Is(err, ErrUnread) || n == 0 || n == len(much) {
			t.Errorf("Write = %d, %v, want some and %v", n, err, ErrUnread)
		}
		s.terminal.typing <- struct{}{} // Somebody else types.
		if n, err := s.terminal.Write(much); n != 0 || !errors.Is(err, ErrUnread) {
			t.Errorf("Write while another types = %d, %v, want 0, %v", n, err, ErrUnread)
		}
		p.Stop()
		if exit := p.Wait(); exit.Code <= 128 || exit.Text != "" {
			t.Errorf("%+v, want the signal", exit)
		}
	})
}

// TestTypeLate: text is typed if there is room for it, even after the deadline.
func TestTypeLate(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		p, s := m.look(t, m.onTerminal(t, "echo"))
		s.await(t, "ready\n")
		s.terminal.unread = -time.Second
		s.enter(t, "abc")
		s.await(t, "ABC")
		s.enter(t, "q")
		if exit := p.Wait(); exit.Code != 0 {
			t.Errorf("%+v, want code 0", exit)
		}
	})
}

// TestTerminalStop ends a process that ignores SIGTERM, as a shell does.
func TestTerminalStop(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		spec := m.shell(t, "sh", "-i")
		spec.Grace = patient
		p, s := m.look(t, spec)
		s.await(t, "$ ")
		p.Stop()
		if exit := p.Wait(); exit.Code != 129 {
			t.Errorf("sh -i ended %+v, want code 129 for SIGHUP", exit)
		}

		w := newWitness(t)
		spec = m.onTerminal(t, "deaf", w.path)
		spec.Grace = time.Millisecond
		p = m.start(t, spec)
		w.meet(t, 1)
		p.Stop()
		exit := p.Wait()
		w.gone(t)
		if exit.Signal != "SIGKILL" || exit.Left != 0 {
			t.Errorf("deaf ended %+v, want SIGKILL", exit)
		}
	})
}

func TestTerminalKill(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) { killsFamily(t, m, m.onTerminal) })
}

func TestTerminalSupervisorKilled(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		w := newWitness(t)
		spec := m.onTerminal(t, "deaf", w.path)
		p := m.start(t, spec)
		w.meet(t, 1)
		pid, _ := p.Started()
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		exit := p.Wait()
		w.gone(t)
		if exit.Reason != Lost || !strings.Contains(exit.Text, "killed") ||
			exit.StdoutBytes != int64(len("ready\r\n")) {
			t.Errorf("a killed supervisor: %+v, want lost", exit)
		}
	})
}

func TestTerminalEngineKilled(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		w := newWitness(t)
		kill, pid, start := startEngineOf(t, m, m.onTerminal(t, "deaf", w.path))
		w.meet(t, 1)
		kill()
		w.end(t)
		dead(t, pid, start)
	})
}

// TestTerminalLeftovers lets an agent leave processes that hold its terminal.
func TestTerminalLeftovers(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		const much = 300_000
		w := newWitness(t)
		spec := m.onTerminal(t, "party", w.path, fmt.Sprint(much))
		p := m.start(t, spec)
		w.meet(t, familySize+1)
		exit := p.Wait()
		w.gone(t)
		if got := len(read(t, spec.Stdout)); exit.Code != 3 || exit.Left != familySize ||
			got != much || exit.StdoutBytes != much {
			t.Errorf("%+v, %d bytes, want code 3, %d left, %d bytes",
				exit, got, familySize, much)
		}
	})
}

func TestTerminalOutput(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		const much = 1 << 20
		spec := m.onTerminal(t, "chatty", fmt.Sprint(much), "64", "stderr")
		exit, got := m.run(t, spec)
		line := strings.Repeat("x", 63) + "\r\n"
		if want := strings.Repeat(line, much/64); exit.Code != 0 || got != want ||
			exit.StdoutBytes != int64(len(want)) || exit.Dropped != 0 {
			t.Errorf("%+v, %d bytes, want %d", exit, len(got), len(want))
		}

		p, s := m.look(t, m.onTerminal(t, "echo"))
		printed(t, p, int64(len("ready\n")))
		s.enter(t, "abc")
		printed(t, p, int64(len("ready\nABC")))
		s.enter(t, "q")
		p.Wait()
		for range p.Output() { // It ends, because it is closed.
		}
	})
}

func TestTerminalOutputLimit(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		floods(t, m, m.onTerminal(t, "flood"))
	})
}

func TestTerminalDiskFull(t *testing.T) {
	t.Parallel()
	spec := allModes()[0].onTerminal(t, "chatty", "1000000", "1000000", "stdout")
	var exit Exit
	if err := json.Unmarshal([]byte(playedBy(t, "little space", spec)), &exit); err != nil {
		t.Fatal(err)
	}
	if got := len(read(t, spec.Stdout)); exit.Reason != Disk || exit.Code != 0 ||
		got != 50_000 || exit.StdoutBytes != 50_000 || exit.Dropped != 950_001 ||
		!strings.Contains(exit.Text, "file too large") {
		t.Errorf("%d bytes, %+v, want disk, code 0, and 50000", got, exit)
	}
}

func TestTerminalStartFailed(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		for name, change := range map[string]func(*Spec){
			"not found in PATH": func(s *Spec) { s.Argv = []string{"nope"} },
			"working directory": func(s *Spec) { s.Dir += "/no" },
			"no bricks":         func(s *Spec) { s.Sandbox = []byte(`{"Fail":"no bricks"}`) },
		} {
			spec := m.onTerminal(t, "exit", "0")
			change(&spec)
			p := m.start(t, spec)
			w := p.Terminal().Watch()
			exit := p.Wait()
			w.Close()
			if exit.Reason != StartFailed || exit.Code != -1 ||
				!strings.Contains(exit.Text, name) || read(t, spec.Stdout) != "" {
				t.Errorf("%s: %+v, want start_failed", name, exit)
			}
		}

		var failed *StartError
		spec := m.onTerminal(t, "exit", "0")
		if err := os.WriteFile(spec.Stderr, []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := m.launcher().Start(t.Context(), spec)
		if !errors.As(err, &failed) || failed.Temporary || !errors.Is(err, os.ErrExist) {
			t.Errorf("a file that exists: %v, want a lasting StartError", err)
		}
		if got := read(t, spec.Stderr); got != "old" {
			t.Errorf("a file that existed was changed to %q", got)
		}
		spec.Stderr = filepath.Join(spec.Dir, "other")
		missing := &Launcher{Binary: filepath.Join(spec.Dir, "no")}
		if _, err := missing.Start(t.Context(), spec); !errors.As(err, &failed) {
			t.Errorf("a missing supervisor: %v, want a StartError", err)
		}
		for _, path := range []string{spec.Stdout, spec.Stderr} {
			if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("a start that failed left %s: %v", path, err)
			}
		}
	})
}
