package store

import (
	"cmp"
	"math"
	"time"

	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// Usage is what the agents of the run were paid so far. What those at work
// have used since their last attempt ended is not known to the journal.
func (v *View) Usage() (sum task.Usage) {
	for _, a := range v.Agents {
		sum.Add(a.Spent)
	}
	return sum
}

// Paid is what one attempt was paid.
type Paid struct {
	Attempt int
	Model   string // that answered, as far as it said
	Usage   task.Usage
	Slow    bool // by the model for what failed twice
}

// pay notes what all attempts up to one were paid. What is new since the last
// time is that one's.
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

// since is what a sum has grown by.
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

// Until is the end of the run, or now while it goes on. A run whose process died
// ended with its last record.
func (v *View) Until(now time.Time) time.Time {
	switch {
	case !v.Ended.IsZero():
		return v.Ended
	case v.Died && !v.LastTime.IsZero():
		return v.LastTime
	}
	return now
}

// Spent is what of a budget the run has spent so far.
func (v *View) Spent(now time.Time) task.Amount {
	spent := v.Usage().Spent()
	spent.Time = v.work.upTo(now)
	if !v.Ended.IsZero() {
		spent.Time = v.work.total
	}
	return spent
}

// workTime is how long at least one agent was at work.
type workTime struct {
	total time.Duration
	busy  map[task.ID]bool
	since time.Time             // when the first of them began
	ended map[task.ID]time.Time // when their processes did
	last  time.Time             // the latest record
}

// upTo is the time with what is under way.
func (w *workTime) upTo(now time.Time) time.Duration {
	if len(w.busy) == 0 {
		return w.total
	}
	return w.total + max(0, now.Sub(w.since))
}

// note takes one record.
func (w *workTime) note(r event.Record) {
	switch e := r.Event.(type) {
	case *event.Leased:
		w.begin(e.Agent, r.Time)
	case *event.Ended:
		if e.Error != task.Lost { // else whoever found it does not know when it ended
			w.process(e.Agent, r.Time)
		}
	case *event.Checked:
		w.process(e.Agent, r.Time)
	case *event.Settled:
		w.settle(e, r.Time)
	case *event.Retried:
		w.end(e.Agent, r.Time)
	case *event.Opened, *event.Closed:
		// Whoever was at work under an owner that died was so until its last
		// record at least.
		at := w.last
		for id := range w.busy {
			w.end(id, at)
		}
	}
	w.last = r.Time
}

// settle ends the work of an agent when its last process ended. Of one whose
// owner died that may be long before somebody settled it, and where no process
// is known to have ended, its result says when there was the last sign of it.
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
