package store

import (
	"cmp"
	"slices"
	"time"

	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// Question is a question of an agent or the script, and its outcome.
type Question struct {
	event.Questioned
	Time time.Time
	// Reply is nil while the question is open.
	Reply *event.Replied
}

// Waiting lists the questions that a person must answer, oldest first. It
// leaves out those of a run whose owner died.
func (v *View) Waiting() []*Question {
	var open []*Question
	for _, a := range v.Agents {
		open = append(open, a.Open...)
	}
	open = append(open, v.asks...)
	slices.SortStableFunc(open, func(a, b *Question) int { return a.Time.Compare(b.Time) })
	if v.Status != RunRunning {
		return nil
	}
	return open
}

func (v *View) question(at time.Time, e *event.Questioned) {
	q := &Question{Questioned: *e, Time: at}
	v.Questions = append(v.Questions, q)
	if e.Agent == "" {
		v.asks = append(v.asks, q)
		return
	}
	a := v.about(e.Agent)
	if e.Attempt != a.Attempt || a.Result() != nil {
		return
	}
	a.Open = append(a.Open, q)
	if s, ok := a.Status.(*task.Running); ok && s.State != task.Waiting {
		a.asking = s.State
	}
	a.enter(task.Waiting, at)
}

func (v *View) reply(at time.Time, e *event.Replied) {
	for _, q := range v.Questions {
		if q.ID != e.ID || q.Reply != nil {
			continue
		}
		q.Reply = e
		v.asks = slices.DeleteFunc(v.asks, func(o *Question) bool { return o == q })
		a := v.about(q.Agent)
		a.Open = slices.DeleteFunc(a.Open, func(o *Question) bool { return o == q })
		if r, ok := a.Status.(*task.Running); ok && r.State == task.Waiting && len(a.Open) == 0 {
			a.enter(cmp.Or(a.asking, task.Working), at)
		}
	}
}

// review adds a person's verdict on the current attempt, if it has ended.
func (a *Agent) review(e *event.Reviewed) {
	if e.Attempt == a.Attempt && a.Result() != nil {
		a.Review = e
		a.Refusal = nil // a person has seen it since
		if e.Verdict == task.Rejected {
			a.Conflict = nil // no merge takes it: there is nothing to resolve
		}
	}
}

// Accepted reports whether a person accepted the current attempt's work.
func (a *Agent) Accepted() bool { return a.Review != nil && a.Review.Verdict == task.Accepted }

// appraise adds a reviewer's verdict on the current attempt, if it has ended.
func (a *Agent) appraise(e *event.Appraised) {
	if e.Attempt == a.Attempt && a.Result() != nil {
		a.Appraisal = e
	}
}

// Subject returns a model's subject for a commit of the agent's patches; empty
// where the model gave none. It reports false where no model was asked.
func (a *Agent) Subject(commit string) (subject string, asked bool) {
	for _, t := range a.Titled {
		if t.Commit == commit {
			subject, asked = t.Subject, true // the last word counts
		}
	}
	return subject, asked
}

// again queues an agent that had ended for another attempt.
func (a *Agent) again(at time.Time, e *event.RetryAsked) {
	a.Retry, a.Cancel, a.Review, a.Appraisal, a.Words, a.Raced = e, nil, nil, nil, nil, ""
	for _, r := range a.OnEdits {
		if slices.Contains(e.Remarks, r.ID) && r.Sent == 0 {
			r.Sent = e.After + 1
		}
	}
	if e.Markers != nil || e.Fresh || e.Onto != "" {
		a.Markers = e.Markers // else it continues with the same files
	}
	if e.Feedback != "" {
		a.Remarks = append(a.Remarks, Remark{After: e.After, Text: e.Feedback, Brief: e.HandedBack != nil})
	}
	if r := a.Result(); r != nil && task.SentBack(r) {
		a.Failures++
	}
	a.queue(at)
}

// Pending tells whether the agent was asked to try again and has not begun to.
func (a *Agent) Pending() bool {
	return a.Retry != nil && a.Retry.After == a.Attempt && a.Result() == nil
}

// Remark is feedback that came with a wish for another attempt.
type Remark struct {
	After int // the latest attempt at that time
	Text  string
	Brief bool // of a merge that handed the patch back; it is about that attempt only
}
