package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// hookTime is how long a function may take to answer. It has its own, much
// shorter limit; this one is for whatever runs it, where it waits for its turn.
const hookTime = 30 * time.Second

// maxHookReason bounds the reason that a function gives.
const maxHookReason = 1000

// guard holds one attempt to what its call allows. It belongs to whoever reads
// the agent's events.
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

// snapshot is what stopWhen is shown of an attempt.
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

// see takes an event, and returns why the attempt ends by it; nil where it
// goes on.
//
// An attempt may begin as many turns as its limit says, and is ended by the
// next one. It is ended once it has used as much as its other limits say.
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

// asked asks the call's stopWhen. One that cannot say no more stops the
// attempt than it lets it run away: whoever gave it relies on it.
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

// forbids asks the call's onTool about an action, and returns why that is
// denied; empty where it is left to whoever decides otherwise.
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

// brief bounds what a function says.
func brief(s string) string {
	if s == "" {
		return "nothing"
	}
	return head(s, maxHookReason)
}
