package pi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/event"
	"agentswarm/swarm/fault"
	"agentswarm/swarm/limit"
	"agentswarm/swarm/task"
	"agentswarm/swarm/thought"
	"agentswarm/swarm/wire"
)

// run is the state of the parser.
type run struct {
	spec  *agent.Spec
	brief bool

	session event.Session
	turns   int
	again   bool // the next turn repeats the last one
	over    bool // it was told to end: nothing it says is an answer any more
	// last is the last message of the model since the last prompt; nil for none
	// yet.
	last *message
	// refused is the response to the last refused request.
	refused refused
	// limits are the headers of limits that the last answer had.
	limits map[string]string
}

// record is every line of RPC mode that is read, flat.
type record struct {
	Type string `json:"type"`
	ID   string `json:"id"`

	// response
	Command string          `json:"command"`
	Success bool            `json:"success"`
	Error   string          `json:"error"`
	Data    json.RawMessage `json:"data"`

	// message_end
	Message json.RawMessage `json:"message"`

	// tool_execution_*
	ToolCallID string          `json:"toolCallId"`
	ToolName   string          `json:"toolName"`
	Args       json.RawMessage `json:"args"`
	Result     json.RawMessage `json:"result"`
	IsError    bool            `json:"isError"`

	// auto_retry_start, summarization_retry_scheduled
	DelayMS      int64  `json:"delayMs"`
	ErrorMessage string `json:"errorMessage"`

	// extension_ui_request
	StatusKey  string `json:"statusKey"`
	StatusText string `json:"statusText"`

	// extension_error
	Event string `json:"event"`
}

// message is a message of the model.
type message struct {
	Role          string  `json:"role"`
	Content       []block `json:"content"`
	Provider      string  `json:"provider"`
	Model         string  `json:"model"`
	ResponseModel string  `json:"responseModel"`
	Usage         usage   `json:"usage"`
	StopReason    string  `json:"stopReason"`
	ErrorMessage  string  `json:"errorMessage"`
}

// block is a part of a message.
type block struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// usage counts each token once.
type usage struct {
	Input      int64 `json:"input"`
	Output     int64 `json:"output"`
	CacheRead  int64 `json:"cacheRead"`
	CacheWrite int64 `json:"cacheWrite"`
	Cost       struct {
		Total float64 `json:"total"`
	} `json:"cost"`
}

// refused is a request that a provider did not take, as our extension says.
type refused struct {
	Status       int   `json:"status"`
	RetryAfterMS int64 `json:"retryAfterMs"`

	// RefusedBy is the address of a server that refused the connection.
	RefusedBy string `json:"refused_by"`
}

// read reads a line. A line that is not JSON is text. A line of unknown type or
// of the wrong shape is raw: an agent's noise never ends it. It keeps nothing
// of the line itself.
func (s *run) read(line []byte) []event.Event {
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return nil
	}
	if line[0] != '{' {
		return []event.Event{&event.Text{Text: wire.Valid(line)}}
	}
	var r record
	if !wire.Decode(line, &r) || r.Type == "" {
		return wire.Foreign(line, s.brief)
	}
	switch r.Type {
	case "response":
		return s.response(&r, line)
	case "session": // of the mode json
		return s.introduced(r.ID, "")
	case "turn_start":
		return s.turn()
	case "message_end":
		return s.readOutput(&r, line)
	case "tool_execution_start":
		return []event.Event{&event.ToolStart{ID: r.ToolCallID, Name: r.ToolName, Input: s.detail(r.Args)}}
	case "tool_execution_end":
		return []event.Event{&event.ToolEnd{ID: r.ToolCallID, OK: !r.IsError, Output: s.detail(r.Result)}}
	case "auto_retry_start", "summarization_retry_scheduled":
		return s.retry(&r)
	case "compaction_end":
		return compacted(r.Result)
	case "extension_ui_request":
		s.recordRetry(&r)
		return nil
	case "extension_error":
		return []event.Event{&event.Text{Text: fmt.Sprintf("An extension of pi failed in %s: %s", r.Event, r.Error)}}
	case "agent_settled":
		return s.settled()
	case "agent_start", "auto_retry_end", "compaction_start", "summarization_retry_attempt_start",
		"summarization_retry_finished", "queue_update", "session_info_changed", "thinking_level_changed",
		"message_start", "message_update", "turn_end", "agent_end", "tool_execution_update", "entry_appended":
		return nil
	default:
		return s.raw(line)
	}
}

