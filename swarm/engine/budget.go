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

// account is the state of the loop about money and time.
type account struct {
	*limit.Budget
	breaker  limit.Breaker
	worked   time.Duration // in which an agent was at work, before since
	since    time.Time     // when the first of those now at work began
	alarm    *time.Timer   // when those at work are to be stopped
	short    bool          // something in the queue waits for the budget
	scripts  bool          // calls of scripts were taken
	reminded bool          // those at work were asked for their final answers
}

// newAccount continues from the spending of earlier owners.
func newAccount(total task.Amount, prior *store.View) account {
	p := account{alarm: time.NewTimer(time.Hour)}
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

// Spent returns the spending of the run in its life, including that of running
// agents.
func (e *Engine) Spent() (spent task.Amount) {
	e.do(func(context.Context) {
		e.pass()
		spent = e.account.Spent()
	})
	return spent
}

// Budget returns the limits of the run for its whole life; a field of 0 is no
// limit.
func (e *Engine) Budget() task.Amount { return e.config.Budget }

// pass tells the budget how late it is.
func (e *Engine) pass() {
	worked := e.account.worked
	if e.running > 0 {
		worked += e.deps.Now().Sub(e.account.since)
	}
	e.account.Pass(worked)
}

// atWork changes the number of running agents by the given amount, and keeps
// the working time.
func (e *Engine) atWork(by int) {
	e.pass()
	switch {
	case e.running == 0:
		e.account.since = e.deps.Now()
	case e.running+by == 0:
		e.account.worked += e.deps.Now().Sub(e.account.since)
	}
	e.running += by
}

// affords reserves the likely spending of an agent. An agent of which only the
// check is missing costs nothing.
func (e *Engine) affords(a *agentState) bool {
	if a.owed != nil {
		return true
	}
	e.pass()
	spec := SpecOf(e.config, a.call)
	admitted := e.account.Reserve(limit.Reservation{
		ID: string(a.id), Kind: spenderOf(a.call),
		Limits: task.Amount{Tokens: a.call.Limits.Tokens, USD: a.call.Limits.USD, Time: spec.Timeout},
		Silent: spec.Format != agent.FormatJSONL,
	}) == limit.Admitted
	e.account.short = e.account.short || !admitted && !a.names()
	return admitted
}

// cheap moves an agent that costs nothing to the head of the queue. It reports
// whether the queue had such an agent.
func (e *Engine) cheap() bool {
	at := slices.IndexFunc(e.queue, func(id task.ID) bool { return e.agents[id].owed != nil })
	if at < 0 {
		return false
	}
	id := e.queue[at]
	e.queue = slices.Insert(slices.Delete(e.queue, at, at+1), 0, id)
	return true
}

// observe adds the usage that the agent reports while it works.
func (t *attempt) observe(ev event.Event) {
	if spent, ok := ev.(*event.Spent); ok {
		t.unpriced += spent.UnpricedTokens
		t.engine.do(func(context.Context) {
			t.engine.account.Spend(string(t.id), spent.Usage)
			t.engine.stopOverdrawn()
		})
	}
}

// unbounded records the models of which the user was told that their cost or
// usage is unknown.
type unbounded struct {
	mu   sync.Mutex // guards told
	told map[string]bool
}

// first reports whether this is the first report about a model.
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

// sayUnbounded warns the user, once per model, that a limit does not hold
// because the cost or the usage of the model is unknown.
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

// silent reports whether an agent that should report usage ended by itself
// without a report: some servers send none. It is false for a stopped agent,
// which may not have come to its report.
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
		e.account.End(limit.Ending{ID: string(a.id)})
		return
	}
	work := end.result.Done()
	usage := work.Usage
	usage.Add(task.Usage{Output: -a.spent.Output, CostUSD: -a.spent.CostUSD})
	_, whole := end.result.(*task.Completed)
	e.account.End(limit.Ending{
		ID: string(a.id), Usage: usage, Took: max(0, work.Ended.Sub(work.Started)), Whole: whole,
	})
}

// stopOverdrawn stops the running agents once they have spent more than the
// total and their own reservations allow.
func (e *Engine) stopOverdrawn() {
	e.pass()
	if e.ending {
		return
	}
	e.remindAll()
	if !e.account.Overdrawn() {
		return
	}
	h := &Halt{Cause: task.CauseBudget, Reason: e.spentText()}
	if !e.account.scripts {
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
	return "the budget is spent: " + SpentText(e.account.Spent(), e.account.Short())
}

// SpentText formats the spending against the totals that are set.
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

// lastSign is the time of the last sign of an agent whose owner died: its last
// record, or its last output.
func lastSign(d Deps, v *store.View, a *store.Agent) time.Time {
	at := v.LastTime
	info, err := os.Stat(outputFile(d, a))
	if err == nil && info.ModTime().After(at) {
		at = info.ModTime()
	}
	return at
}

// lostWork fills in the usage and the last words of an agent whose owner died
// before it counted them. It reads both from the agent's output.
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
