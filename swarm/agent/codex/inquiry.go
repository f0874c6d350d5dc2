package codex

import (
	"encoding/json"
	"fmt"
	"strings"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/event"
)

// inquiryMethod is the request by which the tool request_user_input asks.
const inquiryMethod = "item/tool/requestUserInput"

// inputRequest is such a request.
type inputRequest struct {
	Params struct {
		Questions []struct {
			ID       string `json:"id"`
			Header   string `json:"header"`
			Question string `json:"question"`
			Options  []struct {
				Label       string `json:"label"`
				Description string `json:"description"`
			} `json:"options"`
		} `json:"questions"`
	} `json:"params"`
}

// inquiry is the question of such a request, with its whole text and all options;
// false for any other request. Its name holds the ids that the answer repeats.
func inquiry(w *heard, line []byte) (*event.Asked, bool) {
	if w.Method != inquiryMethod {
		return nil, false
	}
	var asks inputRequest
	if json.Unmarshal(line, &asks) != nil || len(asks.Params.Questions) == 0 {
		return nil, false
	}
	var text strings.Builder
	ids, choices := []string{}, []string{}
	several := len(asks.Params.Questions) > 1
	for i, q := range asks.Params.Questions {
		ids = append(ids, q.ID)
		if several {
			fmt.Fprintf(&text, "%d. ", i+1)
		}
		text.WriteString(strings.TrimPrefix(q.Header+": ", ": ") + q.Question + "\n")
		for _, o := range q.Options {
			text.WriteString("- " + o.Label + ": " + o.Description + "\n")
			if !several {
				choices = append(choices, o.Label)
			}
		}
	}
	if several {
		text.WriteString("Answer each on a line of its own.\n")
	}
	action := object{"question": strings.TrimSpace(text.String()), "choices": choices}
	name := object{"id": json.RawMessage(w.ID), "questions": ids}
	return &event.Asked{ID: inquiryMethod + " " + string(name.json()), Action: action.json()}, true
}

// replyInquiry answers an inquiry. The agent continues by itself without an
// answer.
func (t *talk) replyInquiry(name string, r agent.Reply) []byte {
	var of struct {
		ID        json.RawMessage `json:"id"`
		Questions []string        `json:"questions"`
	}
	if json.Unmarshal([]byte(name), &of) != nil || !json.Valid(of.ID) {
		return nil
	}
	text := r.Text
	switch {
	case text != "":
	case r.Allow:
		text = "yes"
	default:
		text = strings.TrimSuffix("No answer came: decide by yourself. "+r.Reason, " ")
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	answers := object{}
	for i, id := range of.Questions {
		answer := text
		if len(lines) == len(of.Questions) {
			answer = strings.TrimSpace(lines[i])
		}
		answers[id] = object{"answers": []string{answer}}
	}
	return line(message{ID: of.ID, Result: object{"answers": answers}})
}
