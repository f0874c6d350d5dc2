package copilot

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/event"
	"agentswarm/swarm/fault"
	"agentswarm/swarm/task"
	"agentswarm/swarm/wire"
)

var _ agent.Parser = (*stream)(nil)

// stream reads the output of one agent.
type stream struct {
	wire.Lines
	brief   bool
	session string
	model   string
	turns   int
	text    string       // the last message of the model
	last    failure      // of the latest request that failed
	waits   bool         // before it makes that request again
	fault   *event.Erred // an error that ends the agent; its result is none then
}

func newStream() *stream {
	s := &stream{}
	s.Lines = wire.Lines{Pass: passed, Read: s.read, Cut: wire.Cut}
	return s
}

// Brief spares the inputs and the outputs of tools.
func (s *stream) Brief() { s.brief = true }

// passed knows lines that repeat others, and the prompt.
func passed(head []byte) bool {
	rest, ok := bytes.CutPrefix(head, []byte(`{"type":"`))
	name, _, ended := bytes.Cut(rest, []byte(`"`))
	if !ok || !ended {
		return false
	}
	switch string(name) {
	case "user.message", "assistant.message_delta", "assistant.message_start", "assistant.tool_call_delta", "assistant.reasoning",
		"assistant.reasoning_delta", "tool.shell_output", "tool.execution_partial_result", "session.background_tasks_changed",
		"session.skills_loaded", "metric":
		return true
	}
	return false
}

// failure is a request that failed.
type failure struct {
	Status  int    `json:"statusCode"`
	Message string `json:"errorMessage"`
	Of      string `json:"failureKind"` // transport: no answer came, or not all of it
}

// line is any line, as far as it is of interest.
type line struct {
	Type    string `json:"type"`
	Agent   string `json:"agentId"` // set on the lines of a subagent
	Session string `json:"sessionId"`
	Exit    int    `json:"exitCode"`

	Name       string `json:"name"`
	Attributes span   `json:"attributes"`

	Data struct {
		failure
		Model     string          `json:"model"`
		Attempt   int             `json:"retryAttempt"`
		Content   string          `json:"content"`
		Call      string          `json:"toolCallId"`
		Tool      string          `json:"toolName"`
		Arguments json.RawMessage `json:"arguments"`
		Success   bool            `json:"success"`
		Result    struct {
			Content string `json:"content"`
		} `json:"result"`
		Error   json.RawMessage `json:"error"`
		Reason  string          `json:"reason"`
		Message string          `json:"message"`
	} `json:"data"`
}

// span has the attributes that OpenTelemetry gives a request. Input holds the tokens that the
// cache had or got, as its conventions say.
type span struct {
	Session string `json:"gen_ai.conversation.id"`
	Input   int64  `json:"gen_ai.usage.input_tokens"`
	Output  int64  `json:"gen_ai.usage.output_tokens"`
	Cached  int64  `json:"gen_ai.usage.cache_read.input_tokens"`
	Written int64  `json:"gen_ai.usage.cache_creation.input_tokens"`
	// Wrote is Written by an older name.
	Wrote int64 `json:"gen_ai.usage.cache_write.input_tokens"`
}

func (u *span) usage() task.Usage {
	cached := max(0, min(u.Cached, u.Input))
	written := max(0, min(max(u.Written, u.Wrote), u.Input-cached))
	return task.Usage{Input: max(0, u.Input-cached-written), Output: max(0, u.Output), CacheRead: cached, CacheWrite: written}
}

// read reads a line.
func (s *stream) read(text []byte) []event.Event {
	var l line
	if !wire.Decode(text, &l) || l.Type == "" {
		return wire.Foreign(text, s.brief)
	}
	switch l.Type {
	case "span":
		return s.request(&l)
	case "session.tools_updated":
		return s.introduced("", l.Data.Model)
	case "assistant.turn_start":
		if l.Agent != "" {
			return nil
		}
		s.turns++
		return []event.Event{&event.Turn{N: s.turns}}
	case "assistant.message":
		if l.Agent != "" || l.Data.Content == "" {
			return nil
		}
		s.text = l.Data.Content
		return []event.Event{&event.Text{Text: s.text}}
	case "tool.execution_start":
		start := &event.ToolStart{ID: l.Data.Call, Name: l.Data.Tool}
		if !s.brief {
			start.Input = wire.Copy(l.Data.Arguments)
		}
		return []event.Event{start}
	case "tool.execution_complete":
		return []event.Event{s.toolEnd(&l)}
	case "model.call_failure":
		return s.failed(&l)
	case "assistant.turn_retry":
		if l.Agent != "" {
			return nil // its failure was not noted either
		}
		if s.waits {
			s.waits = false // its failure was reported, and it asks again now
			return nil
		}
		return []event.Event{s.retry(l.Data.Reason)}
	case "session.error":
		s.fault = s.erred(&l)
		return nil
	case "abort":
		s.fault = &event.Erred{Kind: task.Other, Message: "the agent was interrupted: " + l.Data.Reason}
		return nil
	case "result":
		return s.result(&l)
	}
	// The others are known by their families: they show progress, and later
	// versions add some.
	family, _, _ := strings.Cut(l.Type, ".")
	switch family {
	case "session", "assistant", "model", "tool", "user", "agent", "subagent", "hook", "skill", "permission", "system", "command", "metric", "log":
		return nil
	}
	return wire.Foreign(text, s.brief)
}

