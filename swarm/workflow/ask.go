package workflow

import (
	"encoding/json"
	"errors"

	"agentswarm/swarm/engine"
	"agentswarm/swarm/event"
	"agentswarm/swarm/inbox"
	"agentswarm/swarm/script"
)

// ask puts a question to a person, and answers it itself if no person can.
func (d *driver) ask(n int, key string, r *script.Question) error {
	action, err := json.Marshal(inbox.Inquiry{Question: r.Text, Choices: r.Choices, Default: r.Default})
	if err != nil {
		return err
	}
	switch err := d.Engine.Inquire(key, action); {
	case errors.Is(err, engine.ErrNoPerson) && r.Default != nil:
		d.enter(unanswered(key, r, script.CodePolicy, ""))
	case errors.Is(err, engine.ErrNoPerson):
		delete(d.posted, key)
		entered := unanswered(key, r, script.CodePolicy, "no person can be asked here, and there is no default")
		d.refused = append(d.refused, deliveryOf(n, entered)) // no record: a resume may ask somebody
	case err != nil:
		return err
	case r.MS > 0:
		d.after(n, r.MS, func() {
			if open, err := d.Engine.Withdraw(key); err != nil || !open {
				return // somebody was faster, or the run is over
			}
			d.enter(unanswered(key, r, script.CodeTimeout, "no answer came in time"))
		})
	}
	return nil
}

// unanswered returns the entry for a question without an answer: the default,
// or an error.
func unanswered(key string, r *script.Question, code script.Code, why string) *event.Entered {
	if r.Default == nil {
		return failedEntry("question", key, &script.Error{
			Name: "Error", Code: code, Message: "ask: " + why + ": " + r.Text,
		})
	}
	text, _ := json.Marshal(*r.Default) // a string always is JSON
	return &event.Entered{Verb: "question", Key: key, Value: text}
}
