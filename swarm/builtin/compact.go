package builtin

import (
	"context"
	"errors"
	"fmt"
	"unicode/utf8"

	"agentswarm/swarm/builtin/model"
	"agentswarm/swarm/task"
)

const (
	// clipped is how much of each output remains if the conversation is too
	// long to be sent whole.
	clipped = 1500
	// summarise is the request for a summary before turns are left out.
	summarise = "Your memory is nearly full, so that all turns up to here will be left out. " +
		"Write down what you need in order to go on as if you had them, without a tool: what was found out, " +
		"which files matter and why, what was changed and how, what was tried and failed, what was refused, " +
		"and what is left to do. The task itself stays; do not repeat it. Be exact about names and paths."
)

// compact puts a summary in the place of all turns but the last. People's
// messages stay word for word. tooLong says that the conversation cannot be
// sent as it is.
func (a *agent) compact(ctx context.Context, tooLong bool) error {
	cut := a.lastTurn()
	old, rest := a.conversation[:cut], a.conversation[cut:]
	if len(old) <= 1 { // nothing but the task
		switch {
		case !tooLong:
			return nil
		case len(rest) == 0:
			return &Failure{Kind: task.Invalid, Text: "the task is longer than the model takes"}
		}
		return a.remember(append(old[:cut:cut], clip(rest)...))
	}
	if tooLong {
		old, rest = clip(old), clip(rest)
	}
	said, err := a.summary(ctx, old)
	var e *model.Error
	switch {
	case errors.As(err, &e) && e.TooLong && !tooLong:
		return a.compact(ctx, true)
	case err != nil:
		return err
	}
	first := model.Message{Role: model.User}
	for _, m := range old {
		for _, p := range m.Parts {
			if t, ok := p.(*model.Text); ok && m.Role == model.User {
				first.Parts = append(first.Parts, t)
			}
		}
	}
	first.Parts = append(first.Parts, &model.Note{Text: "What was done so far, in your own words:\n\n" + said})
	return a.remember(append([]model.Message{first}, rest...))
}

// lastTurn is the index of the latest reply; the end if there is none.
func (a *agent) lastTurn() int {
	for i := len(a.conversation) - 1; i > 0; i-- {
		if a.conversation[i].Role == model.Assistant {
			return i
		}
	}
	return len(a.conversation)
}

// remember goes on with other messages.
func (a *agent) remember(all []model.Message) error {
	a.conversation, a.filled = all, 0
	if a.log == nil {
		return nil
	}
	return a.log.add(record{Type: "compacted", Messages: all})
}

// summary has the model sum up its knowledge. The request begins as the others
// did, so that their cached part counts.
func (a *agent) summary(ctx context.Context, old []model.Message) (string, error) {
	r := a.request(nil)
	r.Messages = append(old[:len(old):len(old)], model.Message{
		Role: model.User, Parts: []model.Part{&model.Note{Text: summarise}},
	})
	reply, err := a.model.Ask(ctx, r, func(string) {})
	if err != nil {
		return "", fmt.Errorf("summarise the conversation: %w", err)
	}
	if reply.Usage != (task.Usage{}) {
		a.face.usage(reply.Usage, reply.Left)
	}
	return orElse(reply.Message.Said(), "(nothing was noted; look at the files again)"), nil
}

// clip shortens the results in messages.
func clip(all []model.Message) []model.Message {
	var out []model.Message
	for _, m := range all {
		c := model.Message{Role: m.Role}
		for _, p := range m.Parts {
			if r, ok := p.(*model.Result); ok && len(r.Text) > clipped {
				p = &model.Result{ID: r.ID, Bad: r.Bad, Text: cutText(r.Text, clipped) + "\n… (the rest was left out)"}
			}
			c.Parts = append(c.Parts, p)
		}
		out = append(out, c)
	}
	return out
}

// cutText is the begin of a text, at most so many bytes of it.
func cutText(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}
