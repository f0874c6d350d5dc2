package control

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// maxLine bounds a line of a request or a reply, in bytes. A thousand agents fit,
// and so does a long remark. A [*Review] can have several lines.
const maxLine = 256 << 10

// Request is a request of a client: [*Cancel], [*Stop], [*Retry], [*Review],
// [*Answer], [*Send] or [*Attach]; [*Ping] asks who is there.
//
//sumtype:decl
type Request interface{ verb() string }

// Ping asks who is there.
type Ping struct{}

// Cancel ends agents. It names at least one agent; an empty cause means that
// they were cancelled by name.
type Cancel struct {
	Agents []task.ID
	Cause  task.ErrorKind
	Reason string
}

// Stop asks to end the run.
type Stop struct{ Reason string }

// Retry asks for another attempt of agents that have ended.
type Retry struct {
	Agents   []task.ID
	Feedback string
	Fresh    bool
	Remarks  []int // ids of the remarks on edits that Feedback holds
}

// Review records verdicts on patches and on single edits of them, and remarks on
// edits: all or none. A record of edits names an edit.
type Review struct {
	Marks   []event.Reviewed
	Edits   []event.EditsReviewed
	Remarks []event.Remarked

	more bool // the next request continues this request
}

// Answer answers a question.
type Answer struct {
	ID string
	// Shown is the digest of the action that the answering person has seen, as
	// inbox.Digest makes it; empty if they saw none. See inbox.Answer.
	Shown  string
	Allow  bool
	Text   string
	Reason string
	For    task.Span
	// All has a yes to a DESTRUCTIVE action hold for all agents that ask for the
	// same action now.
	All bool
	// Snapshot lets actions of the run proceed from now on that destroy only files
	// of an agent's own, once they are captured.
	Snapshot bool

	// Told are the agents that the answer reached. The owner of the run sets it;
	// a client finds it here afterwards.
	Told []task.ID
}

// Send sends a word to an agent at work.
type Send struct {
	Agent task.ID
	Text  string
}

// Attach joins the terminal of an agent. Frames follow the reply; see [Stream].
type Attach struct {
	Agent task.ID
	// Watch is set by who does not want to type.
	Watch bool
}

func (*Ping) verb() string   { return "ping" }
func (*Cancel) verb() string { return "cancel" }
func (*Stop) verb() string   { return "stop" }
func (*Retry) verb() string  { return "retry" }
func (*Review) verb() string { return "review" }
func (*Answer) verb() string { return "answer" }
func (*Send) verb() string   { return "send" }
func (*Attach) verb() string { return "attach" }

// verbs are the words of all requests, for messages.
const verbs = "ping, cancel, stop, retry, review, answer, send or attach"

// requestJSON is every request, flat.
type requestJSON struct {
	Verb     string                `json:"verb"`
	Secret   string                `json:"secret,omitempty"`
	Agent    task.ID               `json:"agent,omitempty"`
	Agents   []task.ID             `json:"agents,omitempty"`
	Cause    task.ErrorKind        `json:"cause,omitempty"`
	Reason   string                `json:"reason,omitempty"`
	Feedback string                `json:"feedback,omitempty"`
	Fresh    bool                  `json:"fresh,omitempty"`
	Marks    []event.Reviewed      `json:"marks,omitempty"`
	Edits    []event.EditsReviewed `json:"edits,omitempty"`
	Remarks  []event.Remarked      `json:"remarks,omitempty"`
	Told     []int                 `json:"told,omitempty"`
	More     bool                  `json:"more,omitempty"`
	ID       string                `json:"id,omitempty"`
	Shown    string                `json:"shown,omitempty"`
	Allow    bool                  `json:"allow,omitempty"`
	Text     string                `json:"text,omitempty"`
	For      task.Span             `json:"for,omitempty"`
	All      bool                  `json:"all,omitempty"`
	Snapshot bool                  `json:"snapshot,omitempty"`
	Watch    bool                  `json:"watch,omitempty"`
}

