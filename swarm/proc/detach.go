package proc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"syscall"
)

// DetachRequest starts a process that outlives us.
type DetachRequest struct {
	Binary string // required
	Args   []string
	Dir    string // required
	Env    []string
	// FDVar is the variable that tells it on which descriptor it is to
	// report that it has begun.
	FDVar string // required
	Log   *os.File
	Stdin *os.File // nil is /dev/null
}

// detachedFD is the descriptor of the report in the detached process: the
// first after standard input, output and error.
const detachedFD = 3

// Detach starts a process in a session of its own, with no terminal, and does
// not wait for its end. It returns the bytes that the process writes to the
// pipe before it closes it.
func Detach(ctx context.Context, r DetachRequest) ([]byte, error) {
	near, far, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("detach: %w", err)
	}
	defer near.Close()
	cmd := exec.Command(r.Binary, r.Args...) // it outlives us
	cmd.Dir = r.Dir
	cmd.Env = append(slices.Clone(r.Env), r.FDVar+"="+strconv.Itoa(detachedFD))
	cmd.Stdout, cmd.Stderr = r.Log, r.Log
	if r.Stdin != nil {
		cmd.Stdin = r.Stdin
	}
	cmd.ExtraFiles = []*os.File{far}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = cmd.Start()
	_ = far.Close() // ours; the child has its own
	if err != nil {
		return nil, fmt.Errorf("detach: %w", err)
	}
	// Taken now: once released the process has no number any more.
	group, told := -cmd.Process.Pid, make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(told)
		// The caller stops listening, so the process must not begin.
		_ = syscall.Kill(group, syscall.SIGTERM)
	})
	report, err := io.ReadAll(near)
	if !stop() {
		<-told
	}
	return report, errors.Join(err, cmd.Process.Release())
}

// ReportPipe opens the descriptor that a [DetachRequest] named, so that no
// child inherits it.
func ReportPipe(fd string) (*os.File, error) {
	n, err := strconv.Atoi(fd)
	if err != nil || n != detachedFD {
		return nil, fmt.Errorf("report of a detached process: %q is no descriptor of ours", fd)
	}
	syscall.CloseOnExec(n)
	return os.NewFile(uintptr(n), "report"), nil
}
