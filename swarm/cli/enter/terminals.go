package enter

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"agentswarm/internal/statefile"
	"agentswarm/internal/terminal"
	"agentswarm/swarm/control"
	"agentswarm/swarm/proc"
	"agentswarm/swarm/task"
)

// NoTerminalError is an agent without a terminal to attach to.
type NoTerminalError struct{ Agent task.ID }

func (e *NoTerminalError) Error() string {
	return fmt.Sprintf("%s has no terminal: only agents with pty = true have one", e.Agent)
}

// Attach connects a stream to the terminal of an agent. The first who asks to type does; others
// watch. It returns a NoTerminalError for an agent without a terminal.
func (c *Controls) Attach(_ context.Context, r *control.Attach) (func(*control.Stream) error, error) {
	line, err := c.Engine.Line(r.Agent)
	if err != nil {
		return nil, err
	}
	term := line.Terminal()
	if term == nil {
		return nil, &NoTerminalError{Agent: r.Agent}
	}
	return func(s *control.Stream) error {
		file, err := statefile.OpenOutput(line.Stdout())
		if err != nil {
			return err
		}
		defer file.Close()
		a := &attached{stream: s, term: term, shown: file, types: !r.Watch && c.sitDown(r.Agent)}
		if a.types {
			defer c.standUp(r.Agent)
		} else if !r.Watch {
			a.notice = "somebody else types here; you watch"
		}
		return a.run()
	}, nil
}

// sitDown makes the caller the typist if the place is free.
func (c *Controls) sitDown(id task.ID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.typists[id] {
		return false
	}
	if c.typists == nil {
		c.typists = map[task.ID]bool{}
	}
	c.typists[id] = true
	return true
}

func (c *Controls) standUp(id task.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.typists, id)
}

// attached is somebody at the terminal of an agent.
type attached struct {
	stream *control.Stream
	term   *proc.Terminal
	shown  *os.File // all that the terminal has shown
	types  bool
	notice string // a notice for them; empty for nothing
	sized  bool   // they have said how large their window is
}

const (
	// replayed is how much of the earlier output a newly attached person sees,
	// in bytes: enough to fill a large screen with colours.
	replayed = 32 << 10
	// surveyed is how many bytes back it searches for the program's changes of
	// its terminal, such as another screen.
	surveyed = 16 << 20
)

// run passes frames on until the terminal is over or the attached person is
// gone.
func (a *attached) run() error {
	w := a.term.Watch()
	defer w.Close()
	if err := a.replay(w.From); err != nil {
		return err
	}
	if a.notice != "" {
		if err := a.stream.Write(&control.Notice{Text: a.notice}); err != nil {
			return err
		}
	}
	left := make(chan error, 1)
	go func() { left <- a.listen() }()
	for {
		select {
		case text, more := <-w.Output():
			if !more {
				// The last output of the agent must arrive before the end does.
				err := a.stream.Write(&control.End{Text: "it has ended"})
				return errors.Join(err, a.hangUp(left))
			}
			var f control.Frame = &control.Output{Bytes: text}
			if len(text) == 0 {
				f = &control.Notice{Text: "you were shown less than all: too much came at once"}
			}
			if err := a.stream.Write(f); err != nil {
				return errors.Join(err, a.hangUp(left))
			}
		case err := <-left:
			return err
		}
	}
}

// replay shows the last output before the given byte, on a screen in the state
// of the program's screen then.
func (a *attached) replay(end int64) error {
	from := max(0, end-replayed)
	before := &terminal.Display{}
	if _, err := io.Copy(before, io.NewSectionReader(a.shown, max(0, from-surveyed), min(from, surveyed))); err != nil {
		return err
	}
	text, err := io.ReadAll(io.NewSectionReader(a.shown, from, end-from))
	if err != nil {
		return err
	}
	if from > 0 {
		// It may begin in the middle of a letter or of a sequence.
		whole := max(0, bytes.IndexAny(text, "\n\x1b"))
		_, _ = before.Write(text[:whole]) // it cannot fail
		text = text[whole:]
	}
	return a.stream.Write(&control.Output{Bytes: append(before.Resume(), text...)})
}

// hangUp ends the connection and waits for listen.
func (a *attached) hangUp(left <-chan error) error {
	err := a.stream.Close()
	_ = <-left // the connection is closed on purpose
	return err
}

// listen passes on typed input, and the size of the typist's window.
func (a *attached) listen() error {
	for {
		f, err := a.stream.Read()
		if err != nil {
			return err
		}
		switch f := f.(type) {
		case *control.Input:
			if a.types {
				err = a.typed(f.Bytes)
			}
		case *control.Resize:
			err = a.resize(proc.Size{Rows: f.Rows, Cols: f.Cols})
		case *control.Output, *control.Notice, *control.End:
			err = errors.New("a frame that is not for us")
		default:
			panic(fmt.Sprintf("unhandled %T", f))
		}
		if err != nil {
			return err
		}
	}
}

func (a *attached) typed(text []byte) error {
	_, err := a.term.Write(text)
	if errors.Is(err, proc.ErrUnread) {
		return a.stream.Write(&control.Notice{Text: "the agent does not read what is typed"})
	}
	return nil // the end of a closed terminal is on its way
}

// resize gives the terminal the size of the typist's window. Programs draw anew
// when their size changes. If the size is the same, resize changes it for a
// moment, so that a newly attached person sees all of a full screen.
func (a *attached) resize(s proc.Size) error {
	first := !a.sized
	a.sized = true
	now := a.term.Size()
	switch {
	case a.types && first && s == now:
		less := proc.Size{Rows: s.Rows - 1, Cols: s.Cols}
		if s.Rows == 1 {
			less.Rows = 2
		}
		if a.term.Resize(less) == nil {
			time.Sleep(nudge)
		}
		fallthrough
	case a.types:
		// A size that makes no sense changes nothing, and of a terminal that
		// is over the end is on its way.
		_ = a.term.Resize(s)
	case first && (s.Rows < now.Rows || s.Cols < now.Cols):
		return a.stream.Write(&control.Notice{
			Text: fmt.Sprintf("the terminal is %s; your window is smaller", now),
		})
	}
	return nil
}

// nudge is how long a terminal has another size: a program that is told of
// two changes at once may look only after the second.
const nudge = 100 * time.Millisecond
