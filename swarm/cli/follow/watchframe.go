package follow

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"agentswarm/internal/terminal"
	"agentswarm/internal/termtext"
	"agentswarm/swarm/activity"
	"agentswarm/swarm/agent"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/cli/view"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/spending"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// lookGap is how often the output of agents is looked at: each look asks for the
// size of a file per agent.
const lookGap = 400 * time.Millisecond

// activityOf reads the work of the agents of a run; nil where the configuration of
// the run cannot be read.
func activityOf(p *cmdline.Place, run *store.Run, id store.Identity) *activity.Reader {
	config, err := session.EngineConfig(store.Fold(id, nil))
	if err != nil {
		return nil
	}
	known := cmdline.Kinds(p.Env)
	return activity.New(run, func(a *store.Agent) agent.Parser {
		spec := engine.SpecThen(config, a)
		kind, ok := known.Find(spec.Kind)
		if !ok || spec.Format == agent.FormatText {
			return nil
		}
		return kind.Adapter.Parser(spec)
	})
}

// look reads the work of agents, unless that was done only just now. The caller
// holds mu.
func (w *Watcher) look(now time.Time) {
	if w.activity == nil || now.Sub(w.looked) < lookGap {
		return
	}
	w.looked, w.Doing = now, map[task.ID]activity.Now{}
	for _, a := range w.View.Agents {
		if does := w.activity.Look(a); does != (activity.Now{}) {
			w.Doing[a.ID] = does
		}
	}
}

// frame sums the view up. The caller holds mu.
func (w *Watcher) frame(now time.Time) Frame {
	w.look(now)
	v, counts := w.View, w.View.Counts()
	f := Frame{Elapsed: now.Sub(w.Began), Counts: counts, Growing: w.growing(counts), Slots: slotsOf(v)}
	if len(v.Phases) > 0 && v.Growing() {
		f.Phase = v.Phases[len(v.Phases)-1]
	}
	if left, ok := v.Left(now); ok && !f.Growing {
		f.Left = left
	}
	f.Spent = w.spent(now)
	f.Note, f.Hint = noteOf(w.open(), w.typing)
	f.Typing = w.typing && f.Note != ""
	if f.Note == "" {
		f.Note, f.Hint = view.QuotaNote(v, now)
	}
	f.Note = cmp.Or(f.Note, view.HeldNote(v), view.AgainNote(v, w.Doing, now))
	f.Failed, f.Live = w.Rows(now)
	return f
}

// growing reports whether more agents may start: those of a script, or reviewers.
func (w *Watcher) growing(n store.Counts) bool {
	return w.View.Growing() || w.reviews && n.Of[task.Queued]+n.Of[task.Working] > 0
}

// slotsOf is why most of the agents wait that wait for a slot, without the words
// that say so; empty where none does.
func slotsOf(v *store.View) string {
	most, _ := view.HeldReason(v)
	inner, found := strings.CutPrefix(most, task.WaitingSlot.Text()+" (")
	if !found {
		return ""
	}
	return strings.TrimSuffix(inner, ")")
}

// spent is the usage of the run, including the reports of agents in their current
// attempts; with its budget, if any.
func (w *Watcher) spent(now time.Time) string {
	used, spent := w.View.Usage(), w.View.Spent(now)
	for id, does := range w.Doing {
		more := does.Uncounted(w.View.Agent(id))
		used.Add(more)
		part := more.Spent()
		spent.Tokens, spent.USD = spent.Tokens+part.Tokens, spent.USD+part.USD
	}
	budget := spending.Budget(w.View, task.Amount{})
	parts := []string{engine.SpentText(spent, budget)}
	if budget.Tokens == 0 {
		parts = append(parts, termtext.Tokens(used.Tokens()))
	}
	if budget.USD == 0 {
		parts = append(parts, view.DollarsText(used.CostUSD))
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "  ")
}

// stateOrder is the order of live agents in a frame: those that need a person
// first, those that have not begun last. A queued agent has no row.
func stateOrder() []task.State {
	return []task.State{task.Waiting, task.Working, task.Checking, task.WaitingCheck, task.WaitingSlot}
}

// Rows returns the failed agents, the latest first, and the live agents by state and time in it.
func (w *Watcher) Rows(now time.Time) (failed, live []Row) {
	order := stateOrder()
	rank := map[string]int{}
	for i, s := range order {
		rank[s.Text()] = i
	}
	var ended []*store.Agent
	for _, a := range w.View.Agents {
		switch s := a.Status.(type) {
		case *task.Running:
			if slices.Contains(order, s.State) {
				live = append(live, w.row(a, s, now))
			}
		case *task.Failed, *task.Completed, *task.Cancelled:
			if a.Failed() {
				ended = append(ended, a)
			}
		}
	}
	slices.SortStableFunc(live, func(a, b Row) int {
		return cmp.Or(cmp.Compare(rank[a.State], rank[b.State]), cmp.Compare(b.For, a.For))
	})
	slices.SortStableFunc(ended, func(a, b *store.Agent) int { return b.Ended.Compare(a.Ended) })
	for _, a := range ended {
		failed = append(failed, failedRow(a))
	}
	return failed, live
}

// row is a live agent.
func (w *Watcher) row(a *store.Agent, s *task.Running, now time.Time) Row {
	does := w.Doing[a.ID]
	used := a.Spent
	used.Add(does.Uncounted(a))
	r := Row{
		ID: string(a.ID), Label: engine.Title(a.ID, a.Call), State: s.State.Text(), For: now.Sub(s.Since),
		Tokens: used.Tokens(), USD: used.CostUSD, Doing: does.Text,
	}
	switch {
	case s.State == task.Waiting:
		r.Style = terminal.StyleWarning
		if len(a.Open) > 0 {
			r.Doing = questionText(a.Open[0])
		}
	case s.State.Waits():
		r.Style, r.Doing = terminal.StyleQuiet, ""
	case does.Again != nil:
		r.Style, r.Doing = terminal.StyleWarning, view.AgainText(does.Again)
	}
	return r
}

// failedRow is an agent that has failed, or whose check has, and why.
func failedRow(a *store.Agent) Row {
	done := a.Result().Done()
	times := a.Times(a.Ended)
	r := Row{
		ID: string(a.ID), Label: engine.Title(a.ID, a.Call), State: "failed", Style: terminal.StyleError,
		For: times.Worked + times.Checked, Tokens: done.Usage.Tokens(), USD: done.Usage.CostUSD, Doing: view.CauseOf(a.Result()),
	}
	if _, completed := a.Result().(*task.Completed); completed {
		r.State = "check failed"
		r.Doing = strings.TrimPrefix(r.Doing, view.CheckFailed+": ")
	}
	return r
}
