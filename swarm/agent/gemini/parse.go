package gemini

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/event"
	"agentswarm/swarm/fault"
	"agentswarm/swarm/task"
	"agentswarm/swarm/wire"
)

var _ agent.Parser = (*stream)(nil)

// stream parses the output of one agent.
type stream struct {
	wire.Lines
	brief   bool
	session string
	model   string
	turns   int
	talking bool         // in a turn: nothing has come of its tools yet
	text    bytes.Buffer // the text of the turn so far
	fault   string       // an error that it reported; a result after an error is no answer
}

func newStream() *stream {
	s := &stream{}
	s.Lines = wire.Lines{Pass: passed, Read: s.read, Cut: wire.Cut}
	return s
}

// Brief drops the input and output of tools.
func (s *stream) Brief() { s.brief = true }

// passed knows the prompt, which it repeats.
func passed(head []byte) bool {
	rest, ok := bytes.CutPrefix(head, []byte(`{"type":"message","timestamp":"`))
	if !ok {
		return false
	}
	_, rest, ok = bytes.Cut(rest, []byte(`"`))
	return ok && bytes.HasPrefix(rest, []byte(`,"role":"user"`))
}

// used is the usage of a model. Input includes cached tokens. Total includes
// thoughts, which are paid for as output.
type used struct {
	Total  int64 `json:"total_tokens"`
	Input  int64 `json:"input_tokens"`
	Output int64 `json:"output_tokens"`
	Cached int64 `json:"cached"`
}

func (u used) plain() task.Usage {
	cached := max(0, min(u.Cached, u.Input))
	return task.Usage{
		Input: max(0, u.Input) - cached, CacheRead: cached, Output: max(0, u.Output, min(u.Total, u.Total-u.Input)),
	}
}

// line is any line, as far as it is of interest.
type line struct {
	Type    string `json:"type"`
	Session string `json:"session_id"`
	Model   string `json:"model"`

	Role    string `json:"role"`
	Content string `json:"content"`
	Thought bool   `json:"thought"`

	Tool       string          `json:"tool_name"`
	ToolID     string          `json:"tool_id"`
	Parameters json.RawMessage `json:"parameters"`
	Output     json.RawMessage `json:"output"`

	Status   string          `json:"status"`
	Severity string          `json:"severity"`
	Message  string          `json:"message"`
	Error    json.RawMessage `json:"error"`
	Stats    struct {
		Models map[string]used `json:"models"`
	} `json:"stats"`
}

// read reads a line.
func (s *stream) read(text []byte) []event.Event {
	var l line
	if !wire.Decode(text, &l) || l.Type == "" {
		return wire.Foreign(text, s.brief)
	}
	switch l.Type {
	case "init":
		s.session, s.model = l.Session, l.Model
		return []event.Event{s.introduced()}
	case "message":
		if l.Role != "assistant" || l.Thought {
			return nil
		}
		found := s.turn()
		if s.text.Len()+len(l.Content) <= wire.MaxLine {
			s.text.WriteString(l.Content)
		}
		return found
	case "thought":
		return nil
	case "tool_use":
		found := append(s.turn(), s.answer()...)
		start := &event.ToolStart{ID: l.ToolID, Name: l.Tool}
		if !s.brief {
			start.Input = wire.Copy(l.Parameters)
		}
		return append(found, start)
	case "tool_result":
		return append(s.answer(), s.toolEnd(&l))
	case "error":
		// The agent continues after a warning. But it ends after a detected
		// loop, and calls that a success.
		if l.Severity != "warning" || strings.HasPrefix(l.Message, "Loop detected") {
			s.fault = l.Message
		}
		return nil
	case "result":
		return s.result(&l)
	default:
		return wire.Foreign(text, s.brief)
	}
}

func (s *stream) introduced() event.Event {
	return &event.Session{ID: s.session, Model: s.model, Can: []string{"resume"}}
}

// turn notes that the model speaks. The first text after the results of its
// tools begins a turn.
func (s *stream) turn() []event.Event {
	if s.talking {
		return nil
	}
	s.talking = true
	s.turns++
	s.text.Reset()
	return []event.Event{&event.Turn{N: s.turns}}
}

// answer returns the text before the next action.
func (s *stream) answer() []event.Event {
	if s.text.Len() == 0 {
		return nil
	}
	text := &event.Text{Text: s.text.String()}
	s.text.Reset()
	return []event.Event{text}
}

func (s *stream) toolEnd(l *line) event.Event {
	s.talking = false
	end := &event.ToolEnd{ID: l.ToolID, OK: l.Status == "success"}
	if s.brief {
		return end
	}
	end.Output = wire.Copy(l.Output)
	if len(l.Error) > 0 {
		end.Output = wire.Copy(l.Error)
	}
	return end
}

// result reads the end: an answer or an error, and the usage.
func (s *stream) result(l *line) (found []event.Event) {
	var all task.Usage
	var most int64
	model := s.model
	for name, u := range l.Stats.Models {
		all.Add(u.plain())
		// Small models may have helped to choose a model, so the model with the
		// most tokens counts; of several the first by name.
		if u.Total > most || u.Total == most && most > 0 && name < model {
			model, most = name, u.Total
		}
	}
	if all != (task.Usage{}) {
		found = append(found, &event.Spent{Usage: all})
	}
	if model != s.model {
		s.model = model
		found = append(found, s.introduced())
	}
	text := s.text.String()
	found = append(found, s.answer()...)
	s.talking = false
	if l.Status == "success" && s.fault == "" {
		return append(found, &event.Answered{Text: text})
	}
	var told struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	}
	if json.Unmarshal(l.Error, &told) != nil || told.Message == "" {
		told.Message = s.fault
	}
	if told.Message == "" {
		told.Message = "gemini ended with the status " + l.Status
	}
	return append(found, erred(told.Message))
}

// coded finds the status in an answer of the provider that is told as it came,
// and later how long it asks to wait.
var (
	coded = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"code":\s*([45][0-9]{2})\b`) })
	later = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)(?:retry (?:after|in) ([0-9]{1,6}(?:\.[0-9]{1,9})?)s\b|"retryDelay":\s*"([0-9]{1,6}(?:\.[0-9]{1,9})?)s")`)
	})
)

// erred is an error that is known by its words only.
func erred(text string) *event.Erred {
	status := 0
	if m := coded().FindStringSubmatch(text); m != nil {
		status, _ = strconv.Atoi(m[1])
	}
	e := &event.Erred{Kind: fault.Kind(status, text), Message: text}
	if m := later().FindStringSubmatch(text); m != nil {
		seconds, _ := strconv.ParseFloat(m[1]+m[2], 64)
		e.RetryAfterMS = int64(seconds * 1000)
	}
	if e.Kind != task.Quota && e.Kind != task.RateLimit {
		return e
	}
	switch {
	case e.RetryAfterMS > 0 && e.RetryAfterMS <= longWaitMS:
		e.Kind = task.RateLimit // a short wait takes precedence over the name of the quota
	case e.RetryAfterMS > 0:
		e.Kind, e.Quota = task.Quota, &event.Quota{Title: "Gemini quota"}
	case fault.Mentions(text, "perday", "per day", "daily"):
		e.Kind, e.Quota = task.Quota, &event.Quota{Window: "day", Midnight: "America/Los_Angeles", Title: "Gemini quota per day"}
	}
	return e
}

// longWaitMS is the wait from which a limit counts as a window of a quota, in
// milliseconds: an agent does not wait longer.
const longWaitMS = 60 * 60 * 1000
