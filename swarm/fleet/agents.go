package fleet

import (
	"encoding/json"
	"fmt"
	"slices"

	"agentswarm/swarm/script"
	"agentswarm/swarm/task"
)

// call starts an agent.
func (h *Host) call(r *script.Call) (any, error) {
	if budget := h.c.Budget; budget > 0 && h.spent >= budget {
		return nil, &script.Error{
			Name: "Error", Code: script.CodeBudget,
			Message: fmt.Sprintf("the budget is spent: %d of %d tokens", h.spent, budget),
		}
	}
	if len(h.agents) >= h.opts.MaxAgents {
		return nil, &script.Error{
			Name: "Error", Code: script.CodeLimit,
			Message: fmt.Sprintf("the script has made the %d calls that a run may make (--max-agents)", h.opts.MaxAgents),
		}
	}
	if r.Isolation == "shared" && r.Base != "" {
		return nil, &script.Error{
			Name: "TypeError", Code: script.CodeOption,
			Message: "base: an agent in the shared workspace starts from what is there",
		}
	}
	base, err := h.store.at(r.Base)
	if err != nil {
		return nil, err
	}
	schema, err := compile("schema", r.Schema)
	if err != nil {
		return nil, &script.Error{Name: "TypeError", Code: script.CodeOption, Message: err.Error()}
	}
	a := &live{id: fmt.Sprintf("a%d", len(h.agents)+1), call: r, base: base}
	for _, says := range h.c.Agents {
		if says.Match.Match(r.Prompt) && says.Label.Is(r.Label) && h.take(says, says.Times) {
			a.says = says
			break
		}
	}
	if a.says == nil {
		label := ""
		if r.Label != "" {
			label = " labelled " + brief(r.Label)
		}
		return nil, h.missing("agent", fmt.Sprintf("%s%s: %s", a.id, label, brief(r.Prompt)))
	}
	h.agents = append(h.agents, a)
	a.end = func(res *script.Result) { a.finish(res, schema) }
	delay := a.says.Delay
	if ms := r.Limits.MS; ms > 0 && delay > ms {
		delay = ms
		a.end = failing("failed", task.Timeout, fmt.Sprintf("ran longer than %d ms", ms))
	}
	h.later(delay, &event{agent: a, deliver: func() script.Delivery { return h.ends(a) }})
	return map[string]string{"id": a.id}, nil
}

// ends is the delivery of an agent's end.
func (h *Host) ends(a *live) script.Delivery {
	a.ended = true
	r := &script.Result{ID: a.id, Label: a.call.Label, Phase: a.call.Phase}
	r.Usage = &script.Usage{Output: a.says.Tokens}
	h.spent += a.says.Tokens
	shared := a.call.Isolation == "shared"
	if shared {
		a.base = h.shared
	}
	a.end(r)
	// A cancelled agent had no time to change anything.
	if r.Status != "cancelled" {
		r.Patch = h.store.patch(a.id, a.base, a.says)
	}
	if shared && r.Patch != nil {
		h.shared = r.Patch.ID
	}
	return script.Delivery{Result: r}
}

// finish is the end of an agent that is left alone.
func (a *live) finish(r *script.Result, schema *schema) {
	switch e := a.says.Ending.(type) {
	case *Fail:
		status := "failed"
		if slices.Contains([]task.ErrorKind{
			task.CauseCancelled, task.CauseStopped, task.CauseBudget, task.CauseDependency,
		}, e.Kind) {
			status = "cancelled"
		}
		failing(status, e.Kind, e.Message)(r)
	case *Reply:
		a.answer(r, schema, e.Text)
	case *Structured:
		a.answer(r, schema, string(e.Value))
	default:
		panic(fmt.Sprintf("unhandled %T", e))
	}
}

// answer completes an agent. An answer to a schema is JSON that fits it.
func (a *live) answer(r *script.Result, schema *schema, text string) {
	if schema != nil {
		if err := schema.check(json.RawMessage(text)); err != nil {
			failing("failed", task.SchemaMismatch, err.Error())(r)
			return
		}
		r.Structured = json.RawMessage(text)
	}
	r.Status, r.Output = "completed", &text
}

func failing(status string, kind task.ErrorKind, message string) func(*script.Result) {
	return func(r *script.Result) {
		r.Status = status
		r.Error = &script.Failure{Kind: string(kind), Message: message}
	}
}

// cancel ends an agent now, after the events that are due now already.
func (h *Host) cancel(r *script.Cancel) {
	at := slices.IndexFunc(h.queue, func(e *event) bool { return e.agent != nil && e.agent.id == r.ID })
	if at < 0 {
		return // it has ended
	}
	a := h.queue[at].agent
	h.queue = slices.Delete(h.queue, at, at+1)
	reason := r.Reason
	if reason == "" {
		reason = "cancelled by the script"
	}
	a.end = failing("cancelled", task.CauseCancelled, reason)
	h.later(0, &event{agent: a, deliver: func() script.Delivery { return h.ends(a) }})
}
