package claude

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/event"
	"agentswarm/swarm/fault"
	"agentswarm/swarm/task"
	"agentswarm/swarm/wire"
)

// stream parses the output of one agent.
type stream struct {
	wire.Lines
	brief bool
	model string
	last  string // the message that was spoken of last
	turns int
	// paid is the usage that streams reported since the last result. cost is
	// the total cost that results reported.
	paid task.Usage
	cost float64
	// rejected is the quota window that was told to be used up; nil: none.
	rejected *event.Quota
}

// newStream begins where a conversation that is gone on with had ended: its
// cost is counted again.
func newStream(spec *agent.Spec) *stream {
	s := &stream{cost: spec.Prior.CostUSD - spec.Prior.ComputedUSD}
	s.Lines = wire.Lines{Pass: passed, Read: s.read, Cut: wire.Cut}
	return s
}

// Brief drops the input and output of tools.
func (s *stream) Brief() { s.brief = true }

// passed knows the lines of which there are most: the words of the model as
// they come, which the whole message repeats.
func passed(head []byte) bool {
	rest, ok := bytes.CutPrefix(head, []byte(`{"type":"stream_event","event":{`))
	if !ok {
		return false
	}
	return bytes.HasPrefix(rest, []byte(`"delta":{"text":`)) || bytes.HasPrefix(rest, []byte(`"delta":{"partial_json":`)) ||
		bytes.HasPrefix(rest, []byte(`"delta":{"thinking":`)) || bytes.HasPrefix(rest, []byte(`"type":"content_block_delta"`))
}

// usage is the usage as the API reports it: input leaves out cached tokens.
type usage struct {
	Input      int64 `json:"input_tokens"`
	Output     int64 `json:"output_tokens"`
	CacheRead  int64 `json:"cache_read_input_tokens"`
	CacheWrite int64 `json:"cache_creation_input_tokens"`
}

func (u usage) plain() task.Usage {
	return task.Usage{
		Input: max(0, u.Input), Output: max(0, u.Output), CacheRead: max(0, u.CacheRead), CacheWrite: max(0, u.CacheWrite),
	}
}

// share is the usage of a model, as results report it.
type share struct {
	Input      int64 `json:"inputTokens"`
	Output     int64 `json:"outputTokens"`
	CacheRead  int64 `json:"cacheReadInputTokens"`
	CacheWrite int64 `json:"cacheCreationInputTokens"`
	// Basis is "unknown" where the model has no price and a guess was made.
	Basis string `json:"costBasis"`
}

// line is any line, as far as it is of interest.
type line struct {
	Type    string `json:"type"`
	Subtype string `json:"subtype"`
	Session string `json:"session_id"`
	Model   string `json:"model"`
	Parent  string `json:"parent_tool_use_id"` // set on messages of a helper of the agent

	Message struct {
		ID      string          `json:"id"`
		Model   string          `json:"model"`
		Content json.RawMessage `json:"content"`
	} `json:"message"`
	Event struct {
		Type  string `json:"type"`
		Usage usage  `json:"usage"`
	} `json:"event"`

	IsError    wire.Flag        `json:"is_error"`
	Status     int              `json:"api_error_status"`
	Errors     []string         `json:"errors"`
	Result     string           `json:"result"`
	Structured json.RawMessage  `json:"structured_output"`
	Cost       float64          `json:"total_cost_usd"`
	Since      map[string]share `json:"model_usage_since_last_result"`

	Limits rateLimit `json:"rate_limit_info"`

	ErrorStatus int     `json:"error_status"`
	Error       string  `json:"error"`
	Attempt     int     `json:"attempt"`
	Delay       float64 `json:"retry_delay_ms"`
}

