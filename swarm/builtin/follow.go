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
	maxMore  = 3 // messages in a row that are empty
	// maxPieces is how many messages an answer may take. It bounds the wait for
	// a model that never ends.
	maxPieces = 20
	// maxAtOnce is how many tools run side by side.
	maxAtOnce = 8
)

// form describes the required answer, and counts the wrong answers.
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

// follow carries out a reply. over is true once there is an answer.
func (a *agent) follow(ctx context.Context, reply *model.Reply, form *form) (over bool, err error) {
	calls, last := reply.Message.Calls(), reply.Message.Said()
	a.catchUp()
	switch {
	case reply.Stop == model.Denied && len(calls) == 0:
		return false, &Failure{Kind: task.Refused, Text: "the model refused: " + orElse(last, "it gave no reason")}
	case len(calls) == 0 && (reply.Stop == model.Cut || a.begun+last == ""):
		return a.goOn(reply)
	}
	said := a.begun + last
	a.begun, a.empty, a.pieces = "", 0, 0
	switch given := answerOf(calls, form); {
	case len(calls) > 0 && a.finish && given == nil:
		if err := a.leaveUndone(calls); err != nil {
			return false, err
		}
		said = orElse(said, a.lastSaid())
	case len(calls) > 0:
		parts, err := a.carryOut(ctx, reply, form)
		if err != nil {
			return false, err
		}
		if err := a.add(model.Message{Role: model.User, Parts: parts}); err != nil || given == nil {
			return false, err
		}
		return a.judge(form, said, given)
	}
	if len(a.steers) > 0 && !a.finish {
		return false, nil // somebody had a word while it was answering
	}
	if form == nil {
		a.face.result(said, nil)
		return true, nil
	}
	return a.judge(form, said, form.in(said, last))
}

// leaveUndone answers calls that are not carried out any more: the conversation
// stays whole.
func (a *agent) leaveUndone(calls []*model.Call) error {
	parts := make([]model.Part, len(calls))
	for i, c := range calls {
		parts[i] = &model.Result{ID: c.ID, Text: "it was not done: the agent was told to finish", Bad: true}
	}
	return a.add(model.Message{Role: model.User, Parts: parts})
}

// in is the JSON answer in some texts: the first that matches, else the first;
// nil if there is none.
func (f *form) in(texts ...string) (given json.RawMessage) {
	for _, text := range texts {
		found, err := schema.Extract(text)
		if err == nil && f.schema.Validate(found) == nil {
			return found
		}
		if given == nil {
			given = found
		}
	}
	return given
}

// lastSaid is the model's last text.
func (a *agent) lastSaid() string {
	for _, m := range slices.Backward(a.conversation) {
		if text := m.Said(); m.Role == model.Assistant && text != "" {
			return text
		}
	}
	return ""
}

// goOn asks for the rest of a reply that was cut off, or for a reply after an
// empty one.
func (a *agent) goOn(reply *model.Reply) (over bool, err error) {
	a.empty++
	if reply.Message.Said() != "" {
		a.empty, a.pieces = 0, a.pieces+1
	}
	switch {
	case a.empty > maxMore || a.pieces > maxPieces || a.finish:
		if a.begun != "" {
			a.face.text(a.begun) // not an answer, but the model said it
		}
		return false, &Failure{Kind: task.NoResult, Text: "the model gives no whole answer"}
	case a.begun != "":
		return false, a.note("Your message was cut off at the most that one may hold. Go on exactly where it ended: " +
			"what you say next is put behind it as it is, so repeat nothing and explain nothing.")
	case reply.Stop == model.Cut:
		return false, a.note("Your message was cut off at the most that one may hold, before you said anything. Do it in smaller parts, and think less.")
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

// judge checks an answer, and asks again if it does not match.
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