func (s *run) raw(line []byte) []event.Event { return wire.Foreign(line, s.brief) }

// detail returns a copy of a tool's input or output; nil in a brief parser.
func (s *run) detail(text json.RawMessage) json.RawMessage {
	if s.brief {
		return nil
	}
	return wire.Copy(text)
}

// cut reads a line that was too long to be read: the tool that ended, and its
// status, which is in its last member.
func (s *run) cut(head, tail []byte) []event.Event {
	const before = `{"type":"tool_execution_end","toolCallId":"`
	if id, ok := bytes.CutPrefix(head, []byte(before)); ok {
		id, _, ok = bytes.Cut(id, []byte{'"'})
		if ok && !bytes.Contains(id, []byte{'\\'}) {
			return []event.Event{&event.ToolEnd{
				ID: wire.Valid(id), OK: !bytes.HasSuffix(bytes.TrimSpace(tail), []byte(`"isError":true}`)),
			}}
		}
	}
	return []event.Event{&event.Text{Text: wire.Valid(head) + " … (line too long)"}}
}

// response reads the result of a command.
func (s *run) response(r *record, line []byte) []event.Event {
	switch {
	case !r.Success && (r.ID == promptID || r.ID == stateID):
		s.over = true
		return []event.Event{s.fault(r.Error)}
	case !r.Success:
		return []event.Event{&event.Text{Text: fmt.Sprintf("pi refused the command %s: %s", r.Command, r.Error)}}
	case r.ID == stateID:
		return s.state(r.Data, line)
	case r.ID == promptID:
		s.last = nil // its earlier message answers something else
	}
	return nil
}

// state reads the answer to our first command.
func (s *run) state(data json.RawMessage, line []byte) []event.Event {
	var d struct {
		Model struct {
			ID       string `json:"id"`
			Provider string `json:"provider"`
		} `json:"model"`
		SessionID     string `json:"sessionId"`
		ThinkingLevel string `json:"thinkingLevel"`
	}
	if json.Unmarshal(data, &d) != nil {
		return s.raw(line)
	}
	found := s.introduced(d.SessionID, modelName(d.Model.Provider, d.Model.ID))
	if want := s.spec.Effort; want != "" && want != d.ThinkingLevel {
		s.over = true
		// The error comes first: an introduced agent gets its prompt.
		found = append([]event.Event{&event.Erred{Kind: task.Invalid, Message: fmt.Sprintf(
			"effort: %s cannot think at %q; the nearest it can is %q", s.session.Model, want, d.ThinkingLevel)}}, found...)
	}
	return found
}

// introduced returns the known facts of the agent, where they are new.
func (s *run) introduced(id, model string) []event.Event {
	if id == "" {
		id = s.session.ID
	}
	if model == "" {
		model = s.session.Model
	}
	if s.session.Protocol != 0 && id == s.session.ID && model == s.session.Model {
		return nil
	}
	s.session = event.Session{Protocol: 1, ID: id, Model: model, Can: []string{"steer", "resume"}}
	tell := s.session
	return []event.Event{&tell}
}

// modelName is how a model is asked for; empty where pi has none.
func modelName(provider, id string) string {
	switch {
	case provider == "unknown":
		return ""
	case provider == "" || id == "":
		return id
	}
	return provider + "/" + id
}

// turn counts a turn, except a repeated turn after an error.
func (s *run) turn() []event.Event {
	if s.again {
		s.again = false
		return nil
	}
	s.turns++
	return []event.Event{&event.Turn{N: s.turns}}
}

// readOutput reads a message of the model: its usage, its text, and the name of
// the model.
func (s *run) readOutput(r *record, line []byte) []event.Event {
	m := &message{}
	var role struct {
		Role string `json:"role"`
	}
	if !wire.Decode(r.Message, &role) {
		return s.raw(line)
	}
	if role.Role != "assistant" {
		return nil // others may have another shape
	}
	if !wire.Decode(r.Message, m) {
		return s.raw(line)
	}
	s.last = m
	id := m.Model
	if m.ResponseModel != "" {
		id = m.ResponseModel
	}
	var found []event.Event
	if m.StopReason != "error" { // which no model has answered
		found = s.introduced("", modelName(m.Provider, id))
		s.refused = refused{}
	}
	found = append(found, s.limited(m.Usage.spent())...)
	if text := m.text(); text != "" {
		found = append(found, &event.Text{Text: text})
	}
	return found
}

