package engine

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/event"
	"agentswarm/swarm/governor"
	"agentswarm/swarm/limit"
	"agentswarm/swarm/quota"
	"agentswarm/swarm/resettime"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// quotas are the quota windows of the run, and the agents that wait for them. They
// belong to the loop.
type quotas struct {
	// gate is held for writing while the book changes, and for reading by attempts
	// that begin: none begins in a lane after the record that closes it.
	gate    sync.RWMutex
	book    *quota.Book
	entries map[*attempt]context.CancelCauseFunc // attempts before their agent has begun

	parked []task.ID // in the order in which they came
	lanes  map[string]string
	timers map[*quota.Window]alarm
	over   bool // no agent waits any more
}

// alarm is the time of a window's probe, with the function that ends its timer.
type alarm struct {
	at  time.Time
	end context.CancelFunc
}

// errQuota ends the waits of those whose agents have not started in a lane that
// was closed.
var errQuota = errors.New("the quota of its account was used up before it could start")

// quotaBounds are those of a run; runs of earlier versions have none.
func quotaBounds(c Config) quota.Bounds {
	return quota.Bounds{Wait: c.WaitLimits, Windows: c.MaxWindows}
}

// openQuotas begins with the windows that earlier owners met.
func (e *Engine) openQuotas(prior *store.View) {
	q := &e.quotas
	q.book = quota.NewBook(quotaBounds(e.config))
	q.entries, q.lanes, q.timers = map[*attempt]context.CancelCauseFunc{}, map[string]string{}, map[*quota.Window]alarm{}
	if prior == nil {
		return
	}
	now := e.deps.Now()
	for _, w := range prior.Quotas {
		q.book.Restore(now, w)
	}
	for _, u := range prior.QuotaUse {
		q.book.Used(*u)
	}
}

// laneOf is the lane of the governor that an agent is in; empty for none. Finding
// it reads files of logins, so it is kept.
func (e *Engine) laneOf(spec *agent.Spec) string {
	if !HasLane(spec) {
		return ""
	}
	key := spec.Kind + "\n" + spec.Model + "\n" + spec.Lane
	lane, known := e.quotas.lanes[key]
	if !known {
		lane = e.deps.Kinds[spec.Kind].Lane(spec, e.deps.Surroundings)
		e.quotas.lanes[key] = lane
	}
	return lane
}

// holding is the window that holds an agent back; nil: it may start.
func (e *Engine) holding(a *agentState, call *task.Call) *quota.Window {
	if len(e.quotas.book.Windows()) == 0 || a.owed != nil {
		return nil
	}
	spec := SpecOf(e.config, call)
	lane := e.laneOf(spec)
	if lane == "" {
		return nil
	}
	return e.quotas.book.Holding(a.id, spec.Kind, lane)
}

// openLanes queues the parked agents that no closed lane holds back any more,
// and a probe for each window that is due.
func (e *Engine) openLanes() {
	q := &e.quotas
	if len(q.parked) == 0 || e.ending || e.paused {
		return
	}
	now := e.deps.Now()
	var queue, parked []task.ID
	for _, id := range q.parked {
		a := e.agents[id]
		w := e.holding(a, a.using())
		if w != nil && q.book.Due(w, now) {
			q.gate.Lock()
			w.Begin(id)
			q.gate.Unlock()
			w = e.holding(a, a.using()) // another window may cover it too
			if w != nil {
				e.abandonProbe(id)
			}
		}
		if w == nil {
			queue = append(queue, id)
		} else {
			parked = append(parked, id)
		}
	}
	q.parked, e.queue = parked, append(queue, e.queue...)
}

// probing reports whether an agent probes a window.
func (e *Engine) probing(id task.ID) bool {
	return slices.ContainsFunc(e.quotas.book.Windows(), func(w *quota.Window) bool { return w.Probe == id })
}

// abandonProbe takes the probe back from an agent that could not begin it.
func (e *Engine) abandonProbe(id task.ID) {
	for _, w := range e.quotas.book.Windows() {
		if w.Probe == id {
			e.quotas.gate.Lock()
			w.Probe = ""
			e.quotas.gate.Unlock()
		}
	}
}

