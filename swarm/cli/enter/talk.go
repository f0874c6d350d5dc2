package enter

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"agentswarm/internal/terminal"
	"agentswarm/internal/termtext"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/control"
	"agentswarm/swarm/exit"
)

// talking connects two terminals: the person's and the agent's.
type talking struct {
	*attaching
	stream *control.Stream
	screen terminal.Display
	notice string // shown when no other output is in progress
	deaf   bool   // the run takes nothing any more; it may have said why

	typed  chan []byte
	frames chan control.Frame
	over   chan struct{} // closed when nobody takes from the channels any more
}

// talk joins the terminals until the person leaves, a signal ends this
// process, the agent has ended or the connection has. It closes the stream,
// and leaves the person's terminal as it was.
func (t *attaching) talk(stream *control.Stream) (end end, err error) {
	signals, giveBack := cmdline.TakeSignals(syscall.SIGWINCH, syscall.SIGCONT)
	defer giveBack()
	fmt.Fprintf(t.Env.Stderr, "attached to %s; %s leaves it\n", t.id, t.key.name)
	before, err := term.MakeRaw(t.in)
	if err != nil {
		return endNone, errors.Join(fmt.Errorf("attach: make the terminal raw: %w", err), stream.Close())
	}
	k := &talking{
		attaching: t, stream: stream, typed: make(chan []byte),
		frames: make(chan control.Frame), over: make(chan struct{}),
	}
	wake, woken, err := os.Pipe()
	if err != nil {
		return endNone, errors.Join(err, term.Restore(t.in, before), stream.Close())
	}
	listened, read := make(chan struct{}), make(chan struct{})
	go func() { defer close(read); k.readKeys(wake) }()
	go func() { defer close(listened); k.readFrames() }()
	end, err = k.until(signals)
	if err != nil {
		end = endNone
	}
	close(k.over)
	// The terminal first: whatever else goes wrong, the person has theirs.
	err = errors.Join(err, term.Restore(t.in, before), k.tidy())
	_ = stream.Leave() // the run may have hung up already
	err = errors.Join(err, woken.Close())
	<-listened
	<-read
	err = errors.Join(err, stream.Close(), wake.Close())
	if end == endDetached {
		fmt.Fprintf(t.Env.Stderr, "detached from %s; attach again with `%s attach %s`\n",
			t.id, t.Env.Calls, t.address())
	}
	return end, err
}

// end is why a talk is over.
type end int

const (
	endNone     end = iota // something went wrong
	endDetached            // the person left
	endSignal              // a signal ends this process
	endAgent               // the agent has ended
	endLost                // the run says nothing any more
)

// until passes everything on until something ends it.
func (k *talking) until(signals <-chan os.Signal) (end, error) {
	if err := k.resize(); err != nil {
		return endNone, err
	}
	for {
		select {
		case s := <-signals:
			if done, err := k.signal(s); done || err != nil {
				return endSignal, err
			}
		case text, more := <-k.typed:
			if !more {
				return endSignal, &exit.SignalError{Signal: syscall.SIGHUP} // the terminal is gone
			}
			if done, err := k.send(text); done || err != nil {
				return endDetached, err
			}
		case f, more := <-k.frames:
			if !more {
				return endLost, nil
			}
			if done, err := k.frame(f); done || err != nil {
				return endAgent, err
			}
		}
	}
}

// write sends a frame. After the run has hung up, its last frames are still to
// be read.
func (k *talking) write(f control.Frame) error {
	if k.deaf {
		return nil
	}
	err := k.stream.Write(f)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("attach: run %s does not listen: %w", k.run.ID, err)
	}
	k.deaf = err != nil
	return nil
}

// signal acts on a signal; true where it ends this process.
func (k *talking) signal(s os.Signal) (bool, error) {
	switch s {
	case syscall.SIGWINCH:
		return false, k.resize()
	case syscall.SIGCONT:
		// The shell that stopped this process gave the terminal to another
		// meanwhile.
		if _, err := term.MakeRaw(k.in); err != nil {
			return true, fmt.Errorf("attach: make the terminal raw: %w", err)
		}
		return false, k.resize()
	default:
		return true, &exit.SignalError{Signal: s.(syscall.Signal)}
	}
}

// resize tells how large the window is.
func (k *talking) resize() error {
	cols, rows, err := term.GetSize(k.out)
	if err != nil || rows <= 0 || cols <= 0 {
		return nil // a terminal without a size leaves it as it is
	}
	return k.write(&control.Resize{Rows: uint16(rows), Cols: uint16(cols)})
}

// send passes typed text on; true if it holds the key that leaves.
func (k *talking) send(text []byte) (bool, error) {
	text, leave := k.key.cut(text)
	if k.watch {
		return leave || bytes.IndexByte(text, 0x03) >= 0, nil
	}
	if len(text) == 0 {
		return leave, nil
	}
	return leave, k.write(&control.Input{Bytes: text})
}

// frame shows a frame; true at the end.
func (k *talking) frame(f control.Frame) (bool, error) {
	switch f := f.(type) {
	case *control.Output:
		_, _ = k.screen.Write(f.Bytes) // it cannot fail
		if _, err := k.Env.Stdout.Write(f.Bytes); err != nil {
			return true, fmt.Errorf("write to the terminal: %w", err)
		}
	case *control.Notice:
		k.notice = f.Text
	case *control.End:
		return true, nil
	case *control.Input, *control.Resize:
		return true, fmt.Errorf("attach: run %s sent what is for it to read", k.run.ID)
	default:
		panic(fmt.Sprintf("unhandled %T", f))
	}
	return false, k.show()
}

// show shows a notice on the last line, if that does not break into
// something; the cursor goes back to where it was.
func (k *talking) show() error {
	if k.notice == "" || !k.screen.Whole() {
		return nil
	}
	cols, rows, err := term.GetSize(k.out)
	if err != nil || cols < 4 || rows < 1 {
		cols, rows = 80, 24
	}
	text := []rune(termtext.Line(k.notice))
	text = text[:min(len(text), cols-3)]
	k.notice = ""
	_, err = fmt.Fprintf(k.Env.Stdout, "\x1b7\x1b[%d;1H\x1b[0;7m %s \x1b[0m\x1b[K\x1b8", rows, string(text))
	return err
}

// tidy undoes the effects of the agent's program on the person's terminal.
func (k *talking) tidy() error {
	_, err := k.Env.Stdout.Write(append(k.screen.Reset(), "\r\n"...))
	return err
}

// readFrames reads the run's frames until it hangs up. Then the place of the
// leaving person is free, and the next to attach may type.
func (k *talking) readFrames() {
	defer close(k.frames)
	for {
		f, err := k.stream.Read()
		if err != nil {
			return
		}
		select {
		case k.frames <- f:
		case <-k.over: // nobody looks at it any more
		}
	}
}

// readKeys reads typed input until the terminal or wake ends. A read cannot be
// cancelled, so it begins only when there is input.
func (k *talking) readKeys(wake *os.File) {
	defer close(k.typed)
	for {
		ready, err := cmdline.AwaitInput(k.in, int(wake.Fd()))
		if err != nil || !ready {
			return
		}
		buf := make([]byte, 4096)
		n, err := unix.Read(k.in, buf)
		switch {
		case errors.Is(err, unix.EINTR), errors.Is(err, unix.EAGAIN):
			continue
		case err != nil || n == 0:
			return
		}
		select {
		case k.typed <- buf[:n]:
		case <-k.over:
			return
		}
	}
}
