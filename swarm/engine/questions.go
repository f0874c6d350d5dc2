package engine

import (
	"context"
	"fmt"
	"sync"

	"agentswarm/risk"
	"agentswarm/swarm/agent"
	"agentswarm/swarm/event"
	"agentswarm/swarm/inbox"
	"agentswarm/swarm/task"
)

// lines are the open lines to agents at work.
type lines struct {
	mu sync.Mutex // guards of
	of map[task.ID]*openLine
}

type openLine struct {
	*agent.Line
	attempt, round int
}

// sent is a message to the agent, with where its output was at that time.
func (l *openLine) sent(id task.ID, text string, auto bool) *event.Sent {
	return &event.Sent{Agent: id, Attempt: l.attempt, Text: text, Auto: auto, Round: l.round, Output: l.Wrote()}
}

func (l *lines) add(id task.ID, attempt, round int, line *agent.Line) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of == nil {
		l.of = map[task.ID]*openLine{}
	}
	l.of[id] = &openLine{Line: line, attempt: attempt, round: round}
}

func (l *lines) remove(id task.ID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.of, id)
}

func (l *lines) get(id task.ID) *openLine {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.of[id]
}

// NotRunningError is an agent that takes no messages: it has not begun, or has
// ended.
type NotRunningError struct{ Agent task.ID }

func (e *NotRunningError) Error() string { return fmt.Sprintf("%s is not running", e.Agent) }

// Line is the line to an agent at work.
func (e *Engine) Line(id task.ID) (*agent.Line, error) {
	if l := e.lines.get(id); l != nil {
		return l.Line, nil
	}
	return nil, &NotRunningError{Agent: id}
}

// Send sends a message to a running agent, if it accepts messages.
func (e *Engine) Send(id task.ID, text string) error {
	return e.send(id, text, false)
}

// send sends a message. A message from swarm itself concerns only the current
// attempt, and is not repeated to later attempts.
func (e *Engine) send(id task.ID, text string, auto bool) (err error) {
	l := e.lines.get(id)
	if l == nil {
		return &NotRunningError{Agent: id}
	}
	if err := l.Steers(); err != nil {
		return fmt.Errorf("%s %w", id, err)
	}
	ok := e.do(func(context.Context) {
		if err = e.append(l.sent(id, text, auto)); err != nil {
			return
		}
		if err = l.Steer(text); err != nil {
			err = fmt.Errorf("%s %w", id, err)
			return
		}
		if a := e.agents[id]; a != nil && !auto {
			a.words = append(a.words, text)
		}
	})
	if !ok {
		return ErrClosed
	}
	return err
}

// tellAgain repeats the messages of earlier attempts to the agent, once it
// accepts messages: their senders may wait for the effect.
func (t *attempt) tellAgain(ev event.Event) {
	if _, begun := ev.(*event.Session); !begun || len(t.unheard) == 0 || t.rounds.line.Steers() != nil {
		return
	}
	line := openLine{Line: t.rounds.line, attempt: t.n, round: t.rounds.n}
	for _, text := range t.unheard {
		if t.journal(line.sent(t.id, text, true)) == nil {
			_ = line.Steer(text) // it may be gone
		}
	}
	t.unheard = nil
}

// ask takes a question of an agent. The onTool of the call denies it, an
// earlier answer answers it at once, or it waits in the inbox.
//
// A judge decides first, as for the actions of hooks: an allowed action needs
// no question.
func (e *Engine) ask(ctx context.Context, t *attempt, asked *event.Asked) {
	seen := &event.Asked{ID: asked.ID, Action: veiled(asked.Action)}
	why := t.guard.forbids(ctx, seen)
	ruling := e.judged(t, asked.Action, why)
	if ruling != nil && ruling.Verdict != risk.Ask {
		e.deps.Judge.Record(ruling, Settlement{Allow: ruling.Verdict == risk.Proceed, By: task.ByRisk})
	}
	if ruling != nil && ruling.Verdict == risk.Proceed {
		if l := e.lines.get(t.id); l != nil {
			l.Reply(agent.Reply{Ask: asked.ID, Allow: true})
		}
		return
	}
	e.do(func(context.Context) {
		switch {
		case why != "":
			e.deny(t, seen, task.ByScript, why)
		case ruling != nil && ruling.Verdict == risk.Deny:
			e.deny(t, seen, task.ByRisk, ruling.refusal())
		default:
			q, r := e.box.AskAbout(t.id, t.n, asked, looked(ruling, asked.Action))
			e.keepRuling(q, ruling)
			if e.append(q) == nil && r != nil {
				_ = e.reply(q, r) // an agent that does not listen gets nothing
			}
		}
	})
}

