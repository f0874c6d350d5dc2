package engine

import (
	"context"
	"path/filepath"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/event"
	"agentswarm/swarm/proc"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// endedEvent is how the process of an attempt ended, as the journal has it.
// [outcomeOf] is its inverse as far as a verdict needs it.
func endedEvent(ctx context.Context, id task.ID, n int, o *agent.Outcome) *event.Ended {
	x := o.Exit
	ended := &event.Ended{
		Agent: id, Attempt: n, Code: x.Code, Signal: x.Signal, Reason: x.Text,
		Left: x.Left, Stdout: x.StdoutBytes, Stderr: x.StderrBytes,
		CPU: x.CPU.Milliseconds(), MaxRSS: x.MaxRSS,
	}
	switch {
	case o.Stopped != nil:
		ended.Error = haltOf(ctx).Cause
	case o.Limit != "":
		ended.Error = o.Limit
	case x.Reason == proc.Lost:
		ended.Error = task.Lost
	case x.Reason == proc.OutputLimit:
		ended.Error = task.OutputExceeded
	}
	return ended
}

// outcomeOf is the outcome of an attempt, as far as it was recorded; what the
// agent said is read again.
func outcomeOf(e *event.Ended) *agent.Outcome {
	out := &agent.Outcome{Exit: proc.Exit{
		Reason: proc.Exited, Text: e.Reason, Code: e.Code, Signal: e.Signal,
		StdoutBytes: e.Stdout, StderrBytes: e.Stderr,
	}}
	switch e.Error {
	case task.Timeout, task.IdleTimeout:
		out.Limit = e.Error
	case task.Lost:
		out.Exit.Reason = proc.Lost
	case task.OutputExceeded:
		out.Exit.Reason = proc.OutputLimit
	}
	return out
}

// halted reports whether a kind of error is the cause of a [Halt].
func halted(k task.ErrorKind) bool {
	switch k {
	case task.CauseCancelled, task.CauseStopped, task.CauseBudget, task.CauseDependency:
		return true
	default:
		return false
	}
}

// lostResult is how an agent ended as far as its records tell. One that had
// ended well by itself is completed: nobody pays for it twice.
func lostResult(d Deps, c Config, v *store.View, a *store.Agent, kept *event.Captured) task.Result {
	switch {
	case a.ByName():
		return &task.Cancelled{Cause: a.Cancel.Cause, Reason: a.Cancel.Reason}
	case a.Exit == nil && v.Stop != nil:
		return &task.Cancelled{Cause: v.Stop.Cause, Reason: v.Stop.Reason}
	case a.Exit == nil:
		return &task.Failed{Kind: task.Lost, Reason: "swarm ended while it ran"}
	}
	r := judgeAgain(d, c, a, kept != nil && kept.Patch != nil)
	done, ok := r.(*task.Completed)
	if !ok {
		return r
	}
	if unchecked(c, a, kept) {
		return &task.Failed{
			Kind: task.Lost, Work: done.Work,
			Reason: "swarm ended before its work was checked; a resume runs the check alone",
		}
	}
	if a.Checked != nil {
		done.Verified = &a.Checked.OK
	}
	return done
}

// judgeAgain is the result of an attempt that ended, before its check, once
// it is known whether it changed anything.
func judgeAgain(d Deps, c Config, a *store.Agent, changed bool) task.Result {
	if halted(a.Exit.Error) {
		return &task.Cancelled{Cause: a.Exit.Error, Reason: "swarm ended while it was stopped"}
	}
	spec := SpecOf(c, a.Call)
	out := outcomeOf(a.Exit)
	dir := d.Run.Attempt(a.ID, a.Attempt)
	adapter := d.Adapters[spec.Kind]
	if adapter == nil || agent.Reread(adapter, spec, filepath.Join(dir, "stdout"), out) != nil {
		return &task.Failed{Kind: task.Lost, Reason: "swarm ended before its answer was read"}
	}
	work := task.Work{Usage: a.Spent, Output: answerOf(out)}
	if a.SpentBy < a.Attempt { // else it has been added already
		work.Usage.Add(out.Usage)
	}
	ok, kind, reason := out.Judge(spec, changed)
	if !ok {
		return &task.Failed{Work: work, Kind: kind, Reason: because(dir, kind, reason)}
	}
	return &task.Completed{Work: work, Answer: work.Output}
}

// unchecked reports whether an attempt changed something that is to be
// checked and was not.
func unchecked(c Config, a *store.Agent, kept *event.Captured) bool {
	return c.Verify != "" && a.Checked == nil && kept != nil && kept.Patch != nil
}

// owed is what an agent of an earlier owner is but for its check; nil where
// more than the check is missing, or nothing is.
func owed(d Deps, c Config, a *store.Agent) *task.Completed {
	if _, completed := a.Status.(*task.Completed); completed || a.ByName() ||
		a.Exit == nil || !unchecked(c, a, a.Captured) {
		return nil
	}
	done, _ := judgeAgain(d, c, a, true).(*task.Completed)
	if done != nil {
		finishWork(d, a, &done.Work, a.Captured)
	}
	return done
}

// held reports whether an agent ended well and all it lacks is the capture of
// its workspace, which is still there. It is not paid for again while there
// is hope.
func held(d Deps, c Config, a *store.Agent) bool {
	failed, ok := a.Status.(*task.Failed)
	if !ok || failed.Kind != task.CaptureFailed || a.Exit == nil || a.Lease() == nil {
		return false
	}
	_, well := judgeAgain(d, c, a, true).(*task.Completed)
	return well
}

// SpecOf is the agent of a call, with the limits of the run.
func SpecOf(c Config, call *task.Call) *agent.Spec {
	spec := agent.Inline()
	if named := c.Agents[call.Agent]; call.Agent != "" && named != nil {
		copied := *named
		spec = &copied
	}
	switch {
	case call.Timeout > 0:
		spec.Timeout = call.Timeout
	case spec.Timeout == 0:
		spec.Timeout = c.Timeout
	}
	if spec.IdleTimeout == 0 {
		spec.IdleTimeout = c.IdleTimeout
	}
	return spec
}

// accepted reports whether somebody accepted a patch of an agent. It is not
// paid for again, and others may build on it.
func accepted(a *store.Agent) bool {
	r := a.Result()
	return a.Review != nil && a.Review.Verdict == task.Accepted && r != nil && r.Done().Patch != nil
}