// shutOut reports whether an agent may not start since a quota is used up. It is
// parked then, unless its role has another model.
func (e *Engine) shutOut(a *agentState) bool {
	w := e.holding(a, a.using())
	switch {
	case w == nil, e.detour(a, w):
		return false
	case a.names():
		e.settle(a, &task.Failed{Kind: task.Quota, Reason: w.Title + " is used up", Work: a.left})
	default:
		e.quotas.parked = append(e.quotas.parked, a.id)
	}
	return true
}

// tellParked journals the agents that were parked since the queue was looked at.
func (e *Engine) tellParked(before int) {
	lanes := map[string][]task.ID{}
	var order []string
	parked := e.quotas.parked
	for _, id := range parked[min(before, len(parked)):] {
		a := e.agents[id]
		w := e.holding(a, a.using())
		if w == nil {
			continue // it is queued again in the next round
		}
		lane := w.Lane.String()
		if lanes[lane] == nil {
			order = append(order, lane)
		}
		lanes[lane] = append(lanes[lane], id)
	}
	var facts []event.Event
	for _, lane := range order {
		facts = append(facts, &event.Parked{Lane: lane, Agents: lanes[lane]})
	}
	_ = e.appendAll(facts) // a journal that fails has ended the run
}

// openFallback is the first model of an agent's role that it has not used and that
// no window holds back; -1 for none.
func (e *Engine) openFallback(a *agentState) int {
	taken := 0
	if a.switched != nil {
		taken = a.switched.Fallbacks
	}
	for i := taken; i < len(a.call.Fallbacks); i++ {
		if e.holding(a, a.call.Using(&a.call.Fallbacks[i])) == nil {
			return i
		}
	}
	return -1
}

// detour switches an agent that has not begun to the next model of its role whose
// lane is open.
func (e *Engine) detour(a *agentState, w *quota.Window) bool {
	at := e.openFallback(a)
	if at < 0 {
		return false
	}
	next := a.call.Fallbacks[at]
	s := &event.Switched{
		Agent: a.id, Attempt: a.attempt, Choice: next, Fallbacks: at + 1, Slow: a.switched != nil && a.switched.Slow,
		Reason: modelName(&task.Choice{Model: a.using().Model, Effort: a.using().Effort}) + " waits for quota (" + w.Title +
			"): it begins with " + modelName(&next),
	}
	if e.append(s) != nil {
		return false
	}
	a.switched = s
	return true
}

// setAlarms has each window that is waited for probed at its time. Nothing is
// waited for where no agent is parked.
func (e *Engine) setAlarms(life context.Context) {
	q := &e.quotas
	want := map[*quota.Window]bool{}
	if len(q.parked) > 0 && !q.over && !e.paused && !e.ending {
		for _, w := range q.book.Windows() {
			want[w] = w.GivenUp == "" && w.Probe == ""
		}
	}
	for w, set := range q.timers {
		if !want[w] || !set.at.Equal(w.Until) {
			set.end()
			delete(q.timers, w)
		}
	}
	for w, wanted := range want {
		if _, set := q.timers[w]; set || !wanted {
			continue
		}
		ctx, end := context.WithCancel(life)
		q.timers[w] = alarm{w.Until, end}
		until := w.Until
		e.work.Go(func() {
			defer end()
			if e.sleepUntil(ctx, until) {
				e.do(func(context.Context) {}) // the queue is looked at after it
			}
		})
	}
}

// longestSleep bounds a single sleep until a time. After a suspend the clock of
// the machine has moved on, but its timers have not.
const longestSleep = time.Minute

// sleepUntil waits for a time of the clock. It is false if ctx ended first.
func (e *Engine) sleepUntil(ctx context.Context, until time.Time) bool {
	pass := context.WithTimeout
	if e.deps.pass != nil {
		pass = e.deps.pass
	}
	for ctx.Err() == nil {
		left := until.Sub(e.deps.Now())
		if left <= 0 {
			return true
		}
		slept, end := pass(ctx, min(left, longestSleep))
		<-slept.Done()
		end()
	}
	return false
}

// endAlarms ends all timers, as no agent waits any more.
func (e *Engine) endAlarms() {
	e.quotas.over = true
	for w, set := range e.quotas.timers {
		set.end()
		delete(e.quotas.timers, w)
	}
}

// enterLane notes an attempt whose agent is about to start. It is cancelled if its
// lane closes before that.
func (e *Engine) enterLane(t *attempt, cancel context.CancelCauseFunc) (left func()) {
	e.quotas.gate.Lock()
	defer e.quotas.gate.Unlock()
	e.quotas.entries[t] = cancel
	if e.holds(t) {
		cancel(errQuota)
	}
	return func() {
		e.quotas.gate.Lock()
		defer e.quotas.gate.Unlock()
		delete(e.quotas.entries, t)
	}
}

