package proc

import (
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestTerminalDescriptors(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		_, got := m.run(t, m.onTerminal(t, "descriptors"))
		for line := range strings.Lines(got) {
			number, to, _ := strings.Cut(strings.TrimSpace(line), " ")
			if number <= "2" && !strings.HasPrefix(to, "/dev/pts/") ||
				strings.HasPrefix(to, "pipe:") || strings.Contains(to, "ptmx") ||
				number > "2" && strings.HasPrefix(to, "/dev/pts/") {
				t.Errorf("descriptor %s is %s", number, to)
			}
		}
		if strings.Count(got, "/dev/pts/") != 3 {
			t.Errorf("want three, for stdin, stdout and stderr: %s", got)
		}
	})
}

func TestTerminalsLeakNothing(t *testing.T) {
	t.Parallel()
	spec := allModes()[0].onTerminal(t, "exit", "0")
	got := playedBy(t, "descriptors", spec)
	var before, after int
	if n, err := fmt.Sscan(got, &before, &after); n != 2 || before != after {
		t.Errorf("open descriptors: %q, %v, want the same number", got, err)
	}
}

// TestTerminalHeld has a stranger hold the agent's end, which stays alive.
func TestTerminalHeld(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		p, s := m.look(t, m.shell(t, "sh", "-c", "tty; read x; echo over"))
		s.await(t, "/dev/pts/")
		s.await(t, "\r\n")
		name := strings.TrimSpace(string(s.seen))
		fd, err := syscall.Open(name, syscall.O_RDWR|syscall.O_NOCTTY|syscall.O_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer syscall.Close(fd)
		s.enter(t, "\n")
		s.await(t, "over")
		if exit := p.Wait(); exit.Reason != Exited || exit.Code != 0 || exit.Text != "" {
			t.Errorf("%+v, want code 0", exit)
		}
		// Whatever this process is forking at this moment holds the terminal
		// until its exec.
		limit := time.Now().Add(patient)
		for _, err = syscall.Write(fd, []byte("x")); err == nil; _, err = syscall.Write(fd, []byte("x")) {
			if time.Now().After(limit) {
				t.Fatal("the terminal is still there")
			}
			time.Sleep(time.Millisecond) // There is nothing to wait on.
		}
	})
}

// TestTerminalLastWords keeps the engine from reading until all processes are
// gone. Their output is still in the system then.
func TestTerminalLastWords(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		const much = 8000 // Linux holds 8 KiB, besides the bytes that are being read.
		spec := m.onTerminal(t, "waits", fmt.Sprint(much))
		p, s := m.look(t, spec)
		s.await(t, "ready\r\n")
		unlock := sync.OnceFunc(s.terminal.mu.Unlock)
		s.terminal.mu.Lock()
		defer unlock() // for the clean-up of a test that fails
		s.enter(t, "\n")
		pid, start := p.Started()
		dead(t, pid, start)
		unlock()
		exit := p.Wait()
		want := int64(len("ready\r\n") + len("\r\n") + much)
		if got := int64(len(read(t, spec.Stdout))); got != want || exit.StdoutBytes != want {
			t.Errorf("%d bytes, %+v, want %d", got, exit, want)
		}
	})
}

// TestScreenHeardLate: output is heard even if the reader comes too late.
func TestScreenHeardLate(t *testing.T) {
	t.Parallel()
	s, err := NewScreen(Size{Rows: 24, Cols: 80})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }() // somebody holds it open
	if _, err := s.slave.WriteString(strings.Repeat("shown\n", 200)); err != nil {
		t.Fatal(err)
	}
	want := strings.Repeat("shown\r\n", 200)
	raw, err := s.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	there := 0
	for limit := time.Now().Add(patient); there < len(want); {
		if time.Now().After(limit) {
			t.Fatalf("%d bytes are there, want %d", there, len(want))
		}
		err := raw.Control(func(fd uintptr) { there, _ = unix.IoctlGetInt(int(fd), unix.TIOCINQ) })
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := s.SetReadDeadline(time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	if Drain(s, &got); got.String() != want {
		t.Errorf("heard %d bytes, want %d", got.Len(), len(want))
	}
}
