package main

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestWatchOnTerminal looks at `ls --watch` on a terminal of 80×24: it draws
// over itself, never below the screen, until Ctrl-C is pressed.
func TestWatchOnTerminal(t *testing.T) {
	t.Parallel()
	y := newFixture(t)
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	y.must(err)
	defer master.Close()
	slave, err := openSlave(master)
	y.must(err)
	y.must(unix.IoctlSetWinsize(int(slave.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80}))
	cmd := y.command([]string{"TERM=xterm", "NO_COLOR=1"}, "ls", "--watch")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	y.must(cmd.Start())
	y.must(slave.Close())

	var mu sync.Mutex // guards shown
	var shown strings.Builder
	read := make(chan struct{})
	go func() {
		defer close(read)
		for buf := make([]byte, 4096); ; {
			n, err := master.Read(buf)
			mu.Lock()
			shown.Write(buf[:n])
			mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	sofar := func() string {
		mu.Lock()
		defer mu.Unlock()
		return shown.String()
	}
	y.await("the empty list", func() bool { return strings.Contains(sofar(), "no run yet") })
	y.ends(0, "run", "--count", "2", "--", "fakeagent", "print:x")
	run := strings.TrimSpace(y.ends(0, "ls", "-q").stdout)
	y.await("the run", func() bool { return strings.Contains(sofar(), run+"  completed") })

	_, err = master.WriteString("\x03")
	y.must(err)
	err = cmd.Wait()
	<-read
	var ended *exec.ExitError
	if !errors.As(err, &ended) || ended.ExitCode() != 130 {
		t.Errorf("after Ctrl-C: %v", err)
	}
	text := sofar()
	if bad := unsafePart(text); bad != "" {
		t.Errorf("the terminal was sent %q in %q", bad, text)
	}
	if !strings.Contains(text, "\x1b[1A\x1b") && !strings.Contains(text, "\r\x1b[1A") {
		t.Errorf("the first list was not drawn over: %q", text)
	}
	if frames := strings.Count(text, "RUN "); frames == 0 || !strings.HasSuffix(text, "swarm: stopped by Ctrl-C\r\n") {
		t.Errorf("%d lists, and at the end %q", frames, text)
	}
}
