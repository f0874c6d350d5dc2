package store

import (
	"cmp"
	"math"
	"time"

	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// Usage returns the paid usage of the run's agents so far. The journal does not
// know the usage of running agents since their last attempt ended.
func (v *View) Usage() (sum task.Usage) {
	for _, a := range v.Agents {
		sum.Add(a.Spent)
	}
	return sum
}

// Paid is the paid usage of an attempt.
type Paid struct {
	Attempt int
	Model   string // that answered, as far as it said
	Usage   task.Usage
	Slow    bool // by the slow model, after two failures
}

// pay notes the paid usage of all attempts up to an attempt. The increase since
// the last time belongs to that attempt.
func (a *Agent) pay(all Paid) {
	part := Paid{Attempt: all.Attempt, Model: all.Model, Usage: since(all.Usage, a.Spent)}
	if s := a.Switched; s != nil {
		part.Model, part.Slow = cmp.Or(part.Model, s.Choice.Model), s.Slow
	}
	a.Spent, a.SpentBy = all.Usage, all.Attempt
	if part.Usage != (task.Usage{}) {
		a.Paid = append(a.Paid, part)
	}
}

// since returns the increase of a sum.
func since(all, before task.Usage) task.Usage {
	return task.Usage{
		Input: max(0, all.Input-before.Input), Output: max(0, all.Output-before.Output),
		CacheRead: max(0, all.CacheRead-before.CacheRead), CacheWrite: max(0, all.CacheWrite-before.CacheWrite),
		CostUSD: grown(all.CostUSD, before.CostUSD), ComputedUSD: grown(all.ComputedUSD, before.ComputedUSD),
		UnpricedTokens: max(0, all.UnpricedTokens-before.UnpricedTokens),
	}
}

// grown is a difference without the dust that sums of dollars leave.
func grown(all, before float64) float64 { return max(0, math.Round((all-before)*1e9)/1e9) }

// Took is how long owners of the run had it open until now, in all. The time
// between a stop and a resume does not count. It is 0 where the run was killed
// before it was first opened.
func (v *View) Took(now time.Time) time.Duration { return v.took.upTo(v.Until(now)) }

// Until returns the end of the run, or now while it runs. A run whose process
// died ended with its last record.
func (v *View) Until(now time.Time) time.Time {
	switch {
	case !v.Ended.IsZero():
		return v.Ended
	case v.Died && !v.LastTime.IsZero():
		return v.LastTime
	}
	return now
}

// Spent returns the amount of a budget that the run has spent so far.
func (v *View) Spent(now time.Time) task.Amount {
	spent := v.Usage().Spent()
	spent.Time = v.work.upTo(now)
	if !v.Ended.IsZero() {
		spent.Time = v.work.total
	}
	return spent
}

// workTime is the time in which at least one agent was at work.
type workTime struct {
	total time.Duration
	busy  map[task.ID]bool
	since time.Time             // when the first of them began
	ended map[task.ID]time.Time // when their processes did
	last  time.Time             // the latest record
}

// upTo returns the time, with the current work.
func (w *workTime) upTo(now time.Time) time.Duration {
	if len(w.busy) == 0 {
		return w.total
	}
	return w.total + max(0, now.Sub(w.since))
}

// note takes a record.
func (w *workTime) note(r event.Record) {
	switch e := r.Event.(type) {
	case *event.Leased:
		w.begin(e.Agent, r.Time)
	case *event.Ended:
		if e.Error != task.Lost { // else the process that found it does not know when it ended
			w.process(e.Agent, r.Time)
		}
	case *event.Checked:
		w.process(e.Agent, r.Time)
	case *event.Settled:
		w.settle(e, r.Time)
	case *event.Retried:
		w.end(e.Agent, r.Time)
	case *event.Opened, *event.Closed:
		// An agent that was at work under an owner that died worked until the
		// owner's last record at least.
		at := w.last
		for id := range w.busy {
			w.end(id, at)
		}
	}
	w.last = r.Time
}

// settle ends the work of an agent when its last process ended. If the owner
// died, that may be long before the agent was settled. Where no process is
// known to have ended, the result has the time of the last sign of it.
func (w *workTime) settle(e *event.Settled, at time.Time) {
	end, known := w.ended[e.Agent]
	if !known {
		end = e.Result.Done().Ended
	}
	if end.IsZero() || end.After(at) {
		end = at
	}
	w.end(e.Agent, end)
}

func (w *workTime) process(id task.ID, at time.Time) {
	if w.busy[id] {
		w.ended[id] = at
	}
}

func (w *workTime) begin(id task.ID, at time.Time) {
	if w.busy == nil {
		w.busy, w.ended = map[task.ID]bool{}, map[task.ID]time.Time{}
	}
	delete(w.ended, id)
	if len(w.busy) == 0 {
		w.since = at
	}
	w.busy[id] = true
}

func (w *workTime) end(id task.ID, at time.Time) {
	if !w.busy[id] {
		return
	}
	delete(w.busy, id)
	if len(w.busy) == 0 {
		w.total += max(0, at.Sub(w.since))
	}
}
