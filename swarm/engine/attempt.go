package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/event"
	"agentswarm/swarm/proc"
	"agentswarm/swarm/task"
	"agentswarm/worktree"
	"agentswarm/worktree/git"
)

// attempt is one try of one agent. It belongs to one goroutine.
type attempt struct {
	engine *Engine
	id     task.ID
	n      int
	call   *task.Call
	began  time.Time
	last   bool // no further try follows one that could not be started

	dir      string // of its files
	spec     *agent.Spec
	space    *worktree.Workspace
	captured *worktree.Capture
	freed    func() // the disk its workspace was admitted for
	pids     []int  // of its supervisors
	work     task.Work
}

// ending is how an attempt ended, for the loop.
type ending struct {
	result task.Result
	retry  bool  // it could not be started, and may be next time
	err    error // swarm's own failure
}

// run is the attempt's life up to its result. The workspace is still there
// when it returns.
func (t *attempt) run(ctx context.Context) ending {
	t.work = task.Work{Attempts: t.n, Started: t.began}
	t.freed = func() {}
	if err := t.prepare(); err != nil {
		return t.broken(err)
	}
	if end := t.lease(ctx); end != nil {
		return *end
	}
	if end := t.setup(ctx); end != nil {
		return t.captureAfter(ctx, *end)
	}
	outcome, end := t.live(ctx)
	if end != nil {
		return t.captureAfter(ctx, *end)
	}
	if err := t.capture(ctx); err != nil {
		return t.captureFailed(err)
	}
	return t.judge(ctx, outcome)
}

// prepare makes the attempt's folder and finds its agent.
func (t *attempt) prepare() error {
	t.dir = t.engine.deps.Run.Attempt(t.id, t.n)
	if err := os.MkdirAll(filepath.Join(t.dir, "artifacts"), 0o700); err != nil {
		return err
	}
	if name := t.call.Agent; name != "" && t.engine.config.Agents[name] == nil {
		return fmt.Errorf("agent %q is not recorded with the run", name)
	}
	t.spec = SpecOf(t.engine.config, t.call)
	t.work.OutputFile = filepath.Join(t.dir, "stdout")
	return os.WriteFile(filepath.Join(t.dir, "prompt"), []byte(task.Prompt(t.call.Input)), 0o600)
}

// lease makes the workspace. The intention is journaled first, so that a
// crash in between leaves nothing nobody knows of.
func (t *attempt) lease(ctx context.Context) *ending {
	e := t.engine
	size, err := e.deps.Workspaces.Footprint(ctx, git.Hash(t.call.Base))
	if err != nil {
		return t.notStarted(ctx, err)
	}
	filled, freed, err := e.deps.Disk.Admit(ctx, size)
	if err != nil {
		return t.notStarted(ctx, err)
	}
	t.freed = freed
	defer filled()
	name := task.AttemptName(t.id, t.n)
	request := worktree.LeaseRequest{
		Name: name, Base: git.Hash(t.call.Base), Saved: filepath.Join(t.dir, "index"),
	}
	intended := &event.Leased{
		Agent: t.id, Attempt: t.n, Backend: "worktree", Base: t.call.Base,
		Dir: filepath.Join(e.deps.Run.State().Trees(e.deps.Run.ID), name), Index: request.Saved,
	}
	if err := t.journal(intended); err != nil {
		end := t.broken(err)
		return &end
	}
	space, err := e.deps.Workspaces.Lease(ctx, request)
	if err != nil {
		return t.notStarted(ctx, err)
	}
	t.space = space
	if err := t.journal(leased(t.id, t.n, space)); err != nil {
		end := t.broken(err)
		return &end
	}
	return nil
}

func leased(id task.ID, n int, w *worktree.Workspace) *event.Leased {
	return &event.Leased{
		Agent: id, Attempt: n, Backend: "worktree", Base: string(w.Base),
		Dir: w.Dir, Admin: w.Admin, Index: w.Index,
	}
}

// notStarted is the end of an attempt whose agent never ran: it was
// cancelled, or something was missing that may be there next time.
func (t *attempt) notStarted(ctx context.Context, err error) *ending {
	t.work.Ended = t.engine.deps.Now()
	if ctx.Err() != nil {
		h := haltOf(ctx)
		return &ending{result: &task.Cancelled{Work: t.work, Cause: h.Cause, Reason: h.Reason}}
	}
	end := ending{result: &task.Failed{Work: t.work, Kind: task.StartFailed, Reason: err.Error()}}
	var start *proc.StartError
	if errors.As(err, &start) && start.Temporary && !t.last {
		end.retry = true
		if jerr := t.journal(&event.Retried{
			Agent: t.id, Attempt: t.n, Error: task.StartFailed, Reason: err.Error(),
		}); jerr != nil {
			end.err = jerr
		}
	}
	return &end
}

