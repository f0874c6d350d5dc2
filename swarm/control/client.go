package control

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"syscall"
	"time"

	"agentswarm/swarm/proc"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// GoneError is a run without a listening owner: its owner ended.
type GoneError struct{ Run string }

func (e *GoneError) Error() string { return fmt.Sprintf("run %s has no live owner", e.Run) }

// RefusedError is a peer that may not speak, and why.
type RefusedError struct{ Reason string }

func (e *RefusedError) Error() string { return "refused: " + e.Reason }

// AnswerError is a request that the owner of the run did not carry out.
type AnswerError struct {
	Kind    task.ErrorKind
	Message string
}

func (e *AnswerError) Error() string { return e.Message }

// UsurpedError reports a run whose socket was replaced by an agent of the run.
type UsurpedError struct{ Pid int } // of the listening process

func (e *UsurpedError) Error() string {
	return fmt.Sprintf("its control socket was replaced: process %d, which listens there, is an agent's", e.Pid)
}

// Hint returns the way out.
func (e *UsurpedError) Hint() string {
	return "end the run by a SIGTERM to the process that runs it"
}

// Client is another process's end of a run's control socket. A single goroutine
// uses it at a time.
type Client struct {
	run    string
	secret string
	conn   *net.UnixConn
	lines  *bufio.Reader
}

// Dial connects to the owner of a run. Where there is none it is a
// [*GoneError].
func Dial(ctx context.Context, run *store.Run, getenv func(string) string) (*Client, error) {
	var unsafe error
	for _, dir := range foldersOf(run, getenv) {
		path, err := socket(dir, run)
		if err == nil {
			err = inspect(dir)
		}
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			unsafe = errors.Join(unsafe, err)
			continue
		}
		c, err := dial(ctx, path, run)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("reach the owner of run %s: %w", run.ID, err)
		}
		return c, nil
	}
	// A folder that is not ours matters only where a run should be there.
	if unsafe != nil && run.Live() {
		return nil, unsafe
	}
	return nil, &GoneError{Run: run.ID}
}

func dial(ctx context.Context, path string, run *store.Run) (*Client, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	c := conn.(*net.UnixConn)
	p, err := peerOf(c)
	if err != nil || p.uid != os.Getuid() {
		return nil, errors.Join(fmt.Errorf("%s is not served by this user", path), err, c.Close())
	}
	// An agent may be able to write to the socket's folder, and could listen
	// there for messages and typed text.
	if belowUs(p.pid) || proc.SupervisedAt(p.pid, run.ID) {
		if err := c.Close(); err != nil {
			return nil, err
		}
		return nil, &UsurpedError{Pid: p.pid}
	}
	// The owner wrote it before it listened.
	secret, err := readSecret(run)
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return &Client{run: run.ID, secret: secret, conn: c, lines: bufio.NewReaderSize(c, maxLine)}, nil
}

// Close ends the connection.
func (c *Client) Close() error { return c.conn.Close() }

// Ping answers the pid of the run's owner.
func (c *Client) Ping(ctx context.Context) (int, error) {
	r, err := c.ask(ctx, &Ping{})
	return r.Pid, err
}

// Ask has a request carried out. It sets the field Told of an [*Answer].
func (c *Client) Ask(ctx context.Context, r Request) error {
	got, err := c.ask(ctx, r)
	if a, ok := r.(*Answer); ok {
		a.Told = got.Told
	}
	return err
}

// Attach joins the terminal of an agent. The client is of no more use: the
// stream has its connection, and must be closed.
func (c *Client) Attach(ctx context.Context, r *Attach) (*Stream, error) {
	if _, err := c.ask(ctx, r); err != nil {
		return nil, err
	}
	if err := c.conn.SetDeadline(time.Time{}); err != nil {
		return nil, err
	}
	return &Stream{conn: c.conn, lines: c.lines}, nil
}

// ask sends a request and reads the reply to its last line. After an error
// other than an [*AnswerError] the connection is of no more use. Once ctx has
// ended ask sends nothing: the request would be carried out without a reader of
// its result.
func (c *Client) ask(ctx context.Context, r Request) (reply, error) {
	if ctx.Err() != nil {
		return reply{}, context.Cause(ctx)
	}
	lines, err := encodeLines(r, c.secret)
	if err != nil {
		return reply{}, err
	}
	var got reply
	for _, line := range lines {
		if got, err = c.exchange(ctx, line); err != nil {
			return reply{}, err
		}
	}
	return got, nil
}

// exchange sends a line and reads the reply to it.
func (c *Client) exchange(ctx context.Context, line []byte) (reply, error) {
	if len(line) > maxLine {
		return reply{}, &AnswerError{Kind: task.Invalid, Message: fmt.Sprintf("a request has at most %d bytes", maxLine)}
	}
	if err := c.conn.SetDeadline(time.Now().Add(carryOut + patience)); err != nil {
		return reply{}, err
	}
	unhook := context.AfterFunc(ctx, func() { _ = c.conn.SetDeadline(time.Now()) })
	defer unhook()
	// A server that refuses has said so and gone before we write: its words
	// are read all the same.
	_, werr := c.conn.Write(line)
	text, err := c.lines.ReadSlice('\n')
	if err != nil {
		return reply{}, c.broken(ctx, errors.Join(werr, err))
	}
	got, err := decodeReply(text)
	switch {
	case err != nil:
		return reply{}, err
	case got.OK && got.Run != c.run:
		return reply{}, fmt.Errorf("run %s answered for run %s", got.Run, c.run)
	case got.OK:
		return got, nil
	case got.Error.Kind == task.Refused:
		return reply{}, &RefusedError{Reason: got.Error.Message}
	default:
		return reply{}, &AnswerError{Kind: got.Error.Kind, Message: got.Error.Message}
	}
}

// broken tells a caller who left from an owner who did.
func (c *Client) broken(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("run %s does not answer: %w", c.run, err)
	}
	return &GoneError{Run: c.run}
}