// read reads a line.
func (s *stream) read(text []byte) []event.Event {
	var l line
	if !wire.Decode(text, &l) || l.Type == "" {
		return wire.Foreign(text, s.brief)
	}
	switch l.Type {
	case "system":
		return s.system(&l)
	case "stream_event":
		if l.Event.Type != "message_delta" {
			return nil
		}
		spent := l.Event.Usage.plain()
		s.paid.Add(spent)
		return []event.Event{&event.Spent{Usage: spent}}
	case "assistant":
		return s.assistant(&l)
	case "user":
		return wire.Ends(l.Message.Content, s.brief)
	case "rate_limit_event":
		return s.limits(&l.Limits)
	case "result":
		return s.result(&l)
	default:
		return nil
	}
}

func (s *stream) system(l *line) []event.Event {
	switch l.Subtype {
	case "init":
		s.model = l.Model
		return []event.Event{&event.Session{ID: l.Session, Model: l.Model, Can: []string{"steer", "resume", "schema"}}}
	case "api_retry":
		if s.rejected != nil && l.ErrorStatus == 429 {
			return []event.Event{&event.Retry{Kind: task.Quota, Message: s.rejected.Title + " reached", Quota: s.rejected}}
		}
		return []event.Event{&event.Retry{
			Kind: fault.Kind(l.ErrorStatus, l.Error), RetryAfterMS: int64(max(0, l.Delay)),
			Message: strings.TrimSpace(fmt.Sprintf("%s, attempt %d", l.Error, l.Attempt)),
		}}
	default:
		return nil
	}
}

// assistant reads a message of the model: one block of a message a line.
func (s *stream) assistant(l *line) (found []event.Event) {
	if l.Message.Model == "<synthetic>" {
		return nil // an error, which the result tells of
	}
	if l.Parent == "" && l.Message.ID != s.last {
		s.last = l.Message.ID
		s.turns++
		found = append(found, &event.Turn{N: s.turns})
		if m := l.Message.Model; m != "" && m != s.model {
			s.model = m
			found = append(found, &event.Session{ID: l.Session, Model: m, Can: []string{"steer", "resume", "schema"}})
		}
	}
	for _, b := range wire.Blocks(l.Message.Content) {
		switch b.Type {
		case "text":
			if l.Parent == "" {
				found = append(found, &event.Text{Text: b.Text})
			}
		case "tool_use", "server_tool_use":
			found = append(found, b.Start(s.brief))
		}
	}
	return found
}

// result reads the end of a request: an answer or an error. It reports usage,
// less the usage that streams reported already.
func (s *stream) result(l *line) (found []event.Event) {
	var all task.Usage
	cost := max(0, l.Cost-s.cost)
	for _, used := range l.Since {
		all.Add(usage{used.Input, used.Output, used.CacheRead, used.CacheWrite}.plain())
		if used.Basis == "unknown" {
			cost = 0
		}
	}
	rest := task.Usage{
		Input: max(0, all.Input-s.paid.Input), Output: max(0, all.Output-s.paid.Output),
		CacheRead: max(0, all.CacheRead-s.paid.CacheRead), CacheWrite: max(0, all.CacheWrite-s.paid.CacheWrite),
		CostUSD: cost,
	}
	s.paid, s.cost = task.Usage{}, max(s.cost, l.Cost)
	if rest != (task.Usage{}) {
		found = append(found, &event.Spent{Usage: rest, Sum: true})
	}
	if !l.IsError {
		answer := &event.Answered{Text: l.Result}
		if text := bytes.TrimSpace(l.Structured); len(text) > 0 && string(text) != "null" {
			answer.Structured = wire.Copy(text)
		}
		return append(found, answer)
	}
	message := l.Result
	if message == "" {
		message = strings.Join(l.Errors, "; ")
	}
	if message == "" {
		message = l.Subtype
	}
	erred := &event.Erred{Kind: fault.Kind(l.Status, message), Message: message}
	switch q := s.quotaOf(l.Status, message); {
	case q != nil:
		erred.Kind, erred.Quota = task.Quota, q
	case strings.Contains(message, temporary):
		erred.Kind = task.RateLimit // it says "usage limit", too
	}
	return append(found, erred)
}
