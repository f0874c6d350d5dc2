package engine

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/event"
	"agentswarm/swarm/limit"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// purse is what the loop knows of money and time.
type purse struct {
	*limit.Budget
	breaker  limit.Breaker
	worked   time.Duration // in which an agent was at work, before since
	since    time.Time     // when the first of those now at work began
	alarm    *time.Timer   // when those at work are to be stopped
	short    bool          // something in the queue waits for the budget
	scripts  bool          // calls of scripts were taken
	reminded bool          // those at work were asked for their final answers
}

// newPurse goes on from what earlier owners have spent.
func newPurse(total task.Amount, prior *store.View) purse {
	p := purse{alarm: time.NewTimer(time.Hour)}
	p.alarm.Stop()
	if prior == nil {
		p.Budget = limit.NewBudget(total, task.Amount{})
		return p
	}
	spent := prior.Spent(time.Time{})
	p.Budget, p.worked = limit.NewBudget(total, spent), spent.Time
	for _, a := range prior.Agents {
		p.scripts = p.scripts || a.Call.Script
		used := a.Spent.Spent()
		if r, ok := a.Status.(*task.Completed); ok {
			used.Time = r.Ended.Sub(r.Started)
			p.Learn(spenderOf(a.Call), used)
		} else if used != (task.Amount{}) {
			p.Learn(spenderOf(a.Call), used)
		}
	}
	return p
}

// spenderOf tells calls apart that are likely to use as much: by their agent,
// type and role.
func spenderOf(call *task.Call) string {
	if in, ok := call.Input.(*task.TypedAgentInput); ok {
		return strings.Join([]string{call.Agent, in.Type, in.Role}, "/")
	}
	return call.Agent + "/fork"
}

// Spent is what the run has spent in its life, by agents at work too.
func (e *Engine) Spent() (spent task.Amount) {
	e.do(func(context.Context) {
		e.pass()
		spent = e.purse.Spent()
	})
	return spent
}

// Budget is what the run may spend in its life; a field of 0 is any amount.
func (e *Engine) Budget() task.Amount { return e.config.Budget }

// pass tells the budget how late it is.
func (e *Engine) pass() {
	worked := e.purse.worked
	if e.running > 0 {
		worked += e.deps.Now().Sub(e.purse.since)
	}
	e.purse.Pass(worked)
}

// atWork notes that the number of agents at work is about to change by one.
func (e *Engine) atWork(by int) {
	e.pass()
	switch {
	case e.running == 0:
		e.purse.since = e.deps.Now()
	case e.running+by == 0:
		e.purse.worked += e.deps.Now().Sub(e.purse.since)
	}
	e.running += by
}

// affords reserves what an agent is likely to use. What its last attempt is
// owed costs nothing.
func (e *Engine) affords(a *agentState) bool {
	if a.owed != nil {
		return true
	}
	e.pass()
	spec := SpecOf(e.config, a.call)
	admitted := e.purse.Reserve(limit.Reservation{
		ID: string(a.id), Kind: spenderOf(a.call),
		Limits: task.Amount{Tokens: a.call.Limits.Tokens, USD: a.call.Limits.USD, Time: spec.Timeout},
		Silent: spec.Format != agent.FormatJSONL,
	}) == limit.Admitted
	e.purse.short = e.purse.short || !admitted && !a.names()
	return admitted
}

// cheap puts an agent that costs nothing at the head of the queue, if there is
// one.
func (e *Engine) cheap() bool {
	at := slices.IndexFunc(e.queue, func(id task.ID) bool { return e.agents[id].owed != nil })
	if at < 0 {
		return false
	}
	id := e.queue[at]
	e.queue = slices.Insert(slices.Delete(e.queue, at, at+1), 0, id)
	return true
}

// observe counts what the agent reports while it works.
func (t *attempt) observe(ev event.Event) {
	if spent, ok := ev.(*event.Spent); ok {
		t.unpriced += spent.UnpricedTokens
		t.engine.do(func(context.Context) {
			t.engine.purse.Spend(string(t.id), spent.Usage)
			t.engine.stopOverdrawn()
		})
	}
}

// unbounded are the models that a run was told about, of which nobody knows what
// they cost.
type unbounded struct {
	mu   sync.Mutex // guards told
	told map[string]bool
}

// first reports whether nobody was told of a model yet.
func (u *unbounded) first(model string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.told[model] {
		return false
	}
	if u.told == nil {
		u.told = map[string]bool{}
	}
	u.told[model] = true
	return true
}

