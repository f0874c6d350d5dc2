package script

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// RunRemote runs a script in a process of its own, whose [Serve] has the other
// end of conn. It calls the host on the calling goroutine. If the script gets
// out of hand, the outcome is an error of the code runaway. RunRemote returns
// an error if there is no outcome: the cause of ctx if it ended, or the error
// of the host. conn is closed.
func RunRemote(ctx context.Context, conn io.ReadWriteCloser, start Start, host Host) (Outcome, error) {
	r := dial(ctx, conn)
	defer r.close()
	out, err := r.run(ctx, start, host)
	if err != nil && ctx.Err() != nil {
		return Outcome{}, context.Cause(ctx) // whatever it had to say besides
	}
	if e := (*Error)(nil); errors.As(err, &e) && e.Code == CodeRunaway {
		return Outcome{Error: e}, nil
	}
	return out, err
}

// run answers the requests of a script until it ends.
func (r *remote) run(ctx context.Context, start Start, host Host) (Outcome, error) {
	if err := r.out.write(opening{Open: "run", Start: &start}); err != nil {
		return Outcome{}, r.ended(ctx, err)
	}
	for {
		var a asked
		if err := r.in.read(&a); err != nil {
			return Outcome{}, r.ended(ctx, err)
		}
		switch {
		case a.Outcome != nil && a.Outcome.Error != nil && ctx.Err() != nil:
			return Outcome{}, context.Cause(ctx) // it was interrupted
		case a.Outcome != nil:
			return *a.Outcome, nil
		case a.Died != nil:
			return Outcome{}, a.Died
		}
		answer, err := answerAsked(ctx, host, a)
		if e := (*Error)(nil); errors.As(err, &e) {
			answer, err = replied{Error: e}, nil
		}
		if ctx.Err() != nil {
			return Outcome{}, context.Cause(ctx)
		}
		if err != nil {
			return Outcome{}, err
		}
		err = r.out.write(answer)
		if errors.Is(err, errWireLine) {
			// No byte of it was written, and the script waits for an answer.
			err = r.out.write(replied{Error: &Error{Name: "RangeError", Code: CodeLimit, Message: "what entered the script has more than 64 MiB"}})
		}
		if err != nil {
			var last asked
			if r.in.read(&last) == nil && last.Died != nil {
				return Outcome{}, last.Died
			}
			return Outcome{}, r.ended(ctx, err)
		}
	}
}

// answerAsked lets the host answer a line of a script.
func answerAsked(ctx context.Context, host Host, a asked) (replied, error) {
	switch {
	case a.Do != "":
		r, err := DecodeRequest(a.Do, a.Body)
		if err != nil {
			return replied{}, err
		}
		v, err := host.Do(ctx, r)
		return replied{Value: v}, err
	case a.Post != "":
		r, err := DecodeRequest(a.Post, a.Body)
		if err != nil {
			return replied{}, err
		}
		return replied{}, host.Post(a.N, r)
	case a.Next:
		d, err := host.Next(ctx)
		return replied{Delivery: &d}, err
	default:
		return replied{}, errors.New("the script's process said what has no meaning")
	}
}

// LoadRemote reads scripts and libraries in a process of its own, at whose
// [Serve] conn ends. The answers are in the order of the sources, those about
// libraries behind those about scripts. conn is closed.
func LoadRemote(ctx context.Context, conn io.ReadWriteCloser, sources, lib []Source) ([]Loaded, error) {
	answer, err := inquire(ctx, conn, opening{Open: "load", Sources: sources, Lib: lib})
	if err == nil && len(answer.Loaded) != len(sources)+len(lib) {
		return nil, fmt.Errorf("sent %d sources, received %d", len(sources)+len(lib), len(answer.Loaded))
	}
	return answer.Loaded, err
}

// inquire asks a process for a single answer.
func inquire(ctx context.Context, conn io.ReadWriteCloser, open opening) (loaded, error) {
	r := dial(ctx, conn)
	defer r.close()
	var answer loaded
	if err := r.out.write(open); err != nil {
		return answer, r.ended(ctx, err)
	}
	if err := r.in.read(&answer); err != nil {
		return answer, r.ended(ctx, err)
	}
	if answer.Died != nil {
		return loaded{}, answer.Died
	}
	return answer, nil
}

// remote is a process that runs scripts.
type remote struct {
	in   *lineReader
	out  *lineWriter
	conn io.Closer
	stop func() bool
}

// dial talks to a process until ctx ends.
func dial(ctx context.Context, conn io.ReadWriteCloser) *remote {
	// Only this ends a read.
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	return &remote{newLineReader(conn), newLineWriter(conn), conn, stop}
}

func (r *remote) close() {
	r.stop()
	_ = r.conn.Close() // its last line has been read
}

// ended returns the error for a pipe that ended.
func (r *remote) ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if errors.Is(err, errWireLine) || errors.Is(err, errWireText) {
		return err
	}
	return runaway("the script's process ended without a word: it took too much memory, or its calls nested too deeply")
}

// HooksRemote decides by closed functions in a process of its own. It may be
// used by many goroutines at once, which take turns.
type HooksRemote struct {
	out     *lineWriter
	conn    io.Closer
	turn    chan struct{} // held by the calling goroutine
	replies chan hookReplied
	closing chan struct{}
	once    sync.Once
	ended   chan struct{} // closed when the process says no more
	n       int           // of the latest question; of the holder of turn
}

// NewHooksRemote opens a process, at whose [Serve] conn ends. [HooksRemote.Close]
// lets it go.
func NewHooksRemote(conn io.ReadWriteCloser) (*HooksRemote, error) {
	h := &HooksRemote{
		out: newLineWriter(conn), conn: conn,
		turn: make(chan struct{}, 1), replies: make(chan hookReplied),
		closing: make(chan struct{}), ended: make(chan struct{}),
	}
	if err := h.out.write(opening{Open: "hooks"}); err != nil {
		return nil, errors.Join(fmt.Errorf("open a process for functions: %w", err), conn.Close())
	}
	go h.listen(newLineReader(conn))
	return h, nil
}

// listen forwards the answers of the process.
func (h *HooksRemote) listen(in *lineReader) {
	defer close(h.ended)
	for {
		var r hookReplied
		if err := in.read(&r); err != nil {
			return
		}
		select {
		case h.replies <- r:
		case <-h.closing:
			return
		}
	}
}

// Decide returns the answer of a closed function to an input. For an error of
// the function, or of its process, it returns an [*Error]. After an error of
// the code runaway the process is unusable. If ctx ended, it returns the cause.
func (h *HooksRemote) Decide(ctx context.Context, source string, input json.RawMessage) (json.RawMessage, error) {
	select {
	case h.turn <- struct{}{}:
		defer func() { <-h.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if ctx.Err() != nil { // of two that are ready, select takes either
		return nil, context.Cause(ctx)
	}
	h.n++
	if err := h.out.write(hookAsked{N: h.n, Source: source, Input: input}); err != nil {
		return nil, runaway("a function cannot be asked: %v", err)
	}
	for {
		select {
		case r := <-h.replies:
			switch {
			case r.Died != nil:
				return nil, r.Died
			case ctx.Err() != nil:
				return nil, context.Cause(ctx)
			case r.N != h.n: // of somebody who did not wait for it
			case r.Error != nil:
				return nil, r.Error
			default:
				return r.Value, nil
			}
		case <-h.ended:
			return nil, runaway("the process of the functions ended without a word")
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// Close ends the process.
func (h *HooksRemote) Close() error {
	h.once.Do(func() { close(h.closing) })
	err := h.conn.Close()
	<-h.ended
	return err
}
