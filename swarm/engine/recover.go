package engine

import (
	"context"
	"fmt"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/event"
	"agentswarm/swarm/proc"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree"
	"agentswarm/worktree/git"
)

// Recover puts a run in order whose owner ended without a word: what still
// lives of it is killed, every workspace is captured and let go, every agent
// that had not settled does, and the run is closed as stopped.
//
// It starts no agent and runs nothing of the user's. It may itself be killed
// at any point and done again.
func Recover(ctx context.Context, d Deps, c Config, v *store.View) error {
	for _, a := range v.Agents {
		for _, s := range a.Supervisors {
			if _, err := proc.KillOrphan(ctx, s.Pid, s.Start); err != nil {
				return fmt.Errorf("end what was left of %s: %w", a.ID, err)
			}
		}
	}
	if _, err := proc.Sweep(ctx, v.Identity.Run); err != nil {
		return fmt.Errorf("end what was left of run %s: %w", v.Identity.Run, err)
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(max(1, d.Cores))
	for _, a := range v.Agents {
		group.Go(func() error { return recoverAgent(groupCtx, d, c, v, a) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	if v.Status != store.RunStopped || !v.Died {
		return nil
	}
	_, err := d.Journal.Append(&event.Closed{
		Status: string(store.RunStopped), Reason: v.Reason, Code: 1,
	})
	return err
}

// recoverAgent captures what the attempts of one agent left.
func recoverAgent(ctx context.Context, d Deps, c Config, v *store.View, a *store.Agent) error {
	captured := a.Captured
	for _, l := range a.Leases {
		w := worktree.Workspace{
			Name: task.AttemptName(a.ID, l.Attempt), Dir: l.Dir, Admin: l.Admin,
			Base: git.Hash(l.Base), Index: l.Index,
		}
		if l.Admin == "" {
			// It was journaled before it was made; no agent has seen it.
			if err := dropUnmade(ctx, d, a, l, w); err != nil {
				return err
			}
			continue
		}
		kept, err := d.Workspaces.Capture(ctx, captureRequest(d, a.ID, l.Attempt, a.Call, w))
		if err != nil {
			d.Log.Warn("capture what was left", "agent", a.ID, "attempt", l.Attempt, "workspace", w.Dir, "error", err)
			if err := settleLost(d, c, v, a, nil, &task.Failed{
				Kind:   task.CaptureFailed,
				Reason: fmt.Sprintf("%v; its workspace is kept at %s", err, w.Dir),
			}); err != nil {
				return err
			}
			continue
		}
		record := capturedEvent(a.ID, l.Attempt, w, kept)
		if _, err := d.Journal.Append(record); err != nil {
			return err
		}
		if l.Attempt == a.Attempt {
			captured = record
		}
		if err := settleLost(d, c, v, a, captured, nil); err != nil {
			return err
		}
		if err := release(ctx, d, a.ID, l.Attempt, w, kept); err != nil {
			return fmt.Errorf("release %s: %w", w.Name, err)
		}
	}
	if len(a.Leases) == 0 && a.Attempt > 0 {
		return settleLost(d, c, v, a, captured, nil)
	}
	return nil
}

// dropUnmade takes away what there is of a workspace whose making was cut
// off.
func dropUnmade(ctx context.Context, d Deps, a *store.Agent, l *event.Leased, w worktree.Workspace) error {
	if err := d.Workspaces.Drop(ctx, w); err != nil {
		return err
	}
	_, err := d.Journal.Append(&event.Released{Agent: a.ID, Attempt: l.Attempt})
	return err
}

// settleLost settles an agent that had not, with the given result or with
// what its records say. An agent that never began stays queued.
func settleLost(d Deps, c Config, v *store.View, a *store.Agent, kept *event.Captured, r task.Result) error {
	if a.Result() != nil || a.Attempt == 0 {
		return nil
	}
	if r == nil {
		r = lostResult(d, c, v, a, kept)
	}
	work := r.Done()
	work.Attempts, work.Started = a.Attempts, a.Started
	work.Ended = d.Now()
	work.OutputFile = filepath.Join(d.Run.Attempt(a.ID, a.Attempt), "stdout")
	if kept != nil {
		applyCapture(work, kept)
	}
	_, err := d.Journal.Append(&event.Settled{Agent: a.ID, Attempt: a.Attempt, Result: r})
	a.Status = r
	return err
}

// lostResult is how an agent ended as far as its records tell. One that had
// ended well by itself is completed: nobody pays for it twice.
func lostResult(d Deps, c Config, v *store.View, a *store.Agent, kept *event.Captured) task.Result {
	switch {
	case a.ByName():
		return &task.Cancelled{Cause: a.Cancel.Cause, Reason: a.Cancel.Reason}
	case v.Stop != nil:
		return &task.Cancelled{Cause: v.Stop.Cause, Reason: v.Stop.Reason}
	case a.Exit == nil:
		return &task.Failed{Kind: task.Lost, Reason: "swarm ended while it ran"}
	}
	spec := SpecOf(c, a.Call)
	out := &agent.Outcome{Limit: limitOf(a.Exit.Error), Exit: proc.Exit{
		Reason: proc.Exited, Code: a.Exit.Code, Signal: a.Exit.Signal, StdoutBytes: a.Exit.Stdout,
	}}
	adapter := d.Adapters[spec.Kind]
	stdout := filepath.Join(d.Run.Attempt(a.ID, a.Attempt), "stdout")
	if adapter == nil || agent.Reread(adapter, spec, stdout, out) != nil {
		return &task.Failed{Kind: task.Lost, Reason: "swarm ended before its answer was read"}
	}
	if a.Exit.Error == task.Lost {
		out.Exit.Reason = proc.Lost
	}
	changed := kept != nil && kept.Patch != nil
	ok, kind, reason := out.Judge(spec, changed)
	switch {
	case !ok:
		return &task.Failed{Kind: kind, Reason: reason, Work: task.Work{Usage: out.Usage}}
	case changed && c.Verify != "" && a.Checked == nil:
		return &task.Failed{Kind: task.Lost, Reason: unchecked, Work: task.Work{Usage: out.Usage}}
	}
	done := &task.Completed{Answer: answerOf(out), Work: task.Work{Usage: out.Usage}}
	done.Output = done.Answer
	if a.Checked != nil {
		done.Verified, done.Check = &a.Checked.OK, a.Checked.Output
	}
	return done
}

// unchecked is said of an agent that ended well before swarm could check its
// work. A resume runs the check alone.
const unchecked = "swarm ended before its work was checked"

// limitOf is the time limit among the errors an end can be journaled with.
func limitOf(k task.ErrorKind) task.ErrorKind {
	if k == task.Timeout || k == task.IdleTimeout {
		return k
	}
	return ""
}

// SpecOf is the agent of a call, with the limits of the run.
func SpecOf(c Config, call *task.Call) *agent.Spec {
	spec := agent.Inline()
	if named := c.Agents[call.Agent]; call.Agent != "" && named != nil {
		copied := *named
		spec = &copied
	}
	if spec.Timeout == 0 {
		spec.Timeout = c.Timeout
	}
	if spec.IdleTimeout == 0 {
		spec.IdleTimeout = c.IdleTimeout
	}
	return spec
}
