package script

import (
	"encoding/json"
	"fmt"

	"github.com/dop251/goja"

	"agentswarm/swarm/stage"
)

// parts returns the instructions of each stage of std.stages.
func (m *machine) parts() goja.Value {
	text, err := json.Marshal(stage.Parts())
	if err != nil {
		m.throw(err)
	}
	return m.value(text)
}

// review returns the request of std.stages to a reviewer, as {prompt, brief,
// schema}. All other reviewers get the same. It depends on its argument alone.
func (m *machine) review(call goja.FunctionCall) goja.Value {
	text, err := m.encode(call.Argument(0), "a review")
	if err != nil {
		m.throw(err)
	}
	var r stage.Review
	if err := json.Unmarshal(text, &r); err != nil {
		m.throw(fmt.Errorf("read a review: %w", err))
	}
	asked := struct {
		Prompt string          `json:"prompt"`
		Brief  string          `json:"brief,omitempty"`
		Schema json.RawMessage `json:"schema"`
	}{Schema: stage.Verdict()}
	asked.Prompt, asked.Brief = r.Ask()
	if text, err = json.Marshal(asked); err != nil {
		m.throw(err)
	}
	return m.value(text)
}
