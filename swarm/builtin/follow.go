package builtin

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"agentswarm/swarm/builtin/model"
	"agentswarm/swarm/schema"
	"agentswarm/swarm/task"
)

const (
	maxWrong = 2 // answers that do not match and are asked for again
	maxMore  = 3 // messages in a row that are cut off, or empty
	// maxAtOnce is how many tools run side by side.
	maxAtOnce = 8
)

// form is what an answer must look like, and how often it did not.
type form struct {
	raw    json.RawMessage
	schema *schema.Schema // nil: any text will do
	wrong  int
	must   bool // the next reply is to be the answer
}

// newForm reads a schema; nil where there is none.
func newForm(raw json.RawMessage) (*form, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	s, err := schema.Compile(raw)
	if err != nil {
		return nil, &Failure{Kind: task.Invalid, Text: err.Error()}
	}
	var flat bytes.Buffer // the same, however it was written
	if err := json.Compact(&flat, raw); err != nil {
		return nil, &Failure{Kind: task.Invalid, Text: err.Error()}
	}
	return &form{raw: flat.Bytes(), schema: s}, nil
}

// follow does what a reply asks for. over is true once there is an answer.
func (a *agent) follow(ctx context.Context, reply *model.Reply, form *form) (over bool, err error) {
	calls, said := reply.Message.Calls(), reply.Message.Said()
	a.catchUp()
	switch {
	case reply.Stop == model.Denied && len(calls) == 0:
		return false, &Failure{Kind: task.Refused, Text: "the model refused: " + orElse(said, "it gave no reason")}
	case len(calls) > 0 && a.finish && answerOf(calls, form) == nil:
		// Its tools are not used any more; the conversation stays whole.
		parts := make([]model.Part, len(calls))
		for i, c := range calls {
			parts[i] = &model.Result{ID: c.ID, Text: "it was not done: the agent was told to finish", Bad: true}
		}
		if err := a.add(model.Message{Role: model.User, Parts: parts}); err != nil {
			return false, err
		}
	case len(calls) > 0:
		parts, err := a.carryOut(ctx, reply, form)
		if err != nil {
			return false, err
		}
		if err := a.add(model.Message{Role: model.User, Parts: parts}); err != nil {
			return false, err
		}
		given := answerOf(calls, form)
		if given == nil {
			a.empty = 0
			return false, nil
		}
		return a.judge(form, said, given)
	case reply.Stop == model.Cut || said == "":
		return a.goOn(reply)
	}
	a.empty = 0
	said = orElse(said, a.lastSaid())
	if len(a.steers) > 0 && !a.finish {
		return false, nil // somebody had a word while it was answering
	}
	if form == nil {
		a.face.result(said, nil)
		return true, nil
	}
	given, _ := schema.Extract(said)
	return a.judge(form, said, given)
}

// lastSaid is what the model said last.
func (a *agent) lastSaid() string {
	for _, m := range slices.Backward(a.conversation) {
		if text := m.Said(); m.Role == model.Assistant && text != "" {
			return text
		}
	}
	return ""
}

// goOn asks for the rest of a reply that was cut off, or for one at all.
func (a *agent) goOn(reply *model.Reply) (over bool, err error) {
	if a.empty++; a.empty > maxMore || a.finish {
		return false, &Failure{Kind: task.NoResult, Text: "the model gives no whole answer"}
	}
	if reply.Stop == model.Cut {
		return false, a.note("Your message was cut off at the most that one may hold. Go on in smaller parts, or give your answer in fewer words.")
	}
	return false, a.note("You said nothing. Go on with the task, or give your answer.")
}

// answerOf is the answer that was given as a call; nil where none was.
func answerOf(calls []*model.Call, form *form) json.RawMessage {
	for _, c := range calls {
		if form != nil && c.Name == model.AnswerTool {
			return c.Input
		}
	}
	return nil
}

// judge checks an answer, and asks for another one where it does not match.
func (a *agent) judge(form *form, said string, given json.RawMessage) (over bool, err error) {
	wrong := schema.ErrNoObject
	if given != nil {
		wrong = form.schema.Validate(given)
	}
	if wrong == nil {
		a.face.result(said, given)
		return true, nil
	}
	if form.wrong++; form.wrong > maxWrong || a.finish {
		return false, &Failure{Kind: task.SchemaMismatch, Text: "the answer does not match its schema: " + wrong.Error()}
	}
	form.must = true
	return false, a.note(fmt.Sprintf(
		"Your answer does not match its schema: %v. Answer again with one JSON object that matches it, and nothing else:\n%s", wrong, form.raw))
}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

// sideBySide calls f for each number below n, some at a time, and waits.
func sideBySide(n int, f func(int)) {
	var all sync.WaitGroup
	slots := make(chan struct{}, maxAtOnce)
	for i := range n {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			f(i)
		})
	}
	all.Wait()
}