func encodeRequest(r Request, secret string) ([]byte, error) {
	f := requestJSON{Verb: r.verb(), Secret: secret}
	switch r := r.(type) {
	case *Ping:
	case *Cancel:
		f.Agents, f.Cause, f.Reason = r.Agents, r.Cause, r.Reason
	case *Stop:
		f.Reason = r.Reason
	case *Retry:
		f.Agents, f.Feedback, f.Fresh, f.Told = r.Agents, r.Feedback, r.Fresh, r.Remarks
	case *Review:
		f.Marks, f.Edits, f.Remarks, f.More = r.Marks, r.Edits, r.Remarks, r.more
	case *Answer:
		f.ID, f.Shown = r.ID, r.Shown
		f.Allow, f.Text, f.Reason, f.For = r.Allow, r.Text, r.Reason, r.For
		f.All, f.Snapshot = r.All, r.Snapshot
	case *Send:
		f.Agent, f.Text = r.Agent, r.Text
	case *Attach:
		f.Agent, f.Watch = r.Agent, r.Watch
	default:
		panic(fmt.Sprintf("unhandled %T", r))
	}
	return encodeLine(f)
}

func decodeRequest(line []byte) (Request, error) {
	var f requestJSON
	if err := json.Unmarshal(line, &f); err != nil {
		return nil, fmt.Errorf("decode request: %w", err)
	}
	r, err := f.narrow()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Verb, err)
	}
	if r == nil {
		return nil, fmt.Errorf("unknown verb %q; it is %s", f.Verb, verbs)
	}
	return r, nil
}

// narrow turns the flat form into its request; nil: it is none.
func (f requestJSON) narrow() (Request, error) {
	switch f.Verb {
	case "ping":
		return &Ping{}, nil
	case "cancel":
		return f.narrowCancel()
	case "stop":
		return &Stop{Reason: f.Reason}, nil
	case "retry":
		return &Retry{Agents: f.Agents, Feedback: f.Feedback, Fresh: f.Fresh, Remarks: f.Told}, f.namesAgents()
	case "review":
		for _, mark := range f.Marks {
			if mark.Verdict == "" {
				return nil, errors.New("it says neither accepted nor rejected")
			}
			f.Agents = append(f.Agents, mark.Agent)
		}
		for _, edits := range f.Edits {
			if edits.Verdict == "" {
				return nil, errors.New("it says neither accepted nor rejected")
			}
			f.Agents = append(f.Agents, edits.Agent)
		}
		for _, remark := range f.Remarks {
			if remark.ID < 1 {
				return nil, errors.New("a remark has no id")
			}
			f.Agents = append(f.Agents, remark.Agent)
		}
		return &Review{Marks: f.Marks, Edits: f.Edits, Remarks: f.Remarks, more: f.More}, f.namesAgents()
	case "answer":
		if f.ID == "" {
			return nil, errors.New("it names no question")
		}
		return &Answer{
			ID: f.ID, Shown: f.Shown, Allow: f.Allow, Text: f.Text, Reason: f.Reason, For: f.For,
			All: f.All, Snapshot: f.Snapshot,
		}, nil
	case "send":
		if strings.TrimSpace(f.Text) == "" || !utf8.ValidString(f.Text) {
			return nil, errors.New("there is nothing to send")
		}
		f.Agents = []task.ID{f.Agent}
		return &Send{Agent: f.Agent, Text: f.Text}, f.namesAgents()
	case "attach":
		f.Agents = []task.ID{f.Agent}
		return &Attach{Agent: f.Agent, Watch: f.Watch}, f.namesAgents()
	default:
		return nil, nil
	}
}

// namesAgents wants names: in the journal no name at all means everybody,
// and a client that forgot them does not.
func (f requestJSON) namesAgents() error {
	if len(f.Agents) == 0 {
		return errors.New("names no agent")
	}
	for _, id := range f.Agents {
		if id.Number() == 0 {
			return fmt.Errorf("%q is not the id of an agent", id)
		}
	}
	return nil
}

func (f requestJSON) narrowCancel() (Request, error) {
	switch f.Cause {
	case "":
		f.Cause = task.CauseCancelled
	case task.CauseCancelled, task.CauseStopped:
	default:
		return nil, fmt.Errorf("%q is not for a client to say; the cause is cancelled or stopped", f.Cause)
	}
	return &Cancel{Agents: f.Agents, Cause: f.Cause, Reason: f.Reason}, f.namesAgents()
}

// reply is the answer to a request.
type reply struct {
	OK    bool        `json:"ok"`
	Run   string      `json:"run,omitempty"`
	Pid   int         `json:"pid,omitempty"`
	Told  []task.ID   `json:"told,omitempty"` // that an answer reached
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
