package proc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"syscall"
	"time"
)

// QueryRequest is a program that is asked something it answers at once, such
// as its version.
type QueryRequest struct {
	Argv []string // required
	Env  []string // the whole environment
	Dir  string   // required
	// Most is how much of an answer is kept, in bytes; 0: 16 KiB.
	Most int
}

// querySize is how much of an answer is kept where nobody says, in bytes.
const querySize = 16 << 10

// Query runs a program without any input and returns the beginning of what it
// says, on either stream. It has a group of its own, which is killed once it
// has answered or ctx ends.
func Query(ctx context.Context, r QueryRequest) (string, error) {
	path, err := find(r.Argv[0], r.Dir, r.Env)
	if err != nil {
		return "", fmt.Errorf("ask %s: %w", r.Argv[0], err)
	}
	said := &beginning{most: cmp.Or(r.Most, querySize)}
	cmd := exec.CommandContext(ctx, path, r.Argv[1:]...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = r.Env, r.Dir, said, said
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	// Whatever it leaves behind holds its streams open.
	end := func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.Cancel, cmd.WaitDelay = end, 100*time.Millisecond
	err = cmd.Run()
	if cmd.Process != nil {
		_ = end() // ESRCH where nothing was left
	}
	switch {
	case ctx.Err() != nil:
		return "", fmt.Errorf("ask %s: %w", r.Argv[0], context.Cause(ctx))
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		return string(said.text), fmt.Errorf("ask %s: %w", r.Argv[0], err)
	}
	return string(said.text), nil
}

// beginning keeps the first part of what is written to it.
type beginning struct {
	text []byte
	most int
}

func (b *beginning) Write(p []byte) (int, error) {
	b.text = append(b.text, p[:min(len(p), b.most-len(b.text))]...)
	return len(p), nil
}
