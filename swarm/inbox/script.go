package inbox

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"agentswarm/swarm/event"
)

// Inquiry is a question that asks for words and not for permission. A script
// asks it, or an agent whose action has a question and nothing to do.
type Inquiry struct {
	Question string   `json:"question"`
	Choices  []string `json:"choices,omitempty"`
	Default  *string  `json:"default,omitempty"`
}

// InquiryOf returns the inquiry of a question; false where an agent asks for
// permission.
func InquiryOf(q *event.Questioned) (Inquiry, bool) {
	var in struct {
		Inquiry
		Command, Write, Git, Tool json.RawMessage
	}
	if json.Unmarshal(q.Action, &in) != nil {
		return Inquiry{}, false
	}
	acts := len(in.Command)+len(in.Write)+len(in.Git)+len(in.Tool) > 0
	if q.Agent != "" && (acts || strings.TrimSpace(in.Question) == "") {
		return Inquiry{}, false
	}
	return in.Inquiry, true
}

// ChoiceError is an answer that is none of the choices.
type ChoiceError struct {
	ID      string
	Choices []string
}

func (e *ChoiceError) Error() string {
	return fmt.Sprintf("question %s wants one of: %s", e.ID, strings.Join(e.Choices, ", "))
}

// fits turns an answer to an inquiry into a text. An answer to a script must be
// an offered choice.
func fits(q *event.Questioned, r *event.Replied) error {
	in, ok := InquiryOf(q)
	if !ok {
		return nil
	}
	if r.Text == "" {
		r.Text = "no"
		if r.Allow {
			r.Text = "yes"
		}
	}
	if len(in.Choices) == 0 || q.Agent != "" { // an agent's are proposals
		return nil
	}
	at := slices.IndexFunc(in.Choices, func(c string) bool { return strings.EqualFold(c, strings.TrimSpace(r.Text)) })
	if at < 0 {
		return &ChoiceError{ID: q.ID, Choices: in.Choices}
	}
	r.Text = in.Choices[at]
	return nil
}

// Said is the text of a reply to a script's question, as JSON.
func Said(r *event.Replied) json.RawMessage {
	text, _ := json.Marshal(r.Text) // a string always is JSON
	return text
}
