package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// hookTime bounds the time until a function has answered. The function has its
// own, much shorter limit; this limit covers the wait for its turn in its
// runner.
const hookTime = 30 * time.Second

// maxHookReason bounds the reason that a function gives.
const maxHookReason = 1000

// guard enforces the limits of a call on an attempt. The reader of the agent's
// events owns it.
type guard struct {
	call  *task.Call
	hooks Hooks // nil only where the call has no functions
	now   func() time.Time
	began time.Time
	// limits are those of the call, and of the run.
	limits task.Limits
	seen   snapshot
	over   bool // it has ended the attempt
	// reminded is set once the agent was asked for its final answer.
	reminded bool
}

// snapshot is the state of an attempt as stopWhen receives it.
type snapshot struct {
	Turns  int     `json:"turns"`
	Tools  int     `json:"tools"`
	Tokens int64   `json:"tokens"` // output and reasoning
	USD    float64 `json:"usd"`
	MS     int64   `json:"ms"`
	Text   string  `json:"text"` // the end of the last it said
}

// enough is the cause of a context that a stopWhen ended.
type enough struct{}

func (*enough) Error() string { return "its stopWhen is true" }

// see takes an event, and returns the reason for ending the attempt; nil: it
// continues.
//
// An attempt may begin as many turns as its limit says, and is ended by the
// turn after them. It is ended once it has reached any of its other limits.
func (g *guard) see(ctx context.Context, e event.Event) error {
	if g.over {
		return nil
	}
	switch e := e.(type) {
	case *event.Turn:
		g.seen.Turns++
	case *event.Spent:
		g.seen.Tokens += e.Output
		g.seen.USD += e.CostUSD
	case *event.ToolStart:
		g.seen.Tools++
	case *event.ToolEnd:
	case *event.Text:
		g.seen.Text = tail(e.Text, task.OutputLimit)
		return nil
	default:
		return nil
	}
	cause := g.limited()
	if cause == nil && g.call.StopWhen != "" {
		cause = g.asked(ctx)
	}
	g.over = cause != nil
	return cause
}

// limited is the limit that was reached; nil for none.
func (g *guard) limited() error {
	l, s := g.limits, g.seen
	reason := ""
	switch {
	case l.Turns > 0 && s.Turns > l.Turns && l.Turns != g.call.Limits.Turns:
		reason = fmt.Sprintf("--max-turns: it began turn %d, and may take %d", s.Turns, l.Turns)
	case l.Turns > 0 && s.Turns > l.Turns:
		reason = fmt.Sprintf("limits.turns: it began turn %d, and may take %d", s.Turns, l.Turns)
	case l.Tokens > 0 && s.Tokens >= l.Tokens:
		reason = fmt.Sprintf("limits.tokens: it used %d of %d", s.Tokens, l.Tokens)
	case l.USD > 0 && s.USD >= l.USD:
		reason = fmt.Sprintf("limits.usd: it cost %.4g of %.4g", s.USD, l.USD)
	default:
		return nil
	}
	return &Halt{Cause: task.CauseBudget, Reason: reason}
}

// asked calls the call's stopWhen. If the function fails, the attempt is
// stopped, because the author relies on the function.
func (g *guard) asked(ctx context.Context) error {
	g.seen.MS = g.now().Sub(g.began).Milliseconds()
	input, err := json.Marshal(g.seen)
	if err != nil {
		return &Halt{Cause: task.CauseCancelled, Reason: "stopWhen: " + err.Error()}
	}
	value, err := decide(ctx, g.hooks, g.call.StopWhen, input)
	if ctx.Err() != nil {
		return nil // the attempt ends anyway
	}
	var stop bool
	switch {
	case err != nil:
		return &Halt{Cause: task.CauseCancelled, Reason: "stopWhen: " + brief(err.Error())}
	case json.Unmarshal(value, &stop) != nil || string(value) == "null":
		return &Halt{
			Cause:  task.CauseCancelled,
			Reason: "stopWhen: it must return true or false, and returned " + brief(string(value)),
		}
	case stop:
		return &enough{}
	}
	return nil
}

// forbids asks the call's onTool about an action, and returns the reason of a
// denial; empty: the decision is left to the judge or a person.
func (g *guard) forbids(ctx context.Context, asked *event.Asked) string {
	if g.call.OnTool == "" {
		return ""
	}
	input, err := json.Marshal(struct {
		ID     string          `json:"id"`
		Action json.RawMessage `json:"action,omitempty"`
	}{asked.ID, asked.Action})
	if err != nil {
		return "onTool: " + err.Error()
	}
	value, err := decide(ctx, g.hooks, g.call.OnTool, input)
	if err != nil {
		return "onTool: " + brief(err.Error())
	}
	var word string
	switch err := json.Unmarshal(value, &word); {
	case err != nil, word == "":
		return `onTool: it must return "allow", "deny" or a reason, and returned ` + brief(string(value))
	case word == "allow":
		return ""
	case word == "deny":
		return "denied by onTool"
	default:
		return brief(word)
	}
}

// decide calls a function.
func decide(ctx context.Context, h Hooks, source string, input json.RawMessage) (json.RawMessage, error) {
	if h == nil {
		return nil, ErrNoHooks
	}
	ctx, cancel := context.WithTimeout(ctx, hookTime)
	defer cancel()
	return h.Decide(ctx, source, input)
}

// brief bounds the text that a function returned.
func brief(s string) string {
	if s == "" {
		return "nothing"
	}
	return head(s, maxHookReason)
}
