package follow

import (
	"bytes"
	"encoding/json"
	"strings"

	"agentswarm/internal/terminal"
	"agentswarm/internal/termtext"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/event"
	"agentswarm/swarm/hook"
	"agentswarm/swarm/inbox"
	"agentswarm/swarm/store"
)

// foundWidth bounds the reason that stands behind it.
const foundWidth = 160

// questionText is a question in a line: the action of an agent, or the text of
// a script's question and its possible answers.
func questionText(q *store.Question) string {
	if in, ok := inbox.InquiryOf(&q.Questioned); ok {
		return inquiryText(in)
	}
	tier, reason := foundText(q.Risk)
	action := q.Action
	if q.Risk != nil {
		action = plainAction(action)
	}
	return tier + cmdline.WantsText(action) + reason
}

// foundText is the tier of a question's action, to stand before it, and the
// reason, to stand behind it. A line may be cut, and the answer is about the
// action.
func foundText(r *event.Risk) (tier, reason string) {
	if r == nil {
		return "", ""
	}
	if r.Reason != "" {
		reason = strings.ToValidUTF8(r.Reason[:min(len(r.Reason), 4*foundWidth)], "")
		reason = " (" + terminal.ShortenEnd(termtext.Line(reason), foundWidth) + ")"
	}
	return termtext.Line(r.Tier) + ": ", reason
}

// plainAction is an action of a hook as a person would type it; itself where it
// is none, or says more than that: a person is to see all that they allow.
func plainAction(action json.RawMessage) json.RawMessage {
	all, err := hook.Plain.Read(action)
	if err != nil {
		return action
	}
	a := all[0] // the plain form names a single action
	text := cmdline.AsTyped(&a)
	if a.Cwd != "" {
		text += " (in " + a.Cwd + ")"
	}
	plain, _ := json.Marshal(text) // a text always can be
	return plain
}

// inquiryText formats the question of a script or an agent in a line, with its
// possible answers.
func inquiryText(in inbox.Inquiry) string {
	text := strings.Join(strings.FieldsFunc(in.Question, func(r rune) bool { return r == '\n' }), " ")
	if len(in.Choices) > 0 {
		text += " [" + strings.Join(in.Choices, ", ") + "]"
	}
	return terminal.ShortenEnd(termtext.Line(strings.ToValidUTF8(text[:min(len(text), 4*cmdline.WantsWidth)], "")), cmdline.WantsWidth)
}

// wholeAction is an action in as many lines as it takes.
func wholeAction(action json.RawMessage) string {
	var b bytes.Buffer
	text := cmdline.ActionText(action)
	if json.Valid(action) && text != "" && (text[0] == '{' || text[0] == '[') &&
		json.Indent(&b, []byte(text), "", "  ") == nil {
		text = b.String()
	}
	return termtext.Text(text)
}

// wholeQuestion is a question in as many lines as it takes.
func wholeQuestion(q *store.Question) string {
	if in, ok := inbox.InquiryOf(&q.Questioned); ok {
		text := termtext.Text(in.Question)
		if len(in.Choices) > 0 {
			text += "\n[" + termtext.Line(strings.Join(in.Choices, ", ")) + "]"
		}
		return text
	}
	tier, reason := foundText(q.Risk)
	action := q.Action
	if q.Risk != nil {
		action = plainAction(action)
	}
	return tier + wholeAction(action) + reason
}
