package engine

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
	"agentswarm/worktree/git"
)

// dispatch starts the agents that may start. It runs on the loop.
func (e *Engine) dispatch(life context.Context) {
	e.breakOff()
	e.openLanes()
	defer e.setAlarms(life)
	before := len(e.quotas.parked)
	e.askSubjects(life)
	var late []task.ID // requests for subjects that the running agents may leave money for
	for len(e.queue) > 0 && e.running+e.releasing < e.jobs && !e.ending && !e.paused && !e.onHold && e.noSpace == "" {
		a := e.agents[e.queue[0]]
		e.queue = e.queue[1:]
		if !e.ready(a) {
			continue // a dependency was sent back since
		}
		if e.shutOut(a) {
			continue
		}
		if e.started >= e.config.MaxAgents && a.owed == nil && !a.names() {
			e.settle(a, &task.Failed{
				Kind:   task.Refused,
				Reason: fmt.Sprintf("the run has started its %d agents (--max-agents)", e.config.MaxAgents),
				Work:   a.left,
			})
			continue
		}
		if !e.affords(a) {
			if a.names() {
				late = e.postpone(late, a)
				continue
			}
			e.queue = slices.Insert(e.queue, 0, a.id)
			if !e.cheap() {
				break
			}
			continue
		}
		e.begin(life, a)
	}
	e.queue = append(e.queue, late...)
	e.tellParked(before)
	e.starve()
	e.takeStock()
}

// begin starts the next attempt of an agent, or the missing check of its last
// attempt.
func (e *Engine) begin(life context.Context, a *agentState) {
	if a.owed == nil {
		a.attempt++
		a.accepted = false
		e.count(a, +1)
	}
	e.alike(a)
	e.thorough(a)
	e.atWork(+1)
	ctx, cancel := context.WithCancelCause(life)
	a.cancel = cancel
	e.hurry(ctx, a)
	try := &attempt{
		engine: e, id: a.id, n: a.attempt, call: a.using(), began: e.deps.Now(),
		last: a.tries+1 >= startTries, owed: a.owed, spent: a.spent,
		whole: a.whole,
	}
	try.lane, try.probes = e.laneOf(SpecOf(e.config, try.call)), e.probing(a.id)
	try.unheard = slices.Clone(a.words)
	if a.retry != nil {
		try.from, try.onto = a.retry.From, git.Hash(a.retry.Onto)
	}
	try.parent = e.parentOf(a.call)
	if a.owed == nil {
		try.continued = e.continues(a)
	}
	if c := try.continued; c != nil {
		try.from = c.From
		try.parent = &Parent{ID: a.id, Attempt: c.Of, Session: c.Session, Usage: c.Used}
	}
	try.prompt = promptOf(a, try.continued)
	if a.call.Shared {
		try.from = a.left.Patch // it is in the workspace
	}
	try.join, try.joined = e.foundation(a)
	e.work.Go(func() {
		defer cancel(nil)
		end := try.run(ctx)
		reused := 0 // the next agent may take over the files of its workspace
		if try.space != nil && try.space.Reusable() {
			reused = 1
		}
		e.writers.end(try.id, try.n)
		e.do(func(life context.Context) {
			e.releasing += reused
			e.ended(life, a, end)
			// Calls that wait for it may not start if they would fail alike.
			e.breakOff()
			try.letGo()
			if end.err == nil {
				// A fact that is not on disk may not be acted upon.
				end.err = e.broken
			}
		})
		err := try.release(ctx, end)
		e.do(func(context.Context) {
			e.releasing -= reused
			if err != nil {
				e.fail(err)
			}
		})
		try.sayUnbounded(end.result)
	})
}

