package engine

import (
	"cmp"
	"errors"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/event"
	"agentswarm/swarm/proc"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// endedEvent is the end of an attempt's process in its journal form.
// [outcomeOf] is its inverse as far as a verdict needs it.
func endedEvent(id task.ID, n int, o *agent.Outcome) *event.Ended {
	x := o.Exit
	ended := &event.Ended{
		Agent: id, Attempt: n, Code: x.Code, Signal: x.Signal, Reason: x.Text,
		Left: x.Left, Stdout: x.StdoutBytes, Stderr: x.StderrBytes,
		CPU: x.CPU.Milliseconds(), MaxRSS: x.MaxRSS, Lingered: o.Lingered,
	}
	var satisfied *enough
	switch {
	case errors.As(o.Stopped, &satisfied):
		ended.Enough = true
	case o.Stopped != nil:
		h := haltBy(o.Stopped)
		ended.Error, ended.Reason = h.Cause, cmp.Or(ended.Reason, h.Reason)
	case o.Limit != "":
		ended.Error = o.Limit
	case o.Hopeless != nil && o.Answer == nil:
		ended.Error, ended.Reason = o.Hopeless.Kind, cmp.Or(o.Hopeless.Message, ended.Reason)
	case x.Reason == proc.Lost:
		ended.Error = task.Lost
	case x.Reason == proc.OutputLimit:
		ended.Error = task.OutputExceeded
	}
	return ended
}

// outcomeOf is the outcome of an attempt, as far as it was recorded; the
// agent's output is read again.
func outcomeOf(e *event.Ended) *agent.Outcome {
	out := &agent.Outcome{Exit: proc.Exit{
		Reason: proc.Exited, Text: e.Reason, Code: e.Code, Signal: e.Signal,
		StdoutBytes: e.Stdout, StderrBytes: e.Stderr,
	}, Lingered: e.Lingered, Stands: e.Lingered}
	if e.Enough {
		out.Stopped = &enough{}
	}
	switch e.Error {
	case task.Timeout, task.IdleTimeout:
		out.Limit = e.Error
	case task.Quota, task.Overloaded:
		out.Hopeless = &event.Retry{Kind: e.Error, Message: e.Reason}
	case task.Lost:
		out.Exit.Reason = proc.Lost
	case task.OutputExceeded:
		out.Exit.Reason = proc.OutputLimit
	default: // the exit status tells it
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

// lostResult is the result of an agent as far as its records tell. An agent
// that had ended well by itself is completed, so that it is not paid for twice.
func lostResult(d Deps, c Config, v *store.View, a *store.Agent, kept *event.Captured) task.Result {
	switch {
	case a.ByName():
		return &task.Cancelled{Cause: a.Cancel.Cause, Reason: a.Cancel.Reason}
	case a.Exit == nil && v.Stop != nil:
		return &task.Cancelled{Cause: v.Stop.Cause, Reason: v.Stop.Reason}
	case a.Exit == nil:
		return &task.Failed{
			Kind: task.Lost, Reason: "swarm ended while it ran", Work: task.Work{Usage: spentBefore(a)},
		}
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
		return &task.Cancelled{
			Cause: a.Exit.Error, Reason: cmp.Or(a.Exit.Reason, "swarm ended while it was stopped"),
		}
	}
	v := verdict{
		call: a.Call, spec: SpecThen(c, a), dir: d.Run.Attempt(a.ID, a.Attempt),
		outcome: outcomeOf(a.Exit), changed: changed || a.Call.Shared, work: task.Work{Usage: spentBefore(a), Attempts: a.Attempt},
	}
	v.address = addressOf(d, v.spec)
	carry(&v.work, a.Continued)
	if a.Round != nil {
		v.round, v.answers = a.Round.Round, a.Round.Answers
	}
	lost := func(reason string) task.Result {
		return &task.Failed{Kind: task.Lost, Reason: reason, Work: v.work}
	}
	var all schemas
	var err error
	if v.schema, err = all.of(a.Call); err != nil {
		return lost("swarm ended before its answer was read, and cannot read its " + err.Error())
	}
	adapter := d.Kinds[v.spec.Kind].Adapter
	stdout := roundFile(v.dir, "stdout", v.round)
	if adapter == nil || agent.Reread(adapter, v.spec, stdout, v.outcome) != nil {
		return lost("swarm ended before its answer was read")
	}
	keptSession(d.Kinds[v.spec.Kind], v.dir, v.outcome)
	addRecorded(d.Kinds[v.spec.Kind], v.spec, v.dir, v.outcome)
	if a.SpentBy < a.Attempt { // else it has been added already
		v.work.Usage.Add(v.outcome.Usage)
	}
	v.answers += max(1, v.outcome.Answers)
	r, err := v.result()
	if err != nil {
		return lost("swarm ended before its answer was kept: " + err.Error())
	}
	failed, ok := r.(*task.Failed)
	if ok && failed.Kind == task.SchemaMismatch && v.outcome.Stopped == nil && v.answers < maxAnswers {
		failed.Kind = task.Lost
		failed.Reason = "swarm ended before it could be asked again: " + failed.Reason
	}
	return r
}

// outputFile is the output file of an agent's latest process.
func outputFile(d Deps, a *store.Agent) string {
	round := 0
	if a.Round != nil {
		round = a.Round.Round
	}
	return roundFile(d.Run.Attempt(a.ID, a.Attempt), "stdout", round)
}

// spentBefore is the usage of an agent before the current process of its
// current attempt.
func spentBefore(a *store.Agent) task.Usage {
	all := a.Spent
	if a.SpentBy < a.Attempt && a.Round != nil && a.Round.Earlier != nil {
		all.Add(*a.Round.Earlier)
	}
	return all
}

// unchecked reports whether an attempt changed something that is to be
// checked and was not.
func unchecked(c Config, a *store.Agent, kept *event.Captured) bool {
	return c.Verify != "" && a.Checked == nil && kept != nil && kept.Patch != nil
}

// owed is the result of an agent of an earlier owner without its check; nil if
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

// SpecOf returns the agent of a call, with the options of the call and the
// limits of the run.
func SpecOf(c Config, call *task.Call) *agent.Spec {
	spec := agent.Inline()
	if named := c.Agents[call.Agent]; call.Agent != "" && named != nil {
		copied := *named
		spec = &copied
	}
	layChoices(spec, call)
	switch {
	case call.Timeout > 0:
		spec.Timeout = call.Timeout
	case spec.Timeout == 0:
		spec.Timeout = c.Timeout
	}
	switch {
	case call.Limits.Idle > 0:
		spec.IdleTimeout = call.Limits.Idle
	case spec.IdleTimeout == 0:
		spec.IdleTimeout = c.IdleTimeout
	}
	return spec
}

// specAfter is the agent of a call that continues a conversation. Some programs
// count the usage of that conversation again; prior is subtracted from it.
func specAfter(c Config, call *task.Call, prior task.Usage) *agent.Spec {
	spec := SpecOf(c, call)
	spec.Prior = prior
	return spec
}

// SpecThen returns the agent of an earlier attempt as its owner had it, for a
// second reading of its output.
func SpecThen(c Config, a *store.Agent) *agent.Spec { return specAfter(c, a.Now(), a.Prior) }

// accepted reports whether somebody accepted a patch of an agent. It is not
// paid for again, and others may build on it.
func accepted(a *store.Agent) bool {
	r := a.Result()
	return a.Review != nil && a.Review.Verdict == task.Accepted && r != nil && r.Done().Patch != nil
}
