package runcmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/plan"
	"agentswarm/swarm/cli/view"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/proc"
	"agentswarm/swarm/store"
)

// begun is the report of the detached half.
type begun struct {
	Run   string    `json:"run,omitempty"`
	Error string    `json:"error,omitempty"`
	Code  exit.Code `json:"code,omitempty"`
	Kind  string    `json:"kind,omitempty"`
	Hint  string    `json:"hint,omitempty"`
}

// DetachedError is why the detached half of a command has begun no run.
type DetachedError struct{ begun begun }

func (e *DetachedError) Error() string { return e.begun.Error }

// Hint is the hint of that half.
func (e *DetachedError) Hint() string { return e.begun.Hint }

// Kind is the word for its error in JSON.
func (e *DetachedError) Kind() string { return e.begun.Kind }

// ExitCode is the code it would have ended with.
func (e *DetachedError) ExitCode() int { return int(e.begun.Code) }

// detachRequest is the input of the detached half, and the form of the report
// about it.
type detachRequest struct {
	json  bool
	input []byte // standard input as this half has read it
}

// detach starts this very command again without the terminal, and returns
// once its run has begun.
func detach(ctx context.Context, p *cmdline.Place, r detachRequest) error {
	run, err := beginDetached(ctx, p, r.input)
	if err != nil {
		return err
	}
	if r.json {
		v, err := run.View()
		if err != nil {
			return err
		}
		return view.PrintResult(p, v, true)
	}
	fmt.Fprintf(p.Env.Stderr, "run %s continues; follow it with `%s wait %s`\n", run.ID, p.Env.Calls, run.ID)
	_, err = fmt.Fprintln(p.Env.Stdout, run.ID)
	return err
}

// beginDetached starts this very command again without the terminal. It returns
// its run, which has begun.
func beginDetached(ctx context.Context, p *cmdline.Place, typed []byte) (*store.Run, error) {
	self, err := p.Binary(p.Env.Self)
	if err != nil {
		return nil, err
	}
	if err := p.State.MakeDir(); err != nil {
		return nil, err
	}
	log, err := os.CreateTemp(p.State.Dir, "detached-*.log")
	if err != nil {
		return nil, fmt.Errorf("detach: %w", err)
	}
	defer log.Close()
	input, err := spool(p.State.Dir, typed)
	if err != nil {
		return nil, fmt.Errorf("detach: %w", err)
	}
	defer input.Close()
	report, err := proc.Detach(ctx, proc.DetachRequest{
		Binary: self, Args: p.Env.Args, Dir: p.Env.Dir, Env: p.Env.Environ,
		FDVar: plan.DetachedVar, Log: log, Stdin: input,
	})
	if err != nil {
		return nil, fmt.Errorf("detach: %w", err)
	}
	var b begun
	if err := json.Unmarshal(report, &b); err != nil {
		return nil, fmt.Errorf("the detached run ended before it began; see %s", log.Name())
	}
	if b.Error != "" {
		return nil, errors.Join(&DetachedError{begun: b}, os.Remove(log.Name()))
	}
	run, err := p.State.Run(b.Run)
	if err != nil {
		return nil, err
	}
	if err := os.Rename(log.Name(), run.Dir+"/detached.log"); err != nil {
		return nil, fmt.Errorf("detach: %w", err)
	}
	return run, nil
}

// spool is a file without a name that holds text, to be read from its start.
func spool(dir string, text []byte) (*os.File, error) {
	f, err := os.CreateTemp(dir, ".input-")
	if err != nil {
		return nil, err
	}
	_, werr := f.Write(text)
	_, serr := f.Seek(0, io.SeekStart)
	if err := errors.Join(werr, serr, os.Remove(f.Name())); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// report tells the waiting half the fate of the run. It is nil in a command
// that is not detached.
type report struct{ pipe io.WriteCloser }

// openReport takes the pipe over, so that no child inherits it.
func openReport(env cmdline.Env) (*report, error) {
	fd := env.Getenv(plan.DetachedVar)
	if fd == "" {
		return nil, nil
	}
	pipe, err := proc.ReportPipe(fd)
	if err != nil {
		return nil, err
	}
	return &report{pipe: pipe}, nil
}

// send reports once; later output goes to the log.
func (r *report) send(run string, failed error) error {
	if r == nil || r.pipe == nil {
		return nil
	}
	b := begun{Run: run}
	if failed != nil {
		b.Error, b.Code = failed.Error(), exit.CodeOf(failed)
		b.Kind, b.Hint = exit.KindOf(failed), exit.HintOf(failed)
	}
	text, err := json.Marshal(b)
	if err == nil {
		_, err = r.pipe.Write(text)
	}
	err = errors.Join(err, r.pipe.Close())
	r.pipe = nil
	return err
}
