package event

import (
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"agentswarm/swarm/task"
)

// recordJSON is the envelope: n, t and type, with the event's own fields
// under its type.
type recordJSON struct {
	N    int64           `json:"n"`
	Time time.Time       `json:"t"`
	Type string          `json:"type"`
	Body json.RawMessage `json:"body"`
}

// settledJSON carries the result's own codec.
type settledJSON struct {
	Agent   task.ID         `json:"agent"`
	Attempt int             `json:"attempt"`
	Result  json.RawMessage `json:"result"`
}

// Marshal writes a record as a line of JSON without its end. It returns an
// error if the event cannot be encoded.
func Marshal(r Record) ([]byte, error) {
	body, err := marshalBody(r.Event)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", r.Event.kind(), err)
	}
	return json.Marshal(recordJSON{N: r.N, Time: r.Time, Type: r.Event.kind(), Body: body})
}

func marshalBody(e Event) ([]byte, error) {
	s, ok := e.(*Settled)
	if !ok {
		return json.Marshal(e)
	}
	result, err := task.MarshalStatus(s.Result)
	if err != nil {
		return nil, err
	}
	return json.Marshal(settledJSON{s.Agent, s.Attempt, result})
}

// Unmarshal reads a line of [Marshal]. An unknown type is an error that names
// it: a journal of a newer swarm is not guessed at.
func Unmarshal(line []byte) (Record, error) {
	var f recordJSON
	if err := json.Unmarshal(line, &f); err != nil {
		return Record{}, fmt.Errorf("decode record: %w", err)
	}
	e, err := unmarshalBody(f.Type, f.Body)
	if err != nil {
		return Record{}, fmt.Errorf("decode record %d: %w", f.N, err)
	}
	return Record{N: f.N, Time: f.Time, Event: e}, nil
}

func unmarshalBody(kind string, body json.RawMessage) (Event, error) {
	if kind == "settled" {
		var f settledJSON
		if err := json.Unmarshal(body, &f); err != nil {
			return nil, err
		}
		result, err := task.UnmarshalResult(f.Result)
		return &Settled{Agent: f.Agent, Attempt: f.Attempt, Result: result}, err
	}
	e := blank(kind)
	if e == nil {
		return nil, fmt.Errorf("unknown record type %q", kind)
	}
	return e, json.Unmarshal(body, e)
}

// blank is a new event of a kind; nil where the kind is unknown.
func blank(kind string) Event {
	// Nil pointers cost nothing: only the matching event of forty is made.
	for _, e := range [...]Event{
		(*Opened)(nil), (*Called)(nil), (*Leased)(nil), (*Started)(nil), (*Ended)(nil),
		(*Captured)(nil), (*Checked)(nil), (*Settled)(nil), (*Released)(nil), (*Retried)(nil),
		(*CancelAsked)(nil), (*RetryAsked)(nil), (*Reviewed)(nil), (*EditsReviewed)(nil), (*Remarked)(nil), (*Appraised)(nil), (*Titled)(nil), (*Questioned)(nil),
		(*Replied)(nil), (*Sent)(nil), (*Verified)(nil), (*Refused)(nil), (*Intended)(nil), (*Conflicted)(nil), (*Landed)(nil), (*Undone)(nil),
		(*Scripted)(nil), (*Entered)(nil), (*Logged)(nil), (*Phased)(nil), (*Returned)(nil), (*Chosen)(nil),
		(*Paused)(nil), (*Held)(nil), (*Switched)(nil), (*Continued)(nil), (*Closed)(nil),
		(*QuotaUsed)(nil), (*QuotaClosed)(nil), (*QuotaOpened)(nil), (*Parked)(nil),
		(*Session)(nil), (*Text)(nil), (*ToolStart)(nil), (*ToolEnd)(nil), (*Turn)(nil),
		(*Spent)(nil), (*Asked)(nil), (*Answered)(nil), (*Erred)(nil), (*Retry)(nil), (*Raw)(nil),
	} {
		if e.kind() == kind {
			made, _ := reflect.New(reflect.TypeOf(e).Elem()).Interface().(Event) // its type is an event
			return made
		}
	}
	return nil
}