// holds reports whether a window holds the agent of an attempt back. The caller
// holds the gate.
func (e *Engine) holds(t *attempt) bool {
	return t.lane != "" && e.quotas.book.Holding(t.id, t.spec.Kind, t.lane) != nil
}

// begins journals that the agent of an attempt starts, unless its lane is closed.
func (t *attempt) begins(start *event.Started) error {
	q := &t.engine.quotas
	q.gate.RLock()
	defer q.gate.RUnlock()
	if t.engine.holds(t) {
		return errQuota
	}
	return t.journal(start)
}

// noteQuota stores the agent's reports about a quota that is used up, and
// journals the used part of an open quota.
func (t *attempt) noteQuota(ev event.Event) {
	switch ev := ev.(type) {
	case *event.Erred:
		t.refusal = &event.Retry{Kind: ev.Kind, Message: ev.Message, RetryAfterMS: ev.RetryAfterMS, Quota: ev.Quota}
	case *event.Retry:
		t.refusal = ev
	case *event.QuotaUsed:
		t.noteUse(*ev)
	case *event.Spent:
		if ev.Usage.Tokens() > 0 {
			t.answeredProbe()
		}
	case *event.ToolStart, *event.Answered:
		t.answeredProbe()
	default: // it says nothing of quotas
	}
}

// noteUse journals how much of a window is used.
func (t *attempt) noteUse(u event.QuotaUsed) {
	if t.lane == "" {
		return
	}
	u.Lane = quota.LaneOf(t.spec.Kind, t.lane, &event.Quota{Account: true}).String()
	t.engine.do(func(context.Context) {
		if t.engine.quotas.book.Used(u) {
			_ = t.engine.append(&u) // a journal that fails has ended the run
		}
	})
}

// answeredProbe opens the lane that the attempt probes.
func (t *attempt) answeredProbe() {
	if !t.probes {
		return
	}
	t.probes = false
	t.engine.do(func(context.Context) { t.engine.probed(t.id) })
}

// probed notes that an agent was answered. The lane that it probed opens.
func (e *Engine) probed(id task.ID) {
	e.quotas.gate.Lock()
	w := e.quotas.book.Answered(id)
	e.quotas.gate.Unlock()
	if w == nil || e.append(&event.QuotaOpened{Lane: w.Lane.String()}) != nil {
		return
	}
	if e.deps.Governor == nil {
		return
	}
	begun := map[string]bool{}
	for _, id := range e.quotas.parked {
		spec := SpecOf(e.config, e.agents[id].using())
		if lane := e.laneOf(spec); !begun[lane] && w.Lane.Covers(spec.Kind, lane) {
			begun[lane] = true
			e.deps.Governor.Restart(governor.Lane(lane))
		}
	}
}

// refusedBy returns the window that refused an attempt; ok is false if none
// did. A wait longer than [maxTold] counts as a refusal.
func (t *attempt) refusedBy(failed *task.Failed) (r quota.Refusal, ok bool) {
	said := t.refusal
	if t.lane == "" || said == nil || failed.Kind != said.Kind {
		return r, false
	}
	told := milliseconds(said.RetryAfterMS)
	if failed.Kind != task.Quota && (failed.Kind != task.RateLimit || told <= maxTold) {
		return r, false
	}
	window := said.Quota
	if window == nil {
		window = &event.Quota{}
	}
	now := t.engine.deps.Now()
	r = quota.Refusal{
		Lane: quota.LaneOf(t.spec.Kind, t.lane, window), Agent: t.id, Window: window.Window, Title: window.Title, Reason: failed.Reason,
	}
	if r.Title == "" {
		r.Title = "quota of " + r.Lane.String()
	}
	if window.ResetsAt > 0 {
		r.Until = time.Unix(window.ResetsAt, 0)
	} else if in, err := time.LoadLocation(window.Midnight); window.Midnight != "" && err == nil {
		r.Until = resettime.Midnight(now, in)
	} else if told > 0 {
		r.Until = now.Add(told)
	} else if at, ok := resettime.Parse(said.Message, now, time.Local); ok {
		r.Until, r.Text = at, true
	}
	if r.Until.Sub(now) > longestWindow {
		r.Until = now.Add(longestWindow)
	}
	return r, true
}