// live runs the agent itself.
func (t *attempt) live(ctx context.Context) (*agent.Outcome, *ending) {
	e := t.engine
	env, err := agent.Environ(e.deps.Environ, t.spec, t.place())
	if err != nil {
		return nil, t.notStarted(ctx, err)
	}
	adapter := e.deps.Adapters[t.spec.Kind]
	if adapter == nil {
		return nil, t.notStarted(ctx, fmt.Errorf("no adapter drives agents of kind %q", t.spec.Kind))
	}
	life := agent.Life{
		Launcher: e.deps.Launcher, Adapter: adapter, Spec: t.spec,
		Request: agent.Request{
			Spec: t.spec, Prompt: task.Prompt(t.call.Input),
			PromptFile: filepath.Join(t.dir, "prompt"), Command: t.call.Command,
		},
		Run: e.deps.Run.ID, Dir: t.space.Dir, Env: env,
		Walls: e.deps.Walls, Stdout: t.work.OutputFile, Stderr: filepath.Join(t.dir, "stderr"),
		Started: t.started("agent"),
	}
	outcome, err := life.Live(ctx)
	if err != nil {
		return nil, t.notStarted(ctx, err)
	}
	t.work.Ended = e.deps.Now()
	t.work.Usage = outcome.Usage
	if outcome.Exit.Reason == proc.StartFailed {
		err := &proc.StartError{Err: errors.New(outcome.Exit.Text), Temporary: outcome.Exit.Temporary}
		return nil, t.notStarted(ctx, err)
	}
	if err := t.journal(t.endedEvent(outcome)); err != nil {
		end := t.broken(err)
		return nil, &end
	}
	return outcome, nil
}

func (t *attempt) endedEvent(o *agent.Outcome) *event.Ended {
	x := o.Exit
	ended := &event.Ended{
		Agent: t.id, Attempt: t.n, Code: x.Code, Signal: x.Signal, Reason: x.Text,
		Left: x.Left, Stdout: x.StdoutBytes, Stderr: x.StderrBytes,
		CPU: x.CPU.Milliseconds(), MaxRSS: x.MaxRSS, Error: o.Limit,
	}
	if x.Reason == proc.Lost {
		ended.Error = task.Lost
	}
	return ended
}

// started journals a supervisor's identity before anything is done with it.
func (t *attempt) started(step string) func(int, uint64) error {
	return func(pid int, start uint64) error {
		t.engine.live.add(pid)
		t.pids = append(t.pids, pid)
		return t.journal(&event.Started{
			Agent: t.id, Attempt: t.n, Step: step, Pid: pid, Start: start,
		})
	}
}

func (t *attempt) place() agent.Place {
	return agent.Place{
		Run: t.engine.deps.Run.ID, Agent: t.id, Attempt: t.n, Item: t.call.Item,
		Worktree: t.space.Dir, Root: t.engine.deps.Root, Base: t.call.Base,
		Artifacts: filepath.Join(t.dir, "artifacts"),
	}
}

// judge turns an outcome and its captured work into a result.
func (t *attempt) judge(ctx context.Context, o *agent.Outcome) ending {
	changed := t.captured.Changed
	ok, kind, reason := o.Judge(t.spec, changed)
	t.work.Output = answerOf(o)
	switch {
	case o.Stopped != nil:
		h := haltOf(ctx)
		return ending{result: &task.Cancelled{Work: t.work, Cause: h.Cause, Reason: h.Reason}}
	case !ok:
		return ending{result: &task.Failed{Work: t.work, Kind: kind, Reason: t.because(kind, reason)}}
	}
	done := &task.Completed{Answer: t.work.Output}
	if changed && t.engine.config.Verify != "" {
		verified, err := t.verify(ctx)
		switch {
		case err != nil && ctx.Err() != nil:
			h := haltOf(ctx)
			return ending{result: &task.Cancelled{Work: t.work, Cause: h.Cause, Reason: h.Reason}}
		case err != nil:
			return ending{result: &task.Failed{
				Work: t.work, Kind: task.Other, Reason: "its check could not be run: " + err.Error(),
			}}
		}
		done.Verified = &verified
	}
	done.Work = t.work
	return ending{result: done}
}

// because adds the last thing an agent said on stderr to an exit status.
func (t *attempt) because(kind task.ErrorKind, reason string) string {
	if kind != task.Other {
		return reason
	}
	if line := lastLine(filepath.Join(t.dir, "stderr")); line != "" {
		return reason + ": " + line
	}
	return reason
}

// answerOf is the text of an outcome that a result carries along.
func answerOf(o *agent.Outcome) string {
	if o.Answer == nil {
		return ""
	}
	return tail(o.Answer.Text, task.OutputLimit)
}

func (t *attempt) broken(err error) ending {
	return ending{err: fmt.Errorf("agent %s, attempt %d: %w", t.id, t.n, err)}
}

func (t *attempt) journal(ev event.Event) error {
	_, err := t.engine.deps.Journal.Append(ev)
	if err != nil {
		return fmt.Errorf("journal %s: %w", event.Kind(ev), err)
	}
	return nil
}
