package cli

import (
	"bytes"
	"encoding/json"
	"strings"

	"agentswarm/swarm/ask"
	"agentswarm/swarm/event"
	"agentswarm/swarm/hook"
	"agentswarm/swarm/inbox"
	"agentswarm/swarm/store"
)

// wantsWidth bounds an action in a line; in JSON it is whole.
const wantsWidth = 400

// foundWidth bounds the reason that stands behind it.
const foundWidth = 160

// questionText is what is asked in a line: the action of an agent, or the words
// of a script and the answers it takes.
func questionText(q *store.Question) string {
	if in, ok := inbox.InquiryOf(&q.Questioned); ok {
		return inquiryText(in)
	}
	tier, reason := foundText(q.Risk)
	action := q.Action
	if q.Risk != nil {
		action = plainAction(action)
	}
	return tier + wantsText(action) + reason
}

// foundText is what the action of a question was found to be, before it, and
// why, behind it: a line may be cut, and the action is what is answered.
func foundText(r *event.Risk) (tier, reason string) {
	if r == nil {
		return "", ""
	}
	if r.Reason != "" {
		reason = strings.ToValidUTF8(r.Reason[:min(len(r.Reason), 4*foundWidth)], "")
		reason = " (" + shortenEnd(Printable(reason), foundWidth) + ")"
	}
	return Printable(r.Tier) + ": ", reason
}

// plainAction is an action of a hook as a person would type it; itself where it
// is none, or says more than that: a person is to see all that they allow.
func plainAction(action json.RawMessage) json.RawMessage {
	all, err := hook.Plain.Read(action)
	if err != nil {
		return action
	}
	a := all[0] // the plain form names one
	text := asTyped(&a)
	if a.Cwd != "" {
		text += " (in " + a.Cwd + ")"
	}
	plain, _ := json.Marshal(text) // a text always can be
	return plain
}

// asTyped is an action as somebody would say it.
func asTyped(a *ask.Action) string {
	switch {
	case a.Write != "" && a.Removes:
		return "remove " + a.Write
	case a.Write != "":
		return "write " + a.Write
	case len(a.Git) > 0:
		return "git " + strings.Join(a.Git, " ")
	case a.Tool != "":
		return strings.Join(strings.Fields(a.Tool+" "+a.Method+" "+a.Target), " ")
	default:
		return a.Command
	}
}

// inquiryText is what a script asks in a line, and the answers it takes.
func inquiryText(in inbox.Inquiry) string {
	text := in.Question
	if len(in.Choices) > 0 {
		text += " [" + strings.Join(in.Choices, ", ") + "]"
	}
	return shortenEnd(Printable(strings.ToValidUTF8(text[:min(len(text), 4*wantsWidth)], "")), wantsWidth)
}

// wantsText is an action in a line: a text as it is, else compact JSON.
func wantsText(action json.RawMessage) string {
	text := actionText(action)
	// No more than can be shown is looked at: an action may be megabytes.
	const most = 4 * wantsWidth
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + ellipsis
	}
	return shortenEnd(Printable(text), wantsWidth)
}

func actionText(action json.RawMessage) string {
	text := ""
	if json.Unmarshal(action, &text) == nil { // null is an empty text
		text = strings.TrimSpace(text)
	} else {
		var b bytes.Buffer
		if json.Compact(&b, action) == nil && b.String() != "{}" {
			text = b.String()
		}
	}
	if text == "" {
		return "something it does not name"
	}
	return text
}

// wholeAction is an action in as many lines as it takes.
func wholeAction(action json.RawMessage) string {
	var b bytes.Buffer
	text := actionText(action)
	if json.Valid(action) && text != "" && (text[0] == '{' || text[0] == '[') &&
		json.Indent(&b, action, "", "  ") == nil {
		text = b.String()
	}
	return PrintableText(text)
}

// wholeQuestion is a question in as many lines as it takes.
func wholeQuestion(q *store.Question) string {
	if in, ok := inbox.InquiryOf(&q.Questioned); ok {
		text := PrintableText(in.Question)
		if len(in.Choices) > 0 {
			text += "\n[" + Printable(strings.Join(in.Choices, ", ")) + "]"
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