// longestWindow is more than the longest window that providers have, but for a
// month. Longer waits than that are not believed, and probed then.
const longestWindow = 32 * 24 * time.Hour

// closeLane closes the lane whose quota ended the agent's process, while the
// agent still has its slot: no other agent enters it in between.
func (t *attempt) closeLane(o *agent.Outcome) {
	t.quota = nil
	good, kind, reason := o.Judge(t.spec, true)
	if good || o.Stopped != nil {
		return
	}
	r, refused := t.refusedBy(&task.Failed{Kind: kind, Reason: reason})
	if !refused {
		return
	}
	t.quota = &r
	t.engine.do(func(context.Context) { t.engine.closeQuota(r) })
}

// closeQuota closes a lane, and turns those away whose agents are about to start
// in it.
func (e *Engine) closeQuota(r quota.Refusal) {
	e.quotas.gate.Lock()
	defer e.quotas.gate.Unlock()
	w, news := e.quotas.book.Refuse(e.deps.Now(), r)
	if news && e.append(w.Closed()) != nil {
		return // a journal that fails has ended the run
	}
	for t, cancel := range e.quotas.entries {
		if e.holds(t) {
			cancel(errQuota)
		}
	}
}

// quotaEnded takes the end of an attempt that a quota refused: its agent
// continues with another model of its role, or is parked. It is false if it
// does neither.
func (e *Engine) quotaEnded(life context.Context, a *agentState, end ending) bool {
	failed, ok := end.result.(*task.Failed)
	if !ok || end.quota == nil || e.ending {
		return false
	}
	if a.byName || a.names() {
		return false
	}
	if at := e.openFallback(a); at >= 0 {
		return e.fallBackTo(life, a, failed, at)
	}
	if w := e.quotas.book.Window(end.quota.Lane); w != nil && w.GivenUp != "" {
		if !w.Until.IsZero() {
			failed.Reason += "; its account has quota again at " + store.ClockText(w.Until, e.deps.Now()) + ": " + w.GivenUp
		}
		return false
	}
	err := e.appendAll([]event.Event{
		&event.Retried{
			Agent: a.id, Attempt: a.attempt, Error: failed.Kind, Reason: failed.Reason, Usage: &failed.Usage, Model: failed.Model, Waited: true,
		},
		&event.Parked{Lane: end.quota.Lane.String(), Agents: []task.ID{a.id}},
	})
	if err != nil {
		return false
	}
	e.count(a, -1) // it was no more than a wait
	a.spent, a.left = failed.Usage, failed.Work
	// Those that have begun go on first.
	at := slices.IndexFunc(e.quotas.parked, func(id task.ID) bool { return e.agents[id].attempt == 0 })
	if at < 0 {
		at = len(e.quotas.parked)
	}
	e.quotas.parked = slices.Insert(e.quotas.parked, at, a.id)
	return true
}

// unprobed notes the end of an attempt that probed a window and was neither
// answered nor refused by it.
func (e *Engine) unprobed(a *agentState, end ending) {
	if end.quota != nil {
		return // the refusal says it
	}
	if _, well := end.result.(*task.Completed); well {
		e.probed(a.id)
		return
	}
	e.quotas.gate.Lock()
	w := e.quotas.book.Abandon(e.deps.Now(), a.id)
	e.quotas.gate.Unlock()
	if w != nil {
		_ = e.append(w.Closed()) // a journal that fails has ended the run
	}
}

// giveUpQuota is the reason for the pause of a run whose agents all wait for
// windows that it does not wait for; nil while anything else can happen.
func (e *Engine) giveUpQuota() *limit.Trip {
	if len(e.quotas.parked) == 0 || len(e.queue) > 0 || e.running > 0 {
		return nil
	}
	var trip *limit.Trip
	for _, id := range e.quotas.parked {
		a := e.agents[id]
		w := e.holding(a, a.using())
		if w == nil || w.GivenUp == "" {
			return nil
		}
		f := limit.Failure{Agent: w.Agent, Kind: task.Quota, Reason: w.Reason}
		if trip == nil || !w.Until.IsZero() && w.Until.Before(trip.Until) {
			trip = limit.TripOf(e.deps.Now(), f, w.Until)
		}
	}
	for _, a := range e.agents {
		if a.wait != nil {
			return nil // its next attempt may open more
		}
	}
	return trip
}
