package cli

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"agentswarm/swarm/ask"
	"agentswarm/swarm/control"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/event"
	"agentswarm/swarm/hook"
	"agentswarm/swarm/inbox"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// asked is a question as people see it.
type asked struct {
	*store.Question
	run   string
	label string
	// wants is the action in one printable line, at most wantsWidth long, and
	// around it what it was found to be.
	wants string
	// doubt is why the journal of its run does not have it as open. The run
	// is live, so that its owner knows better; nil for all others.
	doubt error
}

// wantsWidth bounds an action in a line; in JSON it is whole.
const wantsWidth = 400

// foundWidth bounds the reason that stands behind it.
const foundWidth = 160

func newAsked(run, label string, q *store.Question) asked {
	return asked{Question: q, run: run, label: label, wants: questionText(q)}
}

// waitingOf lists the open questions of a run, oldest first.
func waitingOf(v *store.View) []asked {
	var all []asked
	for _, q := range v.Waiting() {
		label := ""
		if a := v.Agent(q.Agent); a != nil {
			label = engine.Title(a.ID, a.Call)
		}
		all = append(all, newAsked(v.Identity.Run, label, q))
	}
	return all
}

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

// shown is the digest of the action that is shown of the question; empty where
// the question cannot be read.
func (q asked) shown() string {
	if q.doubt != nil {
		return ""
	}
	return inbox.Digest(q.Action)
}

// answeredWith reports whether an answer to another question was the answer to
// this one too, as the owner of their run has it.
func (q asked) answeredWith(other asked, a *control.Answer) bool {
	return q.run == other.run && q.Risk != nil && other.Risk != nil && !q.Redacted && q.shown() == other.shown() &&
		inbox.AlsoAnswers(&event.Replied{Allow: a.Allow, For: a.For, All: a.All}, &other.Questioned, &q.Questioned)
}

// who asks, for a person: an agent, or the script.
func (q asked) who() string {
	if q.Agent == "" {
		return "the script"
	}
	if q.label == "" || q.label == string(q.Agent) {
		return string(q.Agent)
	}
	return string(q.Agent) + " (" + q.label + ")"
}

// questionObject is a question in JSON, described in docs/json.md.
type questionObject struct {
	ID      string          `json:"id"`
	Run     string          `json:"run"`
	Agent   task.ID         `json:"agent,omitempty"` // absent: the script asks
	Attempt int             `json:"attempt,omitempty"`
	Label   string          `json:"label,omitempty"`
	Asked   time.Time       `json:"asked"`
	Waited  int64           `json:"waited_ms"`
	Action  json.RawMessage `json:"action,omitempty"`
	Risk    *event.Risk     `json:"risk,omitempty"` // absent: nobody looked at it
	// Redacted says that the action has no secrets any more.
	Redacted bool `json:"redacted,omitempty"`
}

func (q asked) object(now time.Time) questionObject {
	o := questionObject{
		ID: q.ID, Run: q.run, Agent: q.Agent, Attempt: q.Attempt, Label: q.label,
		Asked: q.Time, Waited: max(0, now.Sub(q.Time).Milliseconds()), Action: q.Action,
		Risk: q.Risk, Redacted: q.Redacted,
	}
	if string(bytes.TrimSpace(o.Action)) == "null" {
		o.Action = nil
	}
	return o
}

func questionObjects(all []asked, now time.Time) []questionObject {
	out := make([]questionObject, 0, len(all))
	for _, q := range all {
		out = append(out, q.object(now))
	}
	return out
}

// called finds the questions that a text names: one by its whole id, or else
// those whose number it is, or else those whose id begins with it. What is a
// number names nothing else: every fourth run has an id that begins with a digit,
// and who means a question that waits no more must not answer another.
func called(text string, all []asked) []asked {
	if i := slices.IndexFunc(all, func(q asked) bool { return q.ID == text }); i >= 0 {
		return all[i : i+1]
	}
	number := strings.Trim(text, "0123456789") == ""
	var numbered, begun []asked
	for _, q := range all {
		switch {
		case text == "":
		case strings.HasSuffix(q.ID, "-"+text):
			numbered = append(numbered, q)
		case !number && strings.HasPrefix(q.ID, text):
			begun = append(begun, q)
		}
	}
	if len(numbered) > 0 {
		return numbered
	}
	return begun
}

// idsOf names questions for a message.
func idsOf(all []asked) string {
	const most = 8
	var names []string
	for i, q := range all {
		if i == most && len(all) > most+1 {
			names = append(names, Number(len(all)-most)+" more")
			break
		}
		names = append(names, q.ID)
	}
	return strings.Join(names, ", ")
}
