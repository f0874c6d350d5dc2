package proc

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// QueryRequest is a program that is asked something it answers at once, such
// as its version.
type QueryRequest struct {
	Argv []string // required
	Env  []string // the whole environment
	Dir  string   // required
	// Most is the number of bytes that are kept of an answer; 0: 16 KiB.
	Most int
}

// querySize is the default limit of a kept answer, in bytes.
const querySize = 16 << 10

// Query runs a program without any input and returns the beginning of its
// output, from both streams. The program has a group of its own, which is
// killed once it has answered or ctx ends.
func Query(ctx context.Context, r QueryRequest) (string, error) {
	path, err := find(r.Argv[0], r.Dir, r.Env)
	if err != nil {
		return "", fmt.Errorf("ask %s: %w", r.Argv[0], err)
	}
	near, far, err := os.Pipe()
	if err != nil {
		return "", fmt.Errorf("ask %s: %w", r.Argv[0], err)
	}
	defer near.Close()
	said := &beginning{most: cmp.Or(r.Most, querySize)}
	cmd := exec.CommandContext(ctx, path, r.Argv[1:]...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = r.Env, r.Dir, far, far
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	end := func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.Cancel = end
	err = cmd.Start()
	_ = far.Close() // ours; the program has its own
	if err == nil {
		var heard sync.WaitGroup
		heard.Go(func() { Drain(near, said) })
		err = cmd.Wait()
		_ = end() // ESRCH where nothing was left
		// A process that has left the group may hold the streams open.
		_ = near.SetReadDeadline(time.Now().Add(queryDelay))
		heard.Wait()
	}
	switch {
	case ctx.Err() != nil:
		return "", fmt.Errorf("ask %s: %w", r.Argv[0], context.Cause(ctx))
	case err != nil:
		return string(said.text), fmt.Errorf("ask %s: %w", r.Argv[0], err)
	}
	return string(said.text), nil
}

// queryDelay bounds the time that streams may stay open once all processes of
// the query are gone.
const queryDelay = 100 * time.Millisecond

// Drainable is an end that somebody is heard at: a pipe, or a [Screen].
type Drainable interface {
	io.Reader
	SyscallConn() (syscall.RawConn, error)
}

// Drain reads to the end, or until the deadline of reads, and then takes the
// bytes that are already there. On a busy machine, or with a slow receiver, the
// deadline may pass before this goroutine runs.
func Drain(near Drainable, to io.Writer) {
	_, _ = io.Copy(to, near) // an error is an end, too
	raw, err := near.SyscallConn()
	if err != nil {
		return
	}
	buf := make([]byte, 4<<10)
	for range rest / len(buf) { // somebody may go on to write
		n := 0
		err := raw.Control(func(fd uintptr) { n, _ = syscall.Read(int(fd), buf) })
		if err != nil || n <= 0 {
			return
		}
		_, _ = to.Write(buf[:n]) // a receiver that takes no more has lost nothing else
	}
}

// beginning keeps the first bytes written to it, up to most.
type beginning struct {
	text []byte
	most int
}

func (b *beginning) Write(p []byte) (int, error) {
	b.text = append(b.text, p[:min(len(p), b.most-len(b.text))]...)
	return len(p), nil
}