// introduced reports a conversation or a model that is new.
func (s *stream) introduced(session, model string) []event.Event {
	if (session == "" || session == s.session) && (model == "" || model == s.model) {
		return nil
	}
	if session != "" {
		s.session = session
	}
	if model != "" {
		s.model = model
	}
	return []event.Event{&event.Session{ID: s.session, Model: s.model, Can: []string{"resume"}}}
}

// request reads the span of a request to the model. Those of tools and of whole
// agents have no tokens of their own.
func (s *stream) request(l *line) []event.Event {
	if !strings.HasPrefix(l.Name, "chat") {
		return nil
	}
	found := s.introduced(l.Attributes.Session, "")
	if used := l.Attributes.usage(); used != (task.Usage{}) {
		found = append(found, &event.Spent{Usage: used})
	}
	return found
}

func (s *stream) toolEnd(l *line) event.Event {
	end := &event.ToolEnd{ID: l.Data.Call, OK: l.Data.Success}
	switch {
	case s.brief:
	case len(l.Data.Error) > 0:
		end.Output = wire.Copy(l.Data.Error)
	default:
		end.Output, _ = json.Marshal(l.Data.Result.Content)
	}
	return end
}

// failed notes a request that failed, and reports that it will be made again. The
// CLI says so only once it has waited.
func (s *stream) failed(l *line) []event.Event {
	if l.Agent != "" {
		return nil
	}
	s.last = l.Data.failure
	tries := maxTries
	switch status := s.last.Status; {
	case status == http.StatusUnauthorized:
		tries = authTries
	case status != 0 && status != http.StatusTooManyRequests && status < http.StatusInternalServerError:
		return nil // it gives up
	}
	if l.Data.Attempt >= tries {
		return nil
	}
	s.waits = true
	again := s.retry("")
	again.NextMS = s.last.wait(l.Data.Attempt).Milliseconds()
	return []event.Event{again}
}

// The retries of the CLI 1.0.102, also for a request with a refused login.
const (
	maxTries  = 5
	authTries = 2
)

// wait is about how long the CLI waits after a failure, as was seen with 1.0.102.
// After status 429 it waits as its provider tells it, which it does not report: 0.
func (f *failure) wait(attempt int) time.Duration {
	switch _, down := fault.Unreachable(f.text()); {
	case f.Status == http.StatusTooManyRequests:
		return 0
	case down:
		return time.Second << min(attempt, 3)
	case f.Status >= http.StatusInternalServerError:
		return time.Second << min(max(attempt-1, 0), 3)
	default:
		return time.Second
	}
}

// retry reports a request that is made again, with the reason of its failure.
func (s *stream) retry(reason string) *event.Retry {
	message := cmp.Or(s.last.text(), reason)
	return &event.Retry{Kind: s.last.kind(message), Message: message}
}

// kind is the kind of a failure with this message.
func (f *failure) kind(message string) task.ErrorKind {
	kind := fault.Kind(f.Status, message)
	if kind == task.Other && f.Of == "transport" {
		return task.Overloaded
	}
	return kind
}

// text is the message of a failure. A provider's error is an object, a broken
// connection is a text.
func (f *failure) text() string {
	var is struct {
		Message string `json:"message"`
	}
	if json.Unmarshal([]byte(f.Message), &is) == nil && is.Message != "" {
		return is.Message
	}
	var plain string
	if json.Unmarshal([]byte(f.Message), &plain) == nil {
		return plain
	}
	return f.Message
}

// erred is the error that ends the agent. Its message may lack the words of the
// provider, which the failed request had.
func (s *stream) erred(l *line) *event.Erred {
	was := failure{Status: cmp.Or(l.Data.Status, s.last.Status), Of: s.last.Of}
	e := &event.Erred{Kind: was.kind(l.Data.Message), Message: l.Data.Message}
	if text := s.last.text(); text != "" && !strings.Contains(e.Message, text) {
		e.Message += "; the provider said: " + text
		if was.kind(text) == task.Quota {
			e.Kind = task.Quota
		}
	}
	return e
}

// result is the end: an answer or an error.
func (s *stream) result(l *line) []event.Event {
	found := s.introduced(l.Session, "")
	switch {
	case s.fault != nil:
		return append(found, s.fault)
	case l.Exit != 0:
		message := cmp.Or(s.last.text(), "copilot gave no answer")
		return append(found, &event.Erred{Kind: s.last.kind(message), Message: message})
	default:
		return append(found, &event.Answered{Text: s.text})
	}
}
