package inbox

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"agentswarm/swarm/event"
)

// Inquiry is what a script asks a person: the action of its question.
type Inquiry struct {
	Question string   `json:"question"`
	Choices  []string `json:"choices,omitempty"`
	Default  *string  `json:"default,omitempty"`
}

// InquiryOf is what a script asks by a question; false where an agent asks.
func InquiryOf(q *event.Questioned) (Inquiry, bool) {
	var in Inquiry
	if q.Agent != "" || json.Unmarshal(q.Action, &in) != nil {
		return Inquiry{}, false
	}
	return in, true
}

// ChoiceError is an answer that is none of the choices.
type ChoiceError struct {
	ID      string
	Choices []string
}

func (e *ChoiceError) Error() string {
	return fmt.Sprintf("question %s wants one of: %s", e.ID, strings.Join(e.Choices, ", "))
}

// fits makes an answer to a script's question one of its choices: a yes or a
// no is one where it is among them.
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
	if len(in.Choices) == 0 {
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
