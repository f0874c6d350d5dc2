package proc

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"syscall"
)

// The files of a process that runs [BecomeCommand], besides its streams.
const (
	permitFile  = 3 // a byte arrives once its identity is recorded
	refusalFile = 4 // the number of the error, if the command cannot be run
)

// startRecorded starts the command of a request so that none of it runs before
// Started has returned. This process may be killed in between, and then the
// command would run on without a record.
func startRecorded(cmd *exec.Cmd, r *ForegroundRequest) error {
	permitted, permit, err := os.Pipe()
	if err != nil {
		return err
	}
	defer permit.Close()
	refusal, refused, err := os.Pipe()
	if err != nil {
		return errors.Join(err, permitted.Close())
	}
	defer refusal.Close()
	cmd.Args = slices.Concat(r.Waiter, []string{cmd.Path}, cmd.Args)
	cmd.Path = r.Waiter[0]
	cmd.ExtraFiles = []*os.File{permitted, refused}
	if err := errors.Join(cmd.Start(), permitted.Close(), refused.Close()); err != nil {
		return err
	}
	row, _ := look(cmd.Process.Pid) // not waited for yet: it is there
	if err := r.Started(cmd.Process.Pid, row.start); err != nil {
		return errors.Join(err, permit.Close(), cmd.Process.Kill(), reap(cmd))
	}
	_, err = permit.Write([]byte{0})
	text, rerr := io.ReadAll(refusal)
	if err := cmp.Or(err, rerr); err != nil {
		return errors.Join(err, cmd.Process.Kill(), reap(cmd))
	}
	if len(text) == 0 {
		return nil // closed by execve
	}
	number, err := strconv.Atoi(string(text))
	if err != nil {
		return errors.Join(fmt.Errorf("start %s: %w", r.Argv[0], err), reap(cmd))
	}
	if err := reap(cmd); err != nil {
		return err
	}
	return &CommandError{Err: fmt.Errorf("command %s: %v", r.Argv[0], syscall.Errno(number))}
}

// BecomeCommand is the body of a process that waits until its identity is
// recorded and then becomes the command in args: a path and the words of the
// command line. It returns only where that fails; the code is its exit code.
func BecomeCommand(args []string) int {
	permit, refusal := os.NewFile(permitFile, "permit"), os.NewFile(refusalFile, "refusal")
	syscall.CloseOnExec(permitFile)
	syscall.CloseOnExec(refusalFile)
	if len(args) < 2 {
		return 2
	}
	if n, _ := permit.Read(make([]byte, 1)); n == 0 {
		return 1 // the process that would have recorded it is gone
	}
	err := syscall.Exec(args[0], args[1:], os.Environ())
	var number syscall.Errno
	if errors.As(err, &number) {
		_, _ = refusal.WriteString(strconv.Itoa(int(number))) // its reader waits, or is gone
	}
	return 126
}
