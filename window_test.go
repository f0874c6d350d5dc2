package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/term"
)

// window is a command on a terminal of its own, and a person before it.
type window struct {
	t      *testing.T
	cmd    *exec.Cmd
	master *os.File
	slave  *os.File // held open, so that the last output is not lost
	before *term.State
	ended  chan error

	mu    sync.Mutex // guards shown
	shown []byte
}

// open runs a command of swarm in a new window.
func (y *fixture) open(rows, cols uint16, args ...string) *window {
	y.t.Helper()
	master, slave, err := pty.Open()
	y.must(err)
	y.must(pty.Setsize(slave, &pty.Winsize{Rows: rows, Cols: cols}))
	w := &window{t: y.t, master: master, slave: slave, ended: make(chan error, 1)}
	w.before, err = term.GetState(int(slave.Fd()))
	y.must(err)
	w.cmd = y.command([]string{"SHELL=/bin/sh", "PS1=> ", "ENV="}, args...)
	w.cmd.Stdin, w.cmd.Stdout, w.cmd.Stderr = slave, slave, slave
	w.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	y.must(w.cmd.Start())
	read := make(chan struct{})
	go func() {
		defer close(read)
		for buf := make([]byte, 4096); ; {
			n, err := master.Read(buf)
			w.mu.Lock()
			w.shown = append(w.shown, buf[:n]...)
			w.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	go func() { w.ended <- w.cmd.Wait() }()
	y.t.Cleanup(func() {
		_ = w.cmd.Process.Kill()
		_ = slave.Close()
		_ = master.Close()
		<-read
	})
	return w
}

// awaitShown waits until the terminal of the first agent has shown a text.
func (y *fixture) awaitShown(text string) {
	y.t.Helper()
	y.await(text, func() bool { return strings.Contains(y.ends(0, "logs", "a1", "--raw").stdout, text) })
}

func (w *window) text() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return string(w.shown)
}

// sees waits until the window has shown a text, and forgets the output up to
// its end. It fails if the text never comes.
func (w *window) sees(text string) string {
	w.t.Helper()
	before, ok := w.shows(text, never)
	if !ok {
		w.t.Fatalf("%q does not come; the window shows %q", text, w.text())
	}
	return before
}

// shows is sees for a text that need not come within some time.
func (w *window) shows(text string, within time.Duration) (before string, ok bool) {
	ok = poll(within, func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		at := bytes.Index(w.shown, []byte(text))
		if at < 0 {
			return false
		}
		before = string(w.shown[:at])
		w.shown = w.shown[at+len(text):]
		return true
	})
	return before, ok
}

func (w *window) types(text string) {
	w.t.Helper()
	if _, err := w.master.WriteString(text); err != nil {
		w.t.Fatal(err)
	}
}

// raw waits until the terminal's state differs from the state before the
// command. Until then output appears as any program's output: the terminal
// turns a line end of two characters into three.
func (w *window) raw() {
	w.t.Helper()
	changed := poll(never, func() bool {
		now, err := term.GetState(int(w.slave.Fd()))
		if err != nil {
			w.t.Fatal(err)
		}
		return !reflect.DeepEqual(w.before, now)
	})
	if !changed {
		w.t.Fatalf("the terminal is not made raw; the window shows %q", w.text())
	}
}

// interrupts ends the shell's command, and waits until the shell obeys again.
// After the signal a terminal drops output on its way, including a prompt. The
// ended command may yet take a line that was for the shell. So it sends lines
// until the shell answers the last and prompts again.
func (w *window) interrupts() {
	w.t.Helper()
	w.types("\x03")
	for n := 1; ; n++ {
		w.types(fmt.Sprintf("echo go''es on %d\r", n))
		if _, ok := w.shows(fmt.Sprintf("goes on %d\r\n> ", n), time.Second); ok {
			return
		}
		if time.Duration(n)*time.Second > never {
			w.t.Fatalf("no shell answers; the window shows %q", w.text())
		}
	}
}

// ends waits until the command has ended with a code, and holds it to leaving
// the terminal as it was.
func (w *window) ends(code int) {
	w.t.Helper()
	select {
	case _ = <-w.ended:
	case <-time.After(never):
		w.t.Fatalf("it does not end; the window shows %q", w.text())
	}
	if got := w.cmd.ProcessState.ExitCode(); got != code {
		w.t.Errorf("%v ended with %d, want %d; the window shows %q", w.cmd.Args[1:], got, code, w.text())
	}
	after, err := term.GetState(int(w.slave.Fd()))
	if err != nil {
		w.t.Fatal(err)
	}
	if !reflect.DeepEqual(w.before, after) {
		w.t.Errorf("%v left the terminal as %+v, want %+v", w.cmd.Args[1:], after, w.before)
	}
}
