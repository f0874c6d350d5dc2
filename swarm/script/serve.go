package script

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"time"
)

// How a process that runs scripts ends.
const (
	servedWell  = 0
	servedBadly = 1 // it got a line that it cannot read or answer
	servedGone  = 2 // the parent process is gone
	servedDied  = 3 // the script or function got out of hand
)

const (
	// lastWord is how long a process takes to say why it ends.
	lastWord = time.Second
	// lastBreath is how long a script may take to stop when its owner is gone.
	lastBreath = 100 * time.Millisecond
	// mostStack ends a recursion inside the language's own functions, and the
	// process with it, before it takes the memory of the machine.
	mostStack = 256 << 20
	// hookLimit is how much of the processor a closed function may take.
	hookLimit = 50 * time.Millisecond
	// hookPatience is the processor time that a process may use inside a single
	// function of the language, which cannot be interrupted.
	hookPatience = time.Second
)

var errOwnerGone = errors.New("the program that started the script has ended")

// Serve is the main function of a process that runs scripts. It reads its task
// from in, writes a JSON object on each line, and returns the process's exit
// code. The end of in ends it at once, in the middle of any work: the caller
// exits then.
//
// It changes the state of the process: the time zone becomes UTC, and stacks
// and memory are bounded.
func Serve(ctx context.Context, in io.Reader, out io.Writer) int {
	return serve(ctx, serving{in: in, out: out, bounds: DefaultBounds()})
}

type serving struct {
	in     io.Reader
	out    io.Writer
	bounds Bounds
}

func serve(ctx context.Context, s serving) int {
	time.Local = time.UTC
	debug.SetMaxStack(mostStack)
	// Garbage alone is no reason to end a script.
	debug.SetMemoryLimit(int64(s.bounds.Memory / 8 * 7))
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	c := &served{
		lines: make(chan []byte, 1), gone: make(chan struct{}),
		out: newLineWriter(s.out), bounds: s.bounds,
	}
	// A read cannot be called back. The end of the process ends it.
	go func() {
		err := c.listen(ctx, s.in)
		cancel(err) // first: who finds the lines at their end knows why
		close(c.gone)
	}()
	first, err := c.line()
	if err != nil {
		return servedGone
	}
	var open opening
	if err := json.Unmarshal(first, &open); err != nil {
		return servedBadly
	}
	if open.Open == "hooks" {
		c.bounds.CPU = hookPatience // the caller gives less of the time that passes
	}
	died := make(chan *Error, 1)
	done := make(chan int, 1)
	go func() { died <- c.bounds.watch(ctx, &c.meter) }()
	go func() { done <- c.session(ctx, open) }()
	select {
	case code := <-done:
		return code
	case e := <-died:
		if e == nil {
			return c.leave(done)
		}
		return c.die(e)
	case <-ctx.Done():
		return c.leave(done)
	}
}

// served is the work of a serving process. Only the goroutine of the session
// moves the meter.
type served struct {
	lines  chan []byte
	gone   chan struct{} // closed when there are no more lines
	out    *lineWriter
	bounds Bounds
	meter  meter
}

