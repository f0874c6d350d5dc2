package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"agentswarm/swarm/script"
)

// DefaultMaxAgents is the default number of agents that a case may start.
const DefaultMaxAgents = 1000

// Options configures a host beside its case.
type Options struct {
	MaxAgents int // 0: [DefaultMaxAgents]
	// Nested finds a workflow that is called by another; nil: there is none.
	Nested func(*script.Nested) (script.Source, error)
}

// Host answers a script as a case says. It is a [script.Host].
type Host struct {
	c     *Case
	opts  Options
	store *store

	now    int64
	queue  []*event // the pending events, the earliest first
	made   int      // events so far
	agents []*live  // in the order of their calls
	used   map[any]int
	spent  int64
	shared string            // the tree of the shared workspace
	tips   map[string]string // the trees of branches
	logs   []string
	broken error
}

// event is delivered at a tick, after the earlier events of the same tick.
type event struct {
	at      int64
	order   int
	n       int   // of the request; 0 for an agent
	agent   *live // nil for a request
	deliver func() script.Delivery
}

// live is an agent that was started.
type live struct {
	id    string
	call  *script.Call
	says  *Agent
	base  string
	end   func(*script.Result) // fills in how it ends
	ended bool
}

// NewHost is a host at the beginning of a case.
func NewHost(c *Case, opts Options) *Host {
	if opts.MaxAgents == 0 {
		opts.MaxAgents = DefaultMaxAgents
	}
	y := newStore(c.Repo.Files)
	return &Host{c: c, opts: opts, store: y, used: map[any]int{}, shared: y.base, tips: map[string]string{}}
}

// Started is the number of agents started so far.
func (h *Host) Started() int { return len(h.agents) }

// Calls are the calls of agents, in the order of their start.
func (h *Host) Calls() []*script.Call {
	calls := make([]*script.Call, len(h.agents))
	for i, a := range h.agents {
		calls[i] = a.call
	}
	return calls
}

// Logs are the lines that the script wrote.
func (h *Host) Logs() []string { return h.logs }

// Err is an error for a call that the case has no answer for; nil: it had an
// answer for each. The error ended the script.
func (h *Host) Err() error { return h.broken }

// Do answers at once.
func (h *Host) Do(_ context.Context, r script.Request) (json.RawMessage, error) {
	if h.broken != nil {
		return nil, h.broken
	}
	answer, err := h.do(r)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(answer)
	if err != nil {
		return nil, fmt.Errorf("write the answer of a %s: %w", script.Verb(r), err)
	}
	return text, nil
}

func (h *Host) do(r script.Request) (any, error) {
	switch r := r.(type) {
	case *script.Call:
		return h.call(r)
	case *script.Merge:
		return h.store.merge(r.Onto, r.Patches)
	case *script.PatchText:
		return h.store.text(r.ID)
	case *script.Evidence:
		return h.evidence(r)
	case *script.Repo:
		return h.c.Repo.ask(r)
	case *script.Nested:
		if h.opts.Nested == nil {
			return nil, &script.Error{
				Name: "Error", Code: script.CodeUnknown, Message: fmt.Sprintf("there is no workflow %q", r.Name+r.Path),
			}
		}
		return h.opts.Nested(r)
	default:
		return nil, h.fail(fmt.Errorf("a %s is not answered at once", script.Verb(r)))
	}
}

// Post takes a request.
func (h *Host) Post(n int, r script.Request) error {
	if h.broken != nil {
		return h.broken
	}
	switch r := r.(type) {
	case *script.Cancel:
		h.cancel(r)
	case *script.Timer:
		h.answer(n, r.MS, func() script.Delivery { return script.Delivery{} })
	case *script.Untimer:
		h.queue = slices.DeleteFunc(h.queue, func(e *event) bool { return e.n == r.N })
	case *script.Check:
		return h.check(n, r)
	case *script.Land:
		return h.land(n, r)
	case *script.Question:
		return h.question(n, r)
	case *script.Send:
		delivered := slices.ContainsFunc(h.agents, func(a *live) bool { return a.id == r.ID && !a.ended })
		h.value(n, 0, map[string]bool{"delivered": delivered})
	case *script.Appraise, *script.Choose: // the tests of scripts show neither
	case *script.Log:
		h.logs = append(h.logs, r.Text)
	case *script.Phase: // the phases of agents come with their calls
	default:
		return h.fail(fmt.Errorf("a %s is not answered later", script.Verb(r)))
	}
	return nil
}

// Next returns the next event. It passes over ticks without events.
func (h *Host) Next(ctx context.Context) (script.Delivery, error) {
	switch {
	case ctx.Err() != nil:
		return script.Delivery{}, context.Cause(ctx)
	case h.broken != nil:
		return script.Delivery{}, h.broken
	case len(h.queue) == 0:
		return script.Delivery{}, &script.Error{
			Name: "Error", Code: script.CodeStuck, Message: "the script waits for what never comes",
		}
	}
	e := h.queue[0]
	h.queue = h.queue[1:]
	h.now = e.at
	d := e.deliver()
	d.N = e.n
	return d, nil
}

// fail ends the case: later results of the script mean nothing.
func (h *Host) fail(err error) error {
	if h.broken == nil {
		h.broken = err
	}
	return h.broken
}

// later puts an event in its place.
func (h *Host) later(delay int64, e *event) {
	h.made++
	e.at, e.order = h.now+delay, h.made
	at, _ := slices.BinarySearchFunc(h.queue, e, func(a, b *event) int {
		if a.at != b.at {
			return int(min(1, max(-1, a.at-b.at)))
		}
		return a.order - b.order
	})
	h.queue = slices.Insert(h.queue, at, e)
}

func (h *Host) answer(n int, delay int64, deliver func() script.Delivery) {
	h.later(delay, &event{n: n, deliver: deliver})
}

// value answers a request with a value that has a JSON of its own.
func (h *Host) value(n int, delay int64, v any) {
	h.answer(n, delay, func() script.Delivery {
		text, err := json.Marshal(v)
		if err != nil {
			return script.Delivery{Error: &script.Error{Name: "Error", Message: err.Error()}}
		}
		return script.Delivery{Value: text}
	})
}

// take reports whether an entry of the case may answer once more, and counts
// it.
func (h *Host) take(entry any, times int) bool {
	if times > 0 && h.used[entry] >= times {
		return false
	}
	h.used[entry]++
	return true
}

// missing reports a call that the case has no answer for.
func (h *Host) missing(table, what string) error {
	return h.fail(fmt.Errorf("no [[case.%s]] answers %s", table, what))
}

// brief is a text as messages quote it.
func brief(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if runes := []rune(s); len(runes) > 80 {
		s = string(runes[:79]) + "…"
	}
	return fmt.Sprintf("%q", s)
}

// unused lists the entries that answered nothing, as a hint to the reason of a
// failure.
func (h *Host) unused() []string {
	var out []string
	for _, a := range h.c.Agents {
		if h.used[a] == 0 {
			out = append(out, fmt.Sprintf("[[case.agent]] of line %d", a.Line))
		}
	}
	for _, c := range h.c.Checks {
		if h.used[c] == 0 {
			out = append(out, fmt.Sprintf("[[case.check]] of line %d", c.Line))
		}
	}
	for _, a := range h.c.Answers {
		if h.used[a] == 0 {
			out = append(out, fmt.Sprintf("[[case.answer]] of line %d", a.Line))
		}
	}
	return out
}
