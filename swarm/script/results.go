package script

import (
	"encoding/json"
	"fmt"

	"github.com/dop251/goja"
)

// failure is why something is null.
type failure struct {
	ID      string `json:"id,omitempty"`
	Label   string `json:"label,omitempty"`
	Phase   string `json:"phase,omitempty"`
	Kind    string `json:"kind"`
	Message string `json:"message"`
}

// kindScript is the kind of a failure that is an error the script threw;
// kindRace is that of a race without a winner.
const (
	kindScript = "script"
	kindRace   = "race"
)

// settle takes the end of an agent. The first end holds.
func (m *machine) settle(c *child, r *Result) {
	if c.end != nil {
		return
	}
	c.end = sound(r, c)
	m.working--
	if r.Usage != nil {
		m.spent += r.Usage.Output
	}
	if e := c.end.Error; e != nil {
		m.failures = append(m.failures, failure{
			ID: c.id, Label: c.end.Label, Phase: c.end.Phase, Kind: e.Kind, Message: e.Message,
		})
	}
	waiting := c.waiting
	c.waiting = nil
	for _, f := range waiting {
		f()
	}
}

// sound returns a result with only the fields of its status.
func sound(r *Result, c *child) *Result {
	s := *r
	if s.Label == "" {
		s.Label = c.label
	}
	if s.Phase == "" {
		s.Phase = c.phase
	}
	if s.Status == "completed" {
		s.Error = nil
		return &s
	}
	s.Output, s.Structured = nil, nil
	if s.Error == nil {
		s.Error = &Failure{Kind: "other", Message: "it " + s.Status}
	}
	return &s
}

// outcome returns the value of agent() for an ended agent. It throws if there
// is no answer that matches the schema.
func (m *machine) outcome(c *child, r request) goja.Value {
	end := c.end
	switch {
	case r.full:
		return m.result(end)
	case end.Status == "completed" && len(r.Schema) == 0:
		if end.Output == nil {
			return m.rt.ToValue("")
		}
		return m.rt.ToValue(*end.Output)
	case end.Status == "completed" && len(end.Structured) > 0:
		return m.value(end.Structured)
	case end.Status == "completed":
		m.throw(fmt.Errorf("the host delivered %s, which has a schema, without a structured answer", c.id))
	case end.Error.Kind == "schema":
		e := m.faultAt(&Error{Name: "Error", Code: CodeSchema, Message: end.Error.Message}, c.at)
		m.noted[e] = true
		panic(e)
	case end.Error.Refused:
		e := m.faultAt(&Error{Name: "Error", Code: CodeBudget, Message: end.Error.Message}, c.at)
		m.noted[e] = true
		panic(e)
	}
	return goja.Null()
}

// result is how an agent ended, as the script sees it: a copy of its own.
func (m *machine) result(end *Result) goja.Value {
	text, err := json.Marshal(end)
	if err != nil {
		m.throw(fmt.Errorf("write the result of %s: %w", end.ID, err))
	}
	v := m.value(text)
	o, ok := v.(*goja.Object)
	if !ok {
		return v
	}
	status := m.rt.ToValue(end.Status)
	if err := o.DefineDataPropertySymbol(m.ending, status, goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE); err != nil {
		m.throw(err)
	}
	if p, ok := o.Get("patch").(*goja.Object); ok {
		id := end.Patch.ID
		m.define(p, "text", m.function("text", func(goja.FunctionCall) goja.Value {
			return m.value(m.do(&PatchText{ID: id}))
		}))
	}
	return o
}

// standing returns the value of sa.status().
func (m *machine) standing(c *child) goja.Value {
	if c.end != nil {
		return m.result(c.end)
	}
	return m.value(object("id", c.id, "status", "running", "label", c.label, "phase", c.phase))
}

// object is a JSON object of pairs of strings; those that are empty are left
// out.
func object(pairs ...string) json.RawMessage {
	text := []byte{'{'}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			continue
		}
		if len(text) > 1 {
			text = append(text, ',')
		}
		key, _ := json.Marshal(pairs[i])
		word, _ := json.Marshal(pairs[i+1])
		text = append(append(append(text, key...), ':'), word...)
	}
	return append(text, '}')
}

// patchID is the id of the patch that v is or holds. It is empty for the result
// of an agent that changed nothing.
func (m *machine) patchID(what string, v goja.Value) (string, error) {
	o, ok := v.(*goja.Object)
	switch {
	case goja.IsString(v) && v.String() != "":
		return v.String(), nil
	case !ok:
		return "", invalid("%s must be a patch, a result or an id, not %s", what, kindOf(v))
	}
	if p, ok := o.Get("patch").(*goja.Object); ok {
		o = p
	} else if m.property(o, "status") != "" {
		return "", nil
	}
	id, base := m.property(o, "id"), m.property(o, "base")
	if id == "" || base == "" {
		return "", invalid("%s must be a patch, a result or an id, not %s", what, kindOf(v))
	}
	return id, nil
}

// patchIDs returns the ids of the patches of a list. An item without a patch is
// skipped: an agent need not change anything.
func (m *machine) patchIDs(what string, v goja.Value) []string {
	list, ok := elements(v)
	if !ok {
		if absent(v) {
			m.throw(invalid("%s: wants a list of patches, not %s", what, kindOf(v)))
		}
		list = []goja.Value{v}
	}
	if ok {
		m.bounded(what, length(v.(*goja.Object)))
	}
	ids := []string{}
	for i, e := range list {
		if absent(e) {
			continue
		}
		id, err := m.patchID(fmt.Sprintf("%s: item %d", what, i), e)
		if err != nil {
			m.throw(err)
		}
		if id != "" {
			ids = append(ids, id)
		}
	}
	return ids
}

// noteThrown records a mistake in a slot of a combinator that throws it on. It
// is in failures() and in the log even if the script catches it. The run itself
// reports its refusals.
func (m *machine) noteThrown(call goja.FunctionCall) goja.Value {
	if o, ok := call.Argument(0).(*goja.Object); !ok || !m.refused[o] {
		m.note(call, "threw")
	}
	return nil
}

// note records the end of a slot, in failures() and as a line for people. The
// line has the caught error, the combinator and the slot. An error whose cause
// is recorded is not recorded again.
func (m *machine) note(call goja.FunctionCall, became string) {
	v := call.Argument(0)
	kind := kindScript
	if o, ok := v.(*goja.Object); ok {
		if m.noted[o] || m.lost[o] {
			return
		}
		m.noted[o] = true
		if code := m.faults[o]; code != "" {
			kind = string(code)
		}
	}
	e := m.describe(v)
	message := e.Message
	if e.Name != "Error" {
		message = e.Name + ": " + message
	}
	if e.Where != "" {
		message += " (" + e.Where + ")"
	}
	m.failures = append(m.failures, failure{Phase: m.phase, Kind: kind, Message: clip(message)})
	m.print(fmt.Sprintf("%s: item %s %s: %s", call.Argument(1), call.Argument(2), became, message))
}

// failuresList is failures().
func (m *machine) failuresList(goja.FunctionCall) goja.Value {
	all := m.failures
	if all == nil {
		all = []failure{}
	}
	text, err := json.Marshal(all)
	if err != nil {
		m.throw(fmt.Errorf("write the failures: %w", err))
	}
	return m.value(text)
}