// listen takes in lines until there are no more. The error says why.
func (c *served) listen(ctx context.Context, in io.Reader) error {
	r := newLineReader(in)
	for {
		line, err := r.line()
		if err != nil {
			return fmt.Errorf("%w: %w", errOwnerGone, err)
		}
		select {
		case c.lines <- line:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// line is the next line that came in.
func (c *served) line() ([]byte, error) {
	select {
	case line := <-c.lines:
		return line, nil
	default:
	}
	select {
	case line := <-c.lines:
		return line, nil
	case <-c.gone:
		return nil, errOwnerGone
	}
}

// leave gives a script that is interrupted a moment to stop.
func (c *served) leave(done <-chan int) int {
	select {
	case <-done:
	case <-time.After(lastBreath):
	}
	return servedGone
}

// die reports a script that got out of hand. Its reader may not listen.
func (c *served) die(e *Error) int {
	said := make(chan struct{})
	go func() {
		defer close(said)
		_ = c.out.write(asked{Died: e}) // there is no other reader
	}()
	select {
	case <-said:
	case <-time.After(lastWord):
	}
	return servedDied
}

func (c *served) session(ctx context.Context, open opening) int {
	var err error
	switch {
	case open.Open == "run" && open.Start != nil:
		err = c.run(ctx, *open.Start)
	case open.Open == "load":
		err = c.out.write(loaded{Loaded: c.load(open)})
	case open.Open == "hooks":
		err = c.hooks()
	default:
		err = fmt.Errorf("there is nothing to open as %q", open.Open)
	}
	switch {
	case err == nil:
		return servedWell
	case errors.Is(err, errOwnerGone):
		return servedGone
	default:
		return servedBadly
	}
}

func (c *served) run(ctx context.Context, start Start) error {
	out := Run(ctx, start, &wireHost{served: c})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	err := c.out.write(asked{Outcome: &out})
	if errors.Is(err, errWireLine) {
		out = Outcome{Error: &Error{Name: "RangeError", Code: CodeLimit, Message: "the script returned more than 64 MiB"}}
		err = c.out.write(asked{Outcome: &out})
	}
	return err
}

func (c *served) load(open opening) []Loaded {
	all := make([]Loaded, 0, len(open.Sources)+len(open.Lib))
	for _, src := range open.Sources {
		c.meter.step()
		p, err := Load(src)
		l := Loaded{Name: src.Name, Error: wireError(err)}
		if err == nil {
			l.Meta, l.Allow, l.Uses, l.Warnings = p.Meta, p.Allow, p.Uses, p.Warnings
		}
		all = append(all, l)
	}
	for _, src := range open.Lib {
		c.meter.step()
		lib, err := LoadLib(src)
		l := Loaded{Name: src.Name, Error: wireError(err)}
		if err == nil {
			l.Exports = lib.Exports
		}
		all = append(all, l)
	}
	return all
}

func (c *served) hooks() error {
	var h Hooks
	for {
		c.meter.wait()
		line, err := c.line()
		if err != nil {
			return err
		}
		c.meter.step()
		var r hookAsked
		if err := json.Unmarshal(line, &r); err != nil {
			return fmt.Errorf("read a message: %w", err)
		}
		v, err := h.Decide(r.Source, r.Input, hookLimit)
		if err := c.out.write(hookReplied{N: r.N, Value: v, Error: wireError(err)}); err != nil {
			return err
		}
	}
}

// wireError is an error as the other side is told it.
func wireError(err error) *Error {
	if err == nil {
		return nil
	}
	return plain(err)
}

// wireHost is a host at the other end of the pipe.
type wireHost struct{ *served }

// ask sends a line and waits for its answer.
func (h *wireHost) ask(a asked) (replied, error) {
	h.meter.wait()
	defer h.meter.step()
	if err := h.out.write(a); err != nil {
		if errors.Is(err, errWireLine) {
			err = &Error{Name: "RangeError", Code: CodeLimit, Message: "a request has more than 64 MiB"}
		}
		return replied{}, err
	}
	line, err := h.line()
	if err != nil {
		return replied{}, err
	}
	var r replied
	if err := json.Unmarshal(line, &r); err != nil {
		return replied{}, fmt.Errorf("read a message: %w", err)
	}
	if r.Error != nil {
		return replied{}, r.Error
	}
	return r, nil
}

func (h *wireHost) Do(_ context.Context, r Request) (json.RawMessage, error) {
	body, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("write a %s: %w", Verb(r), err)
	}
	a, err := h.ask(asked{Do: Verb(r), Body: body})
	return a.Value, err
}

func (h *wireHost) Post(n int, r Request) error {
	body, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("write a %s: %w", Verb(r), err)
	}
	_, err = h.ask(asked{Post: Verb(r), N: n, Body: body})
	return err
}

func (h *wireHost) Next(context.Context) (Delivery, error) {
	a, err := h.ask(asked{Next: true})
	if err != nil {
		return Delivery{}, err
	}
	if a.Delivery == nil {
		return Delivery{}, errors.New("nothing was delivered")
	}
	return *a.Delivery, nil
}