// ended takes the end of an attempt: another try, or the agent's result.
func (e *Engine) ended(life context.Context, a *agentState, end ending) {
	e.atWork(-1)
	e.paid(a, end)
	a.cancel = nil
	a.part, a.at = max(a.part, end.part), cmp.Or(end.at, a.at)
	e.endQuestions(a.id)
	e.unprobed(a, end)
	switch {
	case end.err != nil:
		e.fail(end.err)
	case end.retry && !e.ending && !a.byName:
		a.tries++
		a.left = *end.result.Done()
		e.later(life, a, time.Duration(a.tries)*startGap)
	case end.held && !e.ending && !a.byName:
		a.left = *end.result.Done()
		e.count(a, -1)
		e.queue = append(e.queue, a.id)
	case e.elsewhere(life, a, end):
	default:
		if e.quotaEnded(life, a, end) {
			return
		}
		if gap, again := e.mayPass(a, end); again {
			e.later(life, a, gap)
			return
		}
		if e.fallBack(life, a, end) {
			return
		}
		e.learn(a, end)
		if f, ok := end.result.(*task.Failed); ok {
			if why := e.gaveUp(a, f, end.retryAfter); why != "" {
				f.Reason += "; " + why
			}
		}
		e.settle(a, end.result)
	}
}

// mayPass reports whether an attempt failed in a way that may pass and is
// retried, and after which gap. It journals the retry.
func (e *Engine) mayPass(a *agentState, end ending) (gap time.Duration, again bool) {
	failed, ok := end.result.(*task.Failed)
	retries := e.config.Retries
	if a.call.Retries != nil {
		retries = *a.call.Retries
	}
	if !ok || e.ending || a.byName || a.names() || end.retryAfter > maxTold {
		return 0, false
	}
	once := end.stalled && !a.stalled
	a.stalled = a.stalled || end.stalled
	gap, waits := e.waitsInLane(a, failed, end.retryAfter)
	if !waits && !once && a.retried >= retries {
		return 0, false
	}
	if !once && (end.unfit || !passes(failed.Kind)) {
		return 0, false
	}
	if !waits {
		gap = waitFor(a.retried+1, end.retryAfter)
		a.retried++
	}
	err := e.append(&event.Retried{
		Agent: a.id, Attempt: a.attempt, Error: failed.Kind, Reason: failed.Reason,
		Usage: &failed.Usage, Model: failed.Model, Wait: gap.Milliseconds(), Waited: waits,
	})
	if err != nil {
		return 0, false
	}
	a.spent, a.left = failed.Usage, failed.Work
	return gap, true
}

// passes reports whether a failure of a kind may pass by itself.
func passes(kind task.ErrorKind) bool {
	return kind == task.Lost || kind == task.StartFailed || kind == task.RateLimit || kind == task.Overloaded
}

// waitFor is the wait before the n-th retry, from 1, at least as long as the
// agent was told.
func waitFor(n int, told time.Duration) time.Duration {
	wait := maxBackOff
	if n < 7 { // 2^6 s is over a minute
		wait = min(backOff<<(n-1), maxBackOff)
	}
	return max(told, wait+rand.N(wait/2))
}

// wait is the delay of a single agent before its next attempt.
type wait struct{ end context.CancelFunc }

// later queues an agent again after a gap, unless its wait is ended first.
func (e *Engine) later(life context.Context, a *agentState, gap time.Duration) {
	if e.paused {
		e.queue = append(e.queue, a.id)
		return
	}
	pass := context.WithTimeout
	if e.deps.pass != nil {
		pass = e.deps.pass
	}
	ctx, end := pass(life, gap)
	w := &wait{end: end}
	a.wait = w
	e.work.Go(func() {
		defer end()
		<-ctx.Done()
		e.do(func(context.Context) {
			// It may have been cancelled meanwhile, and sent back since.
			if a.wait == w {
				a.wait = nil
				e.queue = append(e.queue, a.id)
			}
		})
	})
}

// settle journals an agent's result and hands it on. It returns the settled
// agent; nil if the result could not be journaled.
func (e *Engine) settle(a *agentState, r task.Result) *Settled {
	if a.switched != nil {
		r.Done().Notes = append(r.Done().Notes, a.switched.Reason)
	}
	if e.append(&event.Settled{Agent: a.id, Attempt: a.attempt, Result: r}) != nil {
		return nil
	}
	a.result, a.left = r, *r.Done()
	if task.Fell(r) {
		a.failures++
	}
	s := &Settled{Agent: a.id, Result: r}
	e.unblock()
	if a.names() {
		e.takeSubject(a)
		return s
	}
	e.out = append(e.out, s)
	e.owesSubject(a)
	return s
}
