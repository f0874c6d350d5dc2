package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/event"
	"agentswarm/swarm/fault"
	"agentswarm/swarm/governor"
	"agentswarm/swarm/limit"
	"agentswarm/swarm/task"
)

// maxWaited is how long an agent waits in all, between its attempts, for a
// provider that refuses it. Then it has failed: a person decides about it.
const maxWaited = agent.MostWaits

// maxUnreachable is how long an agent waits in all for a server that does not
// listen. It is not started by waiting.
const maxUnreachable = 30 * time.Second

// unreachableRest is how long a lane rests after each connection that is
// refused. A growing rest would hide for minutes that a server does not listen.
const unreachableRest = 2 * time.Second

// stay are the resources that an attempt holds while its agent is at work.
type stay struct {
	pass   *governor.Pass // nil: nothing holds its agent back
	tenant *limit.Tenant  // nil: its memory is not counted
	turns  int            // that its agent has reported
	spent  bool           // its agent reports what requests cost
}

// errPaused ends the waits of those whose agents have not started.
var errPaused = errors.New("the run was paused before it could start")

// admitAgent waits until the agent may start: for a slot of its provider, for
// memory, and for its turn among those of its kind. Its workspace is there and
// set up by then, so that no slot is held for that.
func (t *attempt) admitAgent(ctx context.Context) *ending {
	e := t.engine
	waits, cancel := context.WithCancelCause(ctx)
	var watch sync.WaitGroup
	defer watch.Wait()
	defer cancel(nil)
	watch.Go(func() {
		select {
		case <-e.pausing:
			cancel(errPaused)
		case <-waits.Done():
		}
	})
	left := e.enterLane(t, cancel)
	defer left()
	err := t.takePlace(waits)
	if err == nil {
		err = e.goesOn()
	}
	if err == nil {
		return nil
	}
	t.vacate()
	if ctx.Err() != nil || !errors.Is(err, errPaused) && !errors.Is(err, errQuota) {
		return t.notStarted(ctx, err)
	}
	return t.heldUp(err)
}

// heldUp ends an attempt whose agent may not start now. It is queued again.
func (t *attempt) heldUp(err error) *ending {
	e := t.engine
	// An error of the journal ends the run, in run.
	_ = t.journal(&event.Retried{
		Agent: t.id, Attempt: t.n, Error: task.CauseStopped, Reason: err.Error(), Usage: &t.work.Usage,
		Waited: true,
	})
	t.work.Ended = e.deps.Now()
	return &ending{held: true, result: &task.Cancelled{
		Work: t.work, Cause: task.CauseStopped, Reason: err.Error(),
	}}
}

// goesOn returns the error of a paused run. The cause of the pause may also
// have freed the place that an attempt waited for.
func (e *Engine) goesOn() error {
	select {
	case <-e.pausing:
		return errPaused
	default:
		return nil
	}
}

// takePlace takes the resources that the agent needs, in order.
func (t *attempt) takePlace(ctx context.Context) (err error) {
	d := t.engine.deps
	kind := d.Kinds[t.spec.Kind]
	if wave := waveOf(kind, t.spec); wave != "" {
		t.lead, err = t.engine.waves.join(ctx, wave, func() {
			t.waits("waiting for the first answer to an agent of its kind, which fills the cache of their common prefix")
		})
		if err != nil {
			return err
		}
	}
	if d.Governor != nil && HasLane(t.spec) {
		t.stay.pass, err = d.Governor.Enter(ctx, governor.Request{Lane: governor.Lane(t.lane), Waits: t.waits})
		if err != nil {
			return err
		}
	}
	if d.Memory != nil {
		t.stay.tenant, err = d.Memory.Admit(ctx, limit.MemoryRequest{
			Name: t.spec.Kind, Kind: limit.Kind{Footprint: kind.Footprint}, Waits: t.waits,
		})
		if err != nil {
			return err
		}
	}
	return t.engine.gaps.Wait(ctx, t.spec.Kind, kind.Gap)
}

// HasLane reports whether an agent has a lane: by its configuration, or by its
// provider and model where it is no command.
func HasLane(spec *agent.Spec) bool { return spec.Lane != "" || spec.Kind != agent.KindCommand }

// waits journals the reason for the attempt's wait. A failure of the journal
// ends the run, in run.
func (t *attempt) waits(why string) {
	_ = t.journal(&event.Held{Agent: t.id, Attempt: t.n, Reason: why})
}

// letGo lets those go who wait for the first answer to the attempt.
func (t *attempt) letGo() {
	if t.lead != nil {
		t.lead()
	}
}

