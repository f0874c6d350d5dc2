package git

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// catFile is a `git cat-file --batch` that answers as long as it is asked.
type catFile struct{ *talk }

// catFile starts the process.
func (q *Quarantine) catFile(ctx context.Context) (*catFile, error) {
	t, err := q.talk(ctx, Cmd{Args: []string{"cat-file", "--batch"}})
	return &catFile{talk: t}, err
}

// talk is a git that answers as long as it is asked.
type talk struct {
	in     *os.File
	pipe   *io.PipeReader
	out    *bufio.Reader // of pipe
	stop   context.CancelCauseFunc
	ended  chan error
	broken bool // the next bytes are not the start of an answer
}

// talk starts a git. It outlives ctx, which is the first question's
// alone: each question ends it for itself, and close ends it for good.
func (q *Quarantine) talk(ctx context.Context, cmd Cmd) (*talk, error) {
	// A pipe of the system: os/exec would wait for ever on a reader of ours
	// that nothing comes from, after the process is gone.
	inR, inW, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start git %s: %w", cmd.Args[0], err)
	}
	ctx, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	outR, outW := io.Pipe()
	c := &talk{
		in: inW, pipe: outR, out: bufio.NewReader(outR),
		stop: stop, ended: make(chan error, 1),
	}
	go func() {
		cmd.Stdin, cmd.Stdout = inR, outW
		_, err := q.Run(ctx, cmd)
		err = errors.Join(err, inR.Close())
		outW.CloseWithError(err)
		c.ended <- err
	}()
	return c, nil
}

// close ends the process and waits for it. How it ended does not matter to
// those who have their answers.
func (c *talk) close() error {
	err := c.in.Close()
	if errors.Is(err, os.ErrClosed) {
		err = nil // it was told already that no more is asked
	}
	if c.broken {
		// It may be in the middle of an answer that is not read.
		err = errors.Join(err, c.pipe.Close())
		c.stop(errors.New("no more is asked"))
	} else {
		_, _ = io.Copy(io.Discard, c.out) // the end of the last answer
	}
	_ = <-c.ended // git is not asked any more
	c.stop(nil)
	return err
}

// object reads an object.
func (c *catFile) object(ctx context.Context, w want) ([]byte, error) {
	defer c.asking(ctx)()
	if _, err := io.WriteString(c.in, string(w.id)+"\n"); err != nil {
		return nil, c.why(ctx, err)
	}
	head, err := c.out.ReadString('\n')
	if err != nil {
		return nil, c.why(ctx, err)
	}
	kind, size, err := parseBatchHead(head)
	if err != nil {
		return nil, err
	}
	if kind == "" {
		c.broken = false
		return nil, &MissingObjectError{ID: w.id}
	}
	body := io.LimitReader(c.out, size)
	raw, bad := w.take(kind, size, body)
	if _, err := io.Copy(io.Discard, body); err != nil {
		return nil, c.why(ctx, err)
	}
	if _, err := c.out.Discard(1); err != nil {
		return nil, c.why(ctx, err)
	}
	c.broken = false
	return raw, bad
}

// asking begins a request; the returned function ends it. A caller that read
// the complete answer resets broken.
func (c *talk) asking(ctx context.Context) (done func()) {
	unhook := context.AfterFunc(ctx, func() { c.stop(context.Cause(ctx)) })
	c.broken = true
	return func() {
		// An answer that came just before the end is good; no other comes.
		c.broken = !unhook() || c.broken
	}
}

func (c *talk) why(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// parseBatchHead reads "<id> <type> <size>\n" or "<id> missing\n"; for the
// latter kind is empty.
func parseBatchHead(head string) (kind string, size int64, err error) {
	f := strings.Fields(head)
	switch {
	case len(f) == 2 && f[1] == "missing":
		return "", 0, nil
	case len(f) == 3:
		size, err = strconv.ParseInt(f[2], 10, 64)
		if err == nil && size >= 0 {
			return f[1], size, nil
		}
	}
	return "", 0, fmt.Errorf("git cat-file: unexpected answer %q", head)
}
