package control

import (
	"encoding/json"
	"errors"
	"fmt"

	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// maxLine bounds a request and a reply, in bytes. A thousand agents fit.
const maxLine = 64 << 10

// request is what a client asks: [*ping], [*cancel] or [*stop].
//
//sumtype:decl
type request interface{ verb() string }

// ping asks who is there.
type ping struct{}

// cancel asks to end agents.
type cancel struct{ event.CancelAsked }

// stop asks to end the run.
type stop struct{ reason string }

func (*ping) verb() string   { return "ping" }
func (*cancel) verb() string { return "cancel" }
func (*stop) verb() string   { return "stop" }

// requestJSON is every request, flat.
type requestJSON struct {
	Verb   string         `json:"verb"`
	Agents []task.ID      `json:"agents,omitempty"`
	Cause  task.ErrorKind `json:"cause,omitempty"`
	Reason string         `json:"reason,omitempty"`
}

func encodeRequest(r request) ([]byte, error) {
	f := requestJSON{Verb: r.verb()}
	switch r := r.(type) {
	case *ping:
	case *cancel:
		f.Agents, f.Cause, f.Reason = r.Agents, r.Cause, r.Reason
	case *stop:
		f.Reason = r.reason
	default:
		panic(fmt.Sprintf("unhandled %T", r))
	}
	return encodeLine(f)
}

func decodeRequest(line []byte) (request, error) {
	var f requestJSON
	if err := json.Unmarshal(line, &f); err != nil {
		return nil, fmt.Errorf("decode request: %w", err)
	}
	switch f.Verb {
	case "ping":
		return &ping{}, nil
	case "cancel":
		return f.narrowCancel()
	case "stop":
		return &stop{reason: f.Reason}, nil
	default:
		return nil, fmt.Errorf("unknown verb %q; it is ping, cancel or stop", f.Verb)
	}
}

// narrowCancel wants names: in the journal no name at all means everybody,
// and a client that forgot them does not.
func (f requestJSON) narrowCancel() (request, error) {
	if len(f.Agents) == 0 {
		return nil, errors.New("cancel names no agent; stop ends the whole run")
	}
	for _, id := range f.Agents {
		if id.Number() == 0 {
			return nil, fmt.Errorf("cancel: %q is not the id of an agent", id)
		}
	}
	switch f.Cause {
	case "":
		f.Cause = task.CauseCancelled
	case task.CauseCancelled, task.CauseStopped:
	default:
		return nil, fmt.Errorf("cancel: %q is not for a client to say; the cause is cancelled or stopped", f.Cause)
	}
	return &cancel{event.CancelAsked{Agents: f.Agents, Cause: f.Cause, Reason: f.Reason}}, nil
}

// reply is the answer to one request.
type reply struct {
	OK    bool        `json:"ok"`
	Run   string      `json:"run,omitempty"`
	Pid   int         `json:"pid,omitempty"`
	Error *replyError `json:"error,omitempty"`
}

type replyError struct {
	Kind    task.ErrorKind `json:"kind"`
	Message string         `json:"message"`
}

// denial is the reply that tells of an error.
func denial(kind task.ErrorKind, err error) reply {
	return reply{Error: &replyError{Kind: kind, Message: err.Error()}}
}

func decodeReply(line []byte) (reply, error) {
	var r reply
	if err := json.Unmarshal(line, &r); err != nil {
		return reply{}, fmt.Errorf("decode reply: %w", err)
	}
	if !r.OK && r.Error == nil {
		return reply{}, errors.New("decode reply: neither ok nor an error")
	}
	return r, nil
}

func encodeLine(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return append(text, '\n'), nil
}