// vacate gives back the resources of the attempt.
func (t *attempt) vacate() {
	if t.stay.pass != nil {
		t.stay.pass.Done()
	}
	if t.stay.tenant != nil {
		t.stay.tenant.Leave()
	}
	t.stay = stay{}
}

// report tells the governor how requests go, as far as the agent shows it.
func (t *attempt) report(ev event.Event) {
	s := &t.stay
	if _, answered := ev.(*event.Spent); answered {
		t.letGo()
	}
	if s.pass == nil {
		return
	}
	switch ev := ev.(type) {
	case *event.Turn:
		// A new turn shows that the previous request went well.
		if s.turns++; s.turns > 1 && !s.spent {
			s.pass.Passed(0)
		}
	case *event.Spent:
		s.spent = true
		s.pass.Passed(ev.Left)
	case *event.Erred:
		t.refused(ev)
	case *event.Retry:
		t.refused(&event.Erred{Kind: ev.Kind, Message: ev.Message, RetryAfterMS: ev.RetryAfterMS})
	}
}

// refused tells the governor of an error that is a refusal for now. A connection
// of an agent that broke is none, and holds no other agent back.
func (t *attempt) refused(e *event.Erred) {
	overloaded := e.Kind == task.Overloaded
	if e.Kind != task.RateLimit && !overloaded || overloaded && e.RetryAfterMS <= 0 && fault.Broken(e.Message) {
		return
	}
	after := milliseconds(e.RetryAfterMS)
	if _, nobody := fault.Unreachable(e.Message); nobody && after <= 0 {
		after = unreachableRest
	}
	t.stay.pass.Refused(governor.Refusal{After: after, Overloaded: overloaded})
}

// ranWell tells the waiting attempts, and the governor, that a process of the
// agent ended well. Of a process that failed, the breaker hears before they do.
func (t *attempt) ranWell(o *agent.Outcome) {
	if o.Stopped != nil {
		return
	}
	if ok, _, _ := o.Judge(t.spec, true); !ok {
		return
	}
	t.letGo()
	if t.stay.pass != nil {
		t.stay.pass.Passed(0)
	}
}

// milliseconds is a time that an agent says, which may be any number.
func milliseconds(n int64) time.Duration {
	const most = int64(1<<62) / int64(time.Millisecond)
	return time.Duration(max(0, min(n, most))) * time.Millisecond
}

// waitsInLane reports whether an agent that was refused waits for its provider,
// and how long. That is no retry.
func (e *Engine) waitsInLane(a *agentState, f *task.Failed, told time.Duration) (gap time.Duration, ok bool) {
	if f.Kind != task.RateLimit && f.Kind != task.Overloaded || !HasLane(SpecOf(e.config, a.using())) {
		return 0, false
	}
	gap = waitFor(a.refusals+1, told)
	most := maxWaited
	var next time.Duration
	if _, nobody := fault.Unreachable(f.Reason); nobody {
		most = maxUnreachable
		// An attempt without an answer waited too: qwen asks six times, which takes a
		// minute. The next attempt would wait as long; its half counts, so that the
		// bound is the middle of the times at which agents give up.
		if f.Usage.Tokens() == a.spent.Tokens() {
			took := max(0, f.Ended.Sub(f.Started))
			a.waited += took
			next = took / 2
		}
	}
	if a.waited+gap+next > most {
		return 0, false
	}
	a.refusals++
	a.waited += gap
	e.started-- // it was no more than a wait
	return gap, true
}

// gaveUp says of an agent that its provider refuses why it waits no longer;
// empty where it did not wait at all.
func (e *Engine) gaveUp(a *agentState, f *task.Failed, told time.Duration) string {
	switch {
	case f.Kind != task.RateLimit && f.Kind != task.Overloaded:
		return ""
	case told > maxTold:
		return fmt.Sprintf("the provider asked for a wait of %s; swarm waits for %s at most", told.Round(time.Second), maxTold)
	case a.refusals == 0:
		return ""
	}
	most := maxWaited
	if _, nobody := fault.Unreachable(f.Reason); nobody {
		most = maxUnreachable
	}
	text := fmt.Sprintf("it has waited for its provider %s, %s in all, and waits for no more than %s",
		times(a.refusals), a.waited.Round(time.Second), most)
	if a.retried > 0 {
		text += fmt.Sprintf("; after that it was tried again %s, as retries allow", times(a.retried))
	}
	return text
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// lesser is the smaller of two limits; 0 is none.
func lesser[T cmp.Ordered](a, b T) T {
	var none T
	if a == none || b != none && b < a {
		return b
	}
	return a
}
