package engine

import (
	"context"
	"errors"
	"slices"

	"agentswarm/swarm/event"
	"agentswarm/swarm/inbox"
	"agentswarm/swarm/task"
)

// Drain takes all news there are, without waiting for more.
func (e *Engine) Drain() (news []News) {
	e.do(func(context.Context) {
		news, e.out = e.out, nil
		for _, n := range news {
			if _, ended := n.(*Settled); ended {
				e.open--
			}
		}
	})
	return news
}

// Hold keeps new attempts from starting until it is called with false. Calls
// are taken meanwhile.
func (e *Engine) Hold(hold bool) { e.do(func(context.Context) { e.onHold = hold }) }

// CancelByScript ends agents as [Engine.Cancel] does, in the name of the
// script: a resume will not start them again. Those that have ended stay as
// they are, and nothing is said of them.
func (e *Engine) CancelByScript(ids []task.ID, reason string) error {
	err := ErrClosed
	e.do(func(context.Context) {
		alive := slices.DeleteFunc(slices.Clone(ids), func(id task.ID) bool {
			a := e.agents[id]
			return a == nil || a.result != nil
		})
		if err = nil; len(alive) == 0 {
			return
		}
		h := &Halt{Cause: task.CauseCancelled, Reason: reason}
		err = e.append(&event.CancelAsked{Agents: alive, Cause: h.Cause, Reason: h.Reason, Script: true})
		if err != nil {
			return
		}
		for _, id := range alive {
			e.cancelOne(e.agents[id], h)
		}
	})
	return err
}

// pick takes the earlier agent with the same key that answers a call. Among a
// script's calls an agent that stands comes first.
func (e *Engine) pick(call *task.Call) *agentState {
	prior := e.prior[call.Key]
	at := choose(call, prior, func(id task.ID) bool { return e.agents[id].stands() })
	if at < 0 {
		return nil
	}
	a := e.agents[prior[at]]
	e.prior[call.Key] = slices.Delete(slices.Clone(prior), at, at+1)
	return a
}

// choose returns the index, among earlier agents of the same key, of the agent
// that answers a call; -1: none.
func choose(call *task.Call, prior []task.ID, stands func(task.ID) bool) int {
	switch {
	case len(prior) == 0 || call.Uncached:
		return -1
	case call.Script:
		return max(0, slices.IndexFunc(prior, stands))
	default:
		return 0
	}
}

// ErrNoPerson says that a question was not put to anybody.
var ErrNoPerson = errors.New("no person can be asked here")

// Inquire puts a script's question to a person. The answer is among the news as
// an entry of the key, with the text of the reply as its value. It returns
// [ErrNoPerson] if no person can be asked; then no news follows.
func (e *Engine) Inquire(key string, action []byte) error {
	err := ErrClosed
	e.do(func(context.Context) {
		q, r := e.box.Ask("", 0, &event.Asked{Action: action})
		q.Key = key
		switch {
		case r == nil:
			err = e.append(q)
		case r.By == task.ByPolicy:
			err = ErrNoPerson
		default:
			entered := concluded(q, r)
			if err = e.appendAll([]event.Event{q, r, entered}); err == nil {
				e.out = append(e.out, &Entered{entered})
			}
		}
	})
	return err
}

// Withdraw closes an unanswered question of a script. It reports false if there
// is none. It returns the error of the journal.
func (e *Engine) Withdraw(key string) (open bool, err error) {
	e.do(func(context.Context) {
		for _, q := range e.box.EndKey(key) {
			open = true
			err = e.append(&event.Replied{ID: q.ID, By: task.ByEnd, Reason: "the script waits no longer"})
		}
	})
	return open, err
}

// concluded is the answer to a script's question, as it enters the script.
func concluded(q *event.Questioned, r *event.Replied) *event.Entered {
	return &event.Entered{Verb: "question", Key: q.Key, Value: inbox.Said(r)}
}
