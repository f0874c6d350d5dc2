package cmdline

import (
	"context"
	"errors"
	"io"
	"os"
)

// Input is standard input for reads in this process: a read ends with the
// command. A person who presses Ctrl-C at a question types no line that would
// end the read.
func Input(env Env) io.Reader {
	file, ok := env.Stdin.(interface{ Fd() uintptr })
	if !ok || env.Over == nil {
		return env.Stdin
	}
	return &input{Reader: env.Stdin, fd: int(file.Fd()), over: env.Over}
}

type input struct {
	io.Reader
	fd   int
	over <-chan struct{}
}

func (r *input) Read(p []byte) (int, error) {
	ready, err := r.await()
	switch {
	case err != nil:
		return 0, err
	case !ready:
		return 0, context.Canceled
	}
	return r.Reader.Read(p)
}

// await waits until a read would not wait; false where the command is over
// first.
func (r *input) await() (ready bool, err error) {
	wake, woken, err := os.Pipe()
	if err != nil {
		return false, err
	}
	enough, gone := make(chan struct{}), make(chan struct{})
	var werr error
	go func() {
		defer close(gone)
		select {
		case <-r.over:
		case <-enough:
		}
		werr = woken.Close()
	}()
	ready, err = AwaitInput(r.fd, int(wake.Fd()))
	close(enough)
	<-gone
	return ready, errors.Join(err, werr, wake.Close())
}
