package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"agentswarm/swarm/event"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree/git"
)

// Start takes a call: journals it, queues it and returns its id. A call that
// an earlier owner of the run completed is settled at once with its result
// and starts nothing.
func (e *Engine) Start(call *task.Call) (task.ID, error) {
	ids, err := e.StartAll([]*task.Call{call})
	if err != nil {
		return "", err
	}
	return ids[0], nil
}

// StartAll is [Engine.Start] for many calls, which are journaled together:
// all are taken or none.
func (e *Engine) StartAll(calls []*task.Call) (ids []task.ID, err error) {
	ok := e.do(func(context.Context) {
		switch {
		case e.broken != nil:
			err = e.broken
		case e.over:
			err = ErrClosed
		default:
			e.begun = true
			e.account.scripts = e.account.scripts || len(calls) > 0 && calls[0].Script
			ids, err = e.take(calls)
		}
	})
	if !ok {
		return nil, ErrClosed
	}
	return ids, err
}

// take takes calls: those that an earlier owner of the run has seen, and new
// ones.
func (e *Engine) take(calls []*task.Call) ([]task.ID, error) {
	if err := errors.Join(e.checkNeeds(calls), e.checkFork(calls), e.checkCalls(calls)); err != nil {
		return nil, err
	}
	if err := e.checkShared(calls); err != nil {
		return nil, err
	}
	var known, fresh []*agentState
	var ids []task.ID
	var facts []event.Event
	for _, call := range calls {
		c := *call
		c.Key = c.Sum()
		c.Occurrence = e.seen[c.Key]
		e.seen[c.Key]++
		if a := e.pick(&c); a != nil {
			known, ids = append(known, a), append(ids, a.id)
			if a.stands() || a.result == nil {
				continue
			}
			if a.owed == nil {
				// A caller that waits for the agent must not take its old end
				// for the new end.
				facts = append(facts, &event.Retried{
					Agent: a.id, Attempt: a.attempt, Error: kindOf(a.result), Reason: Resumed,
				})
			}
			a.result = nil
			continue
		}
		a := &agentState{id: task.AgentID(len(e.order) + 1), call: &c}
		e.know(a)
		fresh, ids = append(fresh, a), append(ids, a.id)
		facts = append(facts, &event.Called{Agent: a.id, Call: &c})
	}
	if err := e.appendAll(facts); err != nil {
		return nil, err
	}
	e.open += len(calls)
	for _, a := range known {
		e.again(a)
	}
	for _, a := range fresh {
		e.enqueue(a)
	}
	return ids, nil
}

// know adds an agent to those of the run.
func (e *Engine) know(a *agentState) {
	e.agents[a.id] = a
	e.order = append(e.order, a.id)
	if label := a.call.Label; label != "" && e.labels[label] == nil {
		e.labels[label] = a
	}
}

// Resumed is the reason of the records that take back how an agent ended
// under an earlier owner.
const Resumed = "resumed"

// kindOf is the kind of error of a result that is no success.
func kindOf(r task.Result) task.ErrorKind {
	switch r := r.(type) {
	case *task.Failed:
		return r.Kind
	case *task.Cancelled:
		return r.Cause
	case *task.Completed:
		return task.Other
	default:
		panic(fmt.Sprintf("unhandled %T", r))
	}
}

// stands reports whether an agent of an earlier owner answers a call with its
// result: it completed, was cancelled by name, is held, or a person accepted
// its patch.
func (a *agentState) stands() bool {
	_, completed := a.result.(*task.Completed)
	return completed || a.held || a.accepted || a.byName && a.result != nil
}

// again answers a call with an agent of an earlier owner: with its result if
// that stands, else with another attempt.
func (e *Engine) again(a *agentState) {
	switch {
	case a.stands() && a.names():
		e.takeSubject(a)
		return
	case a.stands():
		e.out = append(e.out, &Settled{Agent: a.id, Result: a.result, Replayed: true})
		e.owesSubject(a)
		return
	}
	e.enqueue(a)
}