// text returns the text of a message without thoughts. Each part may begin with
// a thought.
func (m *message) text() string {
	var parts []string
	for _, b := range m.Content {
		if said := thought.Cut(b.Text); b.Type == "text" && said != "" {
			parts = append(parts, said)
		}
	}
	return strings.Join(parts, "\n\n")
}

// spent returns an event of usage; none where the usage is zero or impossible.
func (u *usage) spent() []event.Event {
	if min(u.Input, u.Output, u.CacheRead, u.CacheWrite) < 0 || u.Cost.Total < 0 {
		return nil
	}
	is := task.Usage{
		Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, CostUSD: u.Cost.Total,
	}
	if is == (task.Usage{}) {
		return nil
	}
	return []event.Event{&event.Spent{Usage: is}}
}

// compacted returns the usage of shortening the conversation.
func compacted(result json.RawMessage) []event.Event {
	var is struct {
		Usage usage `json:"usage"`
	}
	if len(result) == 0 || !wire.Decode(result, &is) {
		return nil
	}
	return is.Usage.spent()
}

// recordRetry records our extension's report of a refused request.
func (s *run) recordRetry(r *record) {
	if r.StatusKey != "swarm" {
		return
	}
	var is struct {
		refused
		Limits map[string]string `json:"limits"`
	}
	switch {
	case json.Unmarshal([]byte(r.StatusText), &is) != nil:
	case len(is.Limits) > 0:
		s.limits = is.Limits
	default:
		s.refused = is.refused
	}
}

// limited adds the limits that the headers of the answer tell.
func (s *run) limited(found []event.Event) []event.Event {
	limits := s.limits
	s.limits = nil
	for _, e := range found {
		if spent, ok := e.(*event.Spent); ok && len(limits) > 0 {
			spent.Left = limit.Remaining(func(name string) string { return limits[name] }, spent.Usage.Tokens(), time.Now())
		}
	}
	return found
}

// retry is a request that pi makes again. It waits as long as it wants to, and
// not as long as it was told.
func (s *run) retry(r *record) []event.Event {
	f := s.fault(r.ErrorMessage)
	s.again = r.Type == "auto_retry_start"
	return []event.Event{&event.Retry{Kind: f.Kind, Message: f.Message, RetryAfterMS: max(f.RetryAfterMS, r.DelayMS, 0)}}
}

// settled reads the end of a prompt's work.
func (s *run) settled() []event.Event {
	m := s.last
	s.last = nil
	s.again = false
	switch {
	case s.over:
		return nil
	case m == nil:
		return []event.Event{&event.Erred{Kind: task.NoResult, Message: "it ended without a message of its model"}}
	case m.StopReason == "stop":
		return []event.Event{&event.Answered{Text: m.text()}}
	case m.StopReason == "length":
		return []event.Event{&event.Erred{Kind: task.Other, Message: "its model reached the limit of output for a message"}}
	case m.ErrorMessage != "":
		return []event.Event{s.fault(m.ErrorMessage)}
	default:
		return []event.Event{&event.Erred{Kind: task.Other, Message: fmt.Sprintf("its last message ended by %q", m.StopReason)}}
	}
}

// disconnected are pi's words for a request that got no answer, for any reason.
const disconnected = "Connection error."

// fault makes an error from its text and from the response to the last refused
// request.
func (s *run) fault(text string) *event.Erred {
	is := s.refused
	s.refused = refused{}
	kind := fault.Kind(is.Status, text)
	if is.RefusedBy != "" && text == disconnected {
		text = fault.Down(is.RefusedBy)
	}
	// The rest of the text is advice for the terminal of pi.
	text, _, _ = strings.Cut(text, "\n\nUse /")
	return &event.Erred{Kind: kind, Message: text, RetryAfterMS: is.RetryAfterMS}
}
