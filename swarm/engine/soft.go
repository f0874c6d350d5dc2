package engine

import (
	"fmt"

	"agentswarm/swarm/task"
)

// An agent that accepts messages is asked for its final answer once it has used
// softPart of softWhole of any of its limits.
const (
	softPart  = 8
	softWhole = 10
)

// limitsOf are the limits of an attempt: those of its call, and of the run.
func limitsOf(c Config, call *task.Call) task.Limits {
	l := call.Limits
	l.Turns = lesser(l.Turns, c.MaxTurns)
	return l
}

// near says which limit the attempt comes near to; empty for none.
func (g *guard) near() string {
	l, s := g.limits, g.seen
	switch {
	case l.Turns > 0 && s.Turns >= max(1, l.Turns*softPart/softWhole):
		return fmt.Sprintf("You are at turn %d of the %d you may take.", s.Turns, l.Turns)
	case l.Tokens > 0 && s.Tokens >= l.Tokens/softWhole*softPart:
		return fmt.Sprintf("You have used %d of the %d tokens you may use.", s.Tokens, l.Tokens)
	case l.USD > 0 && s.USD >= l.USD*softPart/softWhole:
		return fmt.Sprintf("You have cost $%.4g of the $%.4g you may cost.", s.USD, l.USD)
	default:
		return ""
	}
}

// lastWord asks for a final answer.
func lastWord(used string) string {
	return used + " Begin nothing new: finish what you are at " +
		"so that it stands as it is, and give your final answer now. You will be stopped at the limit."
}

// remind asks the agent, once, for its final answer when it comes near to a
// limit. An agent that accepts no messages is stopped at the limit instead.
func (t *attempt) remind() {
	if t.guard.reminded || t.guard.over {
		return
	}
	used := t.guard.near()
	if used == "" {
		return
	}
	t.guard.reminded = true
	_ = t.engine.send(t.id, lastWord(used), true) // it may not be able to, or be gone
}

// remindAll asks all running agents, once, for their final answers when the
// budget is spent: they may still use their reservations.
func (e *Engine) remindAll() {
	if e.account.reminded || !e.account.Exhausted() {
		return
	}
	e.account.reminded = true
	for _, id := range e.order {
		l := e.lines.get(id)
		if e.agents[id].cancel == nil || l == nil || l.Steers() != nil {
			continue
		}
		text := lastWord("The agents have used up the budget of the run: " + SpentText(e.account.Spent(), e.account.Short()) + ".")
		if e.append(l.sent(id, text, true)) == nil {
			_ = l.Steer(text) // it may be gone
		}
	}
}