// deny answers a question without a person.
func (e *Engine) deny(t *attempt, asked *event.Asked, by task.By, why string) {
	q, r := e.box.Deny(t.id, t.n, asked, why)
	r.By = by
	if e.append(q) == nil {
		_ = e.reply(q, r) // an agent that does not listen gets nothing
	}
}

// Answer answers a question, and all other questions that the answer covers. It
// returns [inbox.ErrNotOpen] for a question that is not open, and an
// [*inbox.OtherError] for an answer to an action that the agent did not ask. It
// returns the agents of the closed questions, first that of the named question.
func (e *Engine) Answer(a inbox.Answer) (agents []task.ID, err error) {
	ok := e.do(func(context.Context) {
		var closed []inbox.Closed
		if err = e.canRemark(&a); err != nil {
			return
		}
		if closed, err = e.box.Answer(a); err != nil {
			return
		}
		var facts []event.Event
		entered := map[string]*event.Entered{}
		for _, c := range closed {
			facts = append(facts, c.Reply)
			if c.Question.Agent != "" {
				agents = append(agents, c.Question.Agent)
			} else {
				entered[c.Question.ID] = concluded(c.Question, c.Reply)
				facts = append(facts, entered[c.Question.ID])
			}
		}
		if err = e.appendAll(facts); err != nil {
			return
		}
		for i, c := range closed {
			if fact := entered[c.Question.ID]; fact != nil {
				e.out = append(e.out, &Entered{fact})
				continue
			}
			// The answering person gets the error of their own question only.
			if told := e.deliver(c.Question, c.Reply); i == 0 {
				err = told
			}
		}
	})
	if !ok {
		return nil, ErrClosed
	}
	return agents, err
}

// reply journals a reply and passes it on.
func (e *Engine) reply(q *event.Questioned, r *event.Replied) error {
	if err := e.append(r); err != nil {
		return err
	}
	return e.deliver(q, r)
}

// deliver passes a reply on to the agent, if it is still there.
func (e *Engine) deliver(q *event.Questioned, r *event.Replied) error {
	e.settleRuling(q, r)
	if e.heard.deliver(q.ID, r) {
		return e.remark(q, r)
	}
	l := e.lines.get(q.Agent)
	if l == nil || l.attempt != q.Attempt ||
		!l.Reply(agent.Reply{Ask: q.Ask, Allow: r.Allow, Text: r.Text, Reason: r.Reason}) {
		return fmt.Errorf("%s %w", q.Agent, agent.ErrNotListening)
	}
	return nil
}

// canRemark refuses a text beside a yes that cannot reach the agent: its hook
// takes none with a yes, and the agent takes no messages.
func (e *Engine) canRemark(a *inbox.Answer) error {
	q := e.box.Waiting(a.ID)
	if !a.Allow || a.Text == "" || q == nil || !e.heard.waits(q.ID) {
		return nil
	}
	line := e.lines.get(q.Agent)
	if line == nil {
		return nil // it is ending
	}
	if err := line.Steers(); err != nil {
		return fmt.Errorf("the text cannot reach %s, which %w; answer yes alone, or no with the text", q.Agent, err)
	}
	return nil
}

// remark sends an agent the text that came with a yes.
func (e *Engine) remark(q *event.Questioned, r *event.Replied) error {
	line := e.lines.get(q.Agent)
	if !r.Allow || r.Text == "" || line == nil || line.attempt != q.Attempt {
		return nil
	}
	sent := line.sent(q.Agent, allowedWith+r.Text, true)
	if err := e.append(sent); err != nil {
		return err
	}
	if err := line.Steer(sent.Text); err != nil {
		return fmt.Errorf("%s %w", q.Agent, err)
	}
	return nil
}

// allowedWith comes before the text that a person gave with a yes.
const allowedWith = "A person allowed the action that you asked for and says: "

// endQuestions closes the unanswered questions of an agent.
func (e *Engine) endQuestions(id task.ID) {
	for _, q := range e.box.End(id) {
		r := &event.Replied{ID: q.ID, By: task.ByEnd, Reason: "the agent ended first"}
		_ = e.append(r)
		e.settleRuling(q, r)
		e.heard.deliver(q.ID, r)
	}
}