// RetryRequest asks for another attempt of agents that have ended.
type RetryRequest struct {
	Agents []task.ID // required
	// Feedback is added to the agent's prompt.
	Feedback string
	// Remarks are the ids of the remarks on edits that Feedback holds.
	Remarks []int
	// Fresh starts a new conversation, from the base in place of the captured
	// work. For shared calls it does only the first: changes that others have
	// seen stay.
	Fresh bool
	// Onto is the commit that the attempts start from; empty: that of the last
	// attempts. It is for agents with a workspace of their own.
	Onto git.Hash
	// From is the work on Onto that an attempt starts from, by agent; agents
	// that are not named start from Onto itself.
	From map[task.ID]*task.Patch
	// Markers are the conflict markers in the files of From; nil: there are none.
	Markers *event.Markers
	// HandedBack is the reason for which a merge hands the patch of the only
	// agent back; nil: a person asks.
	HandedBack *event.HandedBack
	// Using is the model of the new attempts; nil: the model of the last
	// attempt.
	Using *task.Choice
}

// ErrOver answers a wish for another attempt that came when the run was about
// to end.
var ErrOver = errors.New("the run is ending; ask again once it has")

// ErrEarly answers a wish for another attempt that came before the run has
// made its calls.
var ErrEarly = errors.New("the run is only beginning; ask again")

// NotEndedError is a wish for another attempt of an agent that is at work.
type NotEndedError struct{ Agent task.ID }

func (e *NotEndedError) Error() string { return fmt.Sprintf("%s has not ended", e.Agent) }

// Retry queues agents that have ended for another attempt. Either all are
// queued or none.
func (e *Engine) Retry(r RetryRequest) (err error) {
	ok := e.do(func(context.Context) {
		switch {
		case e.over || e.ending:
			err = ErrOver
			return
		case !e.begun:
			// Its calls may ask for the same agents.
			err = ErrEarly
			return
		}
		var wishes []event.Event
		agents := unique(r.Agents)
		for _, id := range agents {
			a := e.agents[id]
			switch {
			case a == nil:
				err = fmt.Errorf("no agent %s in this run", id)
				return
			case a.result == nil:
				err = &NotEndedError{Agent: id}
				return
			}
			wish := &event.RetryAsked{
				Agent: id, After: a.attempt, Feedback: r.Feedback, Fresh: r.Fresh, Onto: string(r.Onto), Remarks: r.Remarks,
				Markers: r.Markers, HandedBack: r.HandedBack,
			}
			switch {
			case r.Onto != "" && a.call.Shared:
				err = fmt.Errorf("%s works in the shared workspace, which stays on its base", id)
				return
			case r.Onto != "":
				wish.From = r.From[id]
			case !r.Fresh || a.call.Shared:
				wish.From = a.result.Done().Patch
			}
			wishes = append(wishes, wish)
		}
		var switches []event.Event
		if r.Using != nil {
			for _, id := range agents {
				switches = append(switches, &event.Switched{
					Agent: id, Attempt: e.agents[id].attempt, Choice: *r.Using, Slow: true, Reason: "it continues with " + modelName(r.Using),
				})
			}
		}
		err = e.appendAll(slices.Concat(wishes, switches))
		for i, id := range agents {
			if err != nil {
				return
			}
			e.retry(e.agents[id], wishes[i].(*event.RetryAsked))
			if r.Using != nil {
				e.agents[id].switched = switches[i].(*event.Switched)
			}
		}
	})
	if !ok {
		return ErrOver
	}
	return err
}

// unique returns the list without its repeated ids.
func unique(ids []task.ID) []task.ID {
	var all []task.ID
	for _, id := range ids {
		if !slices.Contains(all, id) {
			all = append(all, id)
		}
	}
	return all
}

// retry queues an agent for a wish that is on disk.
func (e *Engine) retry(a *agentState, wish *event.RetryAsked) {
	a.retry, a.words = wish, nil
	if wish.Feedback != "" {
		a.remarks = append(a.remarks, store.Remark{After: wish.After, Text: wish.Feedback, Brief: wish.HandedBack != nil})
	}
	if task.SentBack(a.result) {
		a.failures++
	}
	a.spent, a.left = a.result.Done().Usage, *a.result.Done()
	a.result, a.owed, a.held, a.byName = nil, nil, false, false
	a.accepted = false
	a.tries, a.retried, a.refusals, a.waited = 0, 0, 0, 0
	e.open++
	e.enqueue(a)
}

// asked are the questions and replies of earlier owners.
func asked(prior *store.View) []event.Event {
	if prior == nil {
		return nil
	}
	var all []event.Event
	for _, q := range prior.Questions {
		all = append(all, &q.Questioned)
		if q.Reply != nil {
			all = append(all, q.Reply)
		}
	}
	return all
}
