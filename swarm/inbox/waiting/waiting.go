// Package waiting lists the open questions of runs for a person: it finds the question
// that a short name means, groups questions that ask for the same, and tells why a
// question is closed. It answers none.
package waiting

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"agentswarm/swarm/engine"
	"agentswarm/swarm/event"
	"agentswarm/swarm/inbox"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// Question is an open question with the name of its agent.
type Question struct {
	*store.Question
	Run   string
	Label string // title of the agent
	// Doubt is the reason why the journal of the run does not have the question
	// as open. The run is live, so that its owner decides. It is nil for all
	// others.
	Doubt error
}

// Of lists the open questions of a run, oldest first.
func Of(v *store.View) []Question {
	var all []Question
	for _, q := range v.Waiting() {
		label := ""
		if a := v.Agent(q.Agent); a != nil {
			label = engine.Title(a.ID, a.Call)
		}
		all = append(all, Question{Question: q, Run: v.Identity.Run, Label: label})
	}
	return all
}

// Shown returns the digest of the action that a person is shown; "" if the question
// cannot be read.
func (q Question) Shown() string {
	if q.Doubt != nil {
		return ""
	}
	return inbox.Digest(q.Action)
}

// AnsweredBy reports whether the answer to another question also answered this
// question. The owner of their run has the same rule.
func (q Question) AnsweredBy(other Question, answer *event.Replied) bool {
	return q.Run == other.Run && q.Risk != nil && other.Risk != nil && !q.Redacted && q.Shown() == other.Shown() &&
		inbox.AlsoAnswers(answer, &other.Questioned, &q.Questioned)
}

// Who returns the name of the asking agent; "the script" if a script asks.
func (q Question) Who() string {
	if q.Agent == "" {
		return "the script"
	}
	if q.Label == "" || q.Label == string(q.Agent) {
		return string(q.Agent)
	}
	return string(q.Agent) + " (" + q.Label + ")"
}

// From returns the address of the agent; that of the run if its script asks.
func (q Question) From() string { return strings.TrimSuffix(q.Run+"/"+string(q.Agent), "/") }

// Object is a question in JSON, described in docs/json.md.
type Object struct {
	ID      string          `json:"id"`
	Run     string          `json:"run"`
	Agent   task.ID         `json:"agent,omitempty"` // absent: the script asks
	Attempt int             `json:"attempt,omitempty"`
	Label   string          `json:"label,omitempty"`
	Asked   time.Time       `json:"asked"`
	Waited  int64           `json:"waited_ms"`
	Action  json.RawMessage `json:"action,omitempty"`
	Risk    *event.Risk     `json:"risk,omitempty"` // absent: it was not judged
	// Redacted says that secrets were removed from the action.
	Redacted bool `json:"redacted,omitempty"`
}

// NewObject returns a question in JSON, as of a time.
func NewObject(q Question, now time.Time) Object {
	o := Object{
		ID: q.ID, Run: q.Run, Agent: q.Agent, Attempt: q.Attempt, Label: q.Label,
		Asked: q.Time, Waited: max(0, now.Sub(q.Time).Milliseconds()), Action: q.Action,
		Risk: q.Risk, Redacted: q.Redacted,
	}
	if string(bytes.TrimSpace(o.Action)) == "null" {
		o.Action = nil
	}
	return o
}

// Named returns the questions that a text names: the question with this id, or
// else those with this number, or else those whose id begins with the text. A
// number names nothing else: a quarter of all runs have ids that begin with a
// digit, and the number of a closed question must not name another question.
func Named(text string, all []Question) []Question {
	if i := slices.IndexFunc(all, func(q Question) bool { return q.ID == text }); i >= 0 {
		return all[i : i+1]
	}
	number := strings.Trim(text, "0123456789") == ""
	var numbered, begun []Question
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

// Group is a list of questions of a run that ask for the same, oldest first.
type Group []Question

// Groups groups the questions that ask for the same. A question with a secret stands
// alone: two secrets that look the same may differ.
func Groups(all []Question) (groups []Group) {
	at := map[string]int{}
	for _, q := range all {
		key := q.groupKey()
		if n, found := at[key]; found && key != "" {
			groups[n] = append(groups[n], q)
			continue
		}
		at[key] = len(groups)
		groups = append(groups, Group{q})
	}
	return groups
}

// groupKey returns the same text for all questions that ask for the same; "" for a
// question that stands alone.
func (q Question) groupKey() string {
	if none := strings.TrimSpace(string(q.Action)); q.Agent == "" || q.Redacted || none == "" || none == "null" {
		return ""
	}
	found := "-"
	if q.Risk != nil {
		found = q.Risk.Tier + "\x00" + q.Risk.Reason
	}
	return strings.Join([]string{q.Run, inbox.Digest(q.Action), found}, "\x00")
}

// Labels returns the titles of the agents that ask, each once.
func (g Group) Labels() []string {
	var all []string
	for _, q := range g {
		if q.Label != "" && !slices.Contains(all, q.Label) {
			all = append(all, q.Label)
		}
	}
	return all
}

// Agents returns the agents that ask.
func (g Group) Agents() []task.ID {
	var ids []task.ID
	for _, q := range g {
		ids = append(ids, q.Agent)
	}
	return ids
}

// Ranges names agents in the order of their numbers, three or more in a row as a1–a3.
func Ranges(ids []task.ID) string {
	ids = slices.Clone(ids)
	slices.SortFunc(ids, func(a, b task.ID) int { return a.Number() - b.Number() })
	ids = slices.Compact(ids)
	var parts []string
	for i := 0; i < len(ids); {
		last := i
		for last+1 < len(ids) && ids[last+1].Number() == ids[last].Number()+1 {
			last++
		}
		switch last - i {
		case 0:
			parts = append(parts, string(ids[i]))
		case 1:
			parts = append(parts, string(ids[i]), string(ids[last]))
		default:
			parts = append(parts, string(ids[i])+"–"+string(ids[last]))
		}
		i = last + 1
	}
	return strings.Join(parts, ", ")
}
