package proc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// Launcher knows how supervisors are started. It may be used by many
// goroutines at once and must not be changed after its first use.
type Launcher struct {
	// Binary is the program whose main calls Supervise when it gets Args.
	Binary string // required
	Args   []string
	// Attr makes the attributes of a supervisor, for example its namespaces. It
	// may be nil, and may return nil.
	Attr func() *syscall.SysProcAttr

	patience time.Duration // 0: patience; tests have less
}

// Start starts a supervisor and hands it the spec. The context bounds only the
// start; the process ends by itself, by Stop, by Kill, or together with this
// process. Start returns a *StartError if the supervisor cannot be started. If
// the command cannot be started, Wait reports it.
func (l *Launcher) Start(ctx context.Context, spec Spec) (*Process, error) {
	if err := spec.check(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	tag := newTag(spec.Run)
	line, err := encodeSpec(&spec, tag)
	if err != nil {
		return nil, err
	}
	near, far, err := openPipes(spec.Pipe)
	if err != nil {
		return nil, &StartError{Temporary: passes(err), Err: err}
	}
	if spec.Door != "" {
		if far.door, err = openDoor(spec.Door); err != nil {
			err = errors.Join(err, near.close(), far.close())
			return nil, &StartError{Temporary: passes(err), Err: err}
		}
	}
	var terminal *Terminal
	if spec.Terminal != nil {
		if terminal, far.stdin, err = openTerminal(&spec); err != nil {
			err = errors.Join(err, near.close(), far.close(), shutDoor(spec.Door))
			return nil, &StartError{Temporary: passes(err), Err: err}
		}
	}
	cmd := l.command(far)
	if err := errors.Join(cmd.Start(), far.close()); err != nil {
		err = errors.Join(err, near.close(), shutDoor(spec.Door))
		if terminal != nil {
			err = errors.Join(err, terminal.out.discard())
		}
		return nil, &StartError{Temporary: passes(err), Err: err}
	}
	p := &Process{
		cmd: cmd, near: near, tag: tag, terminal: terminal, door: spec.Door,
		patience: cmp.Or(l.patience, patience),
		output:   make(chan Progress, 1), done: make(chan struct{}),
	}
	// The child has not been waited for yet, so this number is still its own.
	if row, ok := look(cmd.Process.Pid); ok {
		p.start = row.start
	}
	if terminal != nil {
		terminal.begin(p)
	}
	go p.follow() // Wait waits for it.
	if err := p.reportStart(spec.Started); err != nil {
		return nil, err
	}
	if err := p.begin(ctx, line); err != nil {
		return nil, err
	}
	return p, nil
}

// reportStart reports the identity of the supervisor before it has a program to run.
// It ends the supervisor if the report fails.
func (p *Process) reportStart(started func(pid int, start uint64) error) error {
	if started == nil {
		return nil
	}
	err := started(p.Started())
	if err != nil {
		p.Kill()
		p.Wait()
	}
	return err
}

// begin hands the program to a supervisor. It ends a supervisor that does not
// take it.
func (p *Process) begin(ctx context.Context, line []byte) error {
	err := p.hand(ctx, line)
	if err == nil {
		return nil
	}
	p.Kill()
	if exit := p.Wait(); exit.Text != "" {
		err = errors.New(exit.Text)
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return &StartError{Err: err}
}

// command prepares the supervisor. Its environment holds nothing but the
// settings that keep a hundred of them small: secrets are none of its
// business. Its stderr is the report pipe, so that its last words arrive.
func (l *Launcher) command(far *pipes) *exec.Cmd {
	attr := &syscall.SysProcAttr{}
	if l.Attr != nil {
		if a := l.Attr(); a != nil {
			attr = a
		}
	}
	attr.Setsid = true
	cmd := &exec.Cmd{
		Path: l.Binary, Args: append([]string{l.Binary}, l.Args...),
		Env:         []string{"GOMAXPROCS=1", "GOGC=25"},
		Stderr:      far.report,
		ExtraFiles:  []*os.File{far.control, far.report},
		SysProcAttr: attr,
	}
	if far.stdin != nil || far.door != nil {
		cmd.ExtraFiles = append(cmd.ExtraFiles, far.stdin) // nil leaves a gap
	}
	if far.door != nil {
		cmd.ExtraFiles = append(cmd.ExtraFiles, far.door)
	}
	return cmd
}

// pipes are the pipe ends of the engine, or of the supervisor.
type pipes struct {
	control, report *os.File
	// stdin is nil without Spec.Pipe. With Spec.Terminal only the supervisor's
	// side has it: the agent's end of the terminal.
	stdin *os.File
	// door is nil without Spec.Door; the near side never has a door.
	door *os.File
}

func openPipes(withStdin bool) (near, far *pipes, err error) {
	near, far = &pipes{}, &pipes{}
	if far.control, near.control, err = os.Pipe(); err == nil {
		near.report, far.report, err = os.Pipe()
	}
	if err == nil && withStdin {
		far.stdin, near.stdin, err = os.Pipe()
	}
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("open pipes: %w", err), near.close(), far.close())
	}
	return near, far, nil
}

// close closes all open ends; an end that was closed before is no error.
func (p *pipes) close() error {
	var errs []error
	for _, f := range []*os.File{p.control, p.report, p.stdin, p.door} {
		if f == nil {
			continue
		}
		if err := f.Close(); !errors.Is(err, os.ErrClosed) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// hand writes the spec, which may be larger than a pipe, until ctx ends.
func (p *Process) hand(ctx context.Context, line []byte) error {
	stop := context.AfterFunc(ctx, func() {
		// A deadline in the past fails the write below; if it cannot be set
		// the write ends as soon as the supervisor reads or dies.
		_ = p.near.control.SetWriteDeadline(time.Unix(1, 0))
	})
	_, err := p.near.control.Write(line)
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("hand over the command: %w", err)
	}
	return nil
}