// sayUnbounded tells a person once of each model that a limit does not hold,
// since nobody knows what it costs, or what it used.
func (t *attempt) sayUnbounded(r task.Result) {
	e := t.engine
	if r == nil {
		return
	}
	usd := e.config.Budget.USD > 0 || t.call.Limits.USD > 0
	tokens := e.config.Budget.Tokens > 0 || t.call.Limits.Tokens > 0
	why := ""
	switch {
	case usd && t.unpriced > 0:
		why = "the cost of %s is unknown, so no limit in dollars holds it; set its price in [prices] of your configuration"
	case (usd || tokens) && t.silent(r):
		why = "%s reports no usage, so no limit in tokens or dollars holds it; a limit in time or turns does"
	default:
		return
	}
	model := cmp.Or(r.Done().Model, SpecOf(e.config, t.call).Model, "the model of "+t.call.Agent)
	if e.unbounded.first(model) {
		e.deps.Warn("budget: " + fmt.Sprintf(why, model))
	}
}

// silent reports whether an agent that should say what it used has come to its
// end by itself, and has not: not every server tells. One that was ended may not
// have come to say it.
func (t *attempt) silent(r task.Result) bool {
	if t.guard == nil {
		return false // it did not begin
	}
	_, whole := r.(*task.Completed)
	return whole && !t.guard.over && t.guard.seen.Turns > 0 && SpecOf(t.engine.config, t.call).Format == agent.FormatJSONL &&
		r.Done().Usage.Tokens() == t.spent.Tokens()
}

// paid settles the budget of an attempt that has ended.
func (e *Engine) paid(a *agentState, end ending) {
	if end.result == nil {
		e.purse.End(limit.Ending{ID: string(a.id)})
		return
	}
	work := end.result.Done()
	usage := work.Usage
	usage.Add(task.Usage{Output: -a.spent.Output, CostUSD: -a.spent.CostUSD})
	_, whole := end.result.(*task.Completed)
	e.purse.End(limit.Ending{
		ID: string(a.id), Usage: usage, Took: max(0, work.Ended.Sub(work.Started)), Whole: whole,
	})
}

// stopOverdrawn stops the agents at work once they have spent what the total
// and their own reservations allow.
func (e *Engine) stopOverdrawn() {
	e.pass()
	if e.ending {
		return
	}
	e.remindAll()
	if !e.purse.Overdrawn() {
		return
	}
	h := &Halt{Cause: task.CauseBudget, Reason: e.spentText()}
	if !e.purse.scripts {
		_ = e.pause(&event.Paused{Cause: h.Cause, Reason: h.Reason}) // a journal that fails has ended the run
	}
	for _, a := range e.agents {
		if a.cancel != nil && a.owed == nil {
			a.cancel(h)
		}
	}
}

// spentText says which part of the budget is spent.
func (e *Engine) spentText() string {
	return "the budget is spent: " + SpentText(e.purse.Spent(), e.purse.Short())
}

// SpentText is what was spent of the totals that are set.
func SpentText(spent, total task.Amount) string {
	var parts []string
	if total.Tokens > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d tokens", spent.Tokens, total.Tokens))
	}
	if total.USD > 0 {
		parts = append(parts, task.Dollars(spent.USD)+" of "+task.Dollars(total.USD))
	}
	if total.Time > 0 {
		parts = append(parts, fmt.Sprintf("%s of %s", spent.Time.Round(time.Second), total.Time))
	}
	return strings.Join(parts, ", ")
}

// lastSign is when there was the last sign of an agent whose owner died: the
// last record, or the last thing it wrote.
func lastSign(d Deps, v *store.View, a *store.Agent) time.Time {
	at := v.LastTime
	info, err := os.Stat(outputFile(d, a))
	if err == nil && info.ModTime().After(at) {
		at = info.ModTime()
	}
	return at
}

// lostWork fills in what an agent was paid, and what it said, whose owner died
// before either was counted: what it reported is in its output.
func lostWork(d Deps, c Config, a *store.Agent, work *task.Work) {
	work.Usage, work.Attempts = spentBefore(a), a.Attempt
	carry(work, a.Continued)
	spec := SpecThen(c, a)
	file := outputFile(d, a)
	info, err := os.Stat(file)
	adapter := d.Kinds[spec.Kind].Adapter
	if err != nil || adapter == nil {
		return
	}
	var told agent.Outcome
	told.Exit.StdoutBytes = info.Size()
	// Usage that cannot be read counts as not spent.
	_ = agent.Reread(adapter, spec, file, &told)
	dir := d.Run.Attempt(a.ID, a.Attempt)
	keptSession(d.Kinds[spec.Kind], dir, &told)
	addRecorded(d.Kinds[spec.Kind], spec, dir, &told)
	if a.SpentBy < a.Attempt { // else it has been added already
		work.Usage.Add(told.Usage)
	}
	if work.Output == "" && work.Model == "" { // else it was judged by all that is known
		note(work, spec, &told)
	}
}
