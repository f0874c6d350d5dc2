package qwen

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
	talking bool // in a turn: not all of it is told yet
	// paid is the usage that messages reported, and the usage before this
	// process: the result counts that, too.
	paid task.Usage
	// broken is set where a stream of the model broke and was asked for again: the
	// CLI joins the texts of both.
	broken bool
}

func newStream(spec *agent.Spec) *stream {
	s := &stream{paid: spec.Prior}
	s.Lines = wire.Lines{Pass: passed, Read: s.read, Cut: wire.Cut}
	return s
}

// Brief drops the input and output of tools.
func (s *stream) Brief() { s.brief = true }

// passed knows the lines that show progress only.
func passed(head []byte) bool { return bytes.HasPrefix(head, []byte(`{"type":"stream_event",`)) }

// usage is the usage as the CLI reports it: input includes cached tokens.
type usage struct {
	Input  int64 `json:"input_tokens"`
	Output int64 `json:"output_tokens"`
	Cached int64 `json:"cache_read_input_tokens"`
}

func (u usage) plain() task.Usage {
	cached := max(0, min(u.Cached, u.Input))
	return task.Usage{Input: max(0, u.Input) - cached, CacheRead: cached, Output: max(0, u.Output)}
}

// line is any line, as far as it is of interest.
type line struct {
	Type    string `json:"type"`
	Subtype string `json:"subtype"`
	Session string `json:"session_id"`
	Model   string `json:"model"`
	Parent  string `json:"parent_tool_use_id"` // set on messages of a helper of the agent

	Message struct {
		Model   string          `json:"model"`
		Content json.RawMessage `json:"content"`
		Usage   usage           `json:"usage"`
	} `json:"message"`

	IsError    wire.Flag       `json:"is_error"`
	Result     string          `json:"result"`
	Structured json.RawMessage `json:"structured_result"`
	Usage      usage           `json:"usage"`
	Error      struct {
		Message string `json:"message"`
	} `json:"error"`
	Data retry `json:"data"`
}

// retry is a request that is made again. It waits where the provider said that
// there were too many.
type retry struct {
	Reason  string  `json:"reason"`
	Attempt int     `json:"attempt"`
	Delay   float64 `json:"delayMs"`
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
	case "assistant":
		return s.assistant(&l)
	case "user":
		return s.user(&l)
	case "result":
		return s.result(&l)
	default:
		return wire.Foreign(text, s.brief)
	}
}

func (s *stream) introduced() event.Event {
	return &event.Session{ID: s.session, Model: s.model, Can: []string{"resume", "schema"}}
}

func (s *stream) system(l *line) []event.Event {
	switch l.Subtype {
	case "init":
		s.session, s.model = l.Session, l.Model
		return []event.Event{s.introduced()}
	case "retry":
		again := &event.Retry{Kind: task.Overloaded, Message: l.Data.Reason}
		s.broken = s.broken || l.Data.Delay <= 0
		if l.Data.Delay > 0 {
			again.Kind, again.RetryAfterMS = task.RateLimit, int64(min(l.Data.Delay, 1e12))
			if erred(l.Data.Reason, "").Kind == task.Quota {
				again.Kind = task.Quota
			}
			again.Message += ", attempt " + strconv.Itoa(l.Data.Attempt)
		}
		return []event.Event{again}
	default:
		return nil
	}
}

// assistant reads a message of the model: one block a line, as a message of its
// own. The last block has the usage of the turn.
func (s *stream) assistant(l *line) (found []event.Event) {
	spent := l.Message.Usage.plain()
	all := wire.Blocks(l.Message.Content)
	if len(all) == 1 && spent == (task.Usage{}) && strings.HasPrefix(all[0].Text, "[API Error: ") {
		return nil // the result tells of it
	}
	if l.Parent == "" && !s.talking {
		s.talking = true
		s.turns++
		found = append(found, &event.Turn{N: s.turns})
		if m := l.Message.Model; m != "" && m != s.model {
			s.model = m
			found = append(found, s.introduced())
		}
	}
	for _, b := range all {
		switch b.Type {
		case "text":
			if l.Parent == "" && b.Text != "" {
				found = append(found, &event.Text{Text: b.Text})
			}
		case "tool_use":
			found = append(found, b.Start(s.brief))
		}
	}
	if spent != (task.Usage{}) {
		s.talking = s.talking && l.Parent != ""
		s.paid.Add(spent)
		found = append(found, &event.Spent{Usage: spent})
	}
	return found
}

// user reads the results of tools.
func (s *stream) user(l *line) []event.Event {
	found := wire.Ends(l.Message.Content, s.brief)
	if len(found) > 0 {
		s.talking = s.talking && l.Parent != ""
		s.broken = false // it broke before the tool
	}
	return found
}

// result reads the end: an answer or an error. It reports usage, less the usage
// that messages reported already.
func (s *stream) result(l *line) (found []event.Event) {
	all := l.Usage.plain()
	rest := task.Usage{
		Input: max(0, all.Input-s.paid.Input), Output: max(0, all.Output-s.paid.Output), CacheRead: max(0, all.CacheRead-s.paid.CacheRead),
	}
	if rest != (task.Usage{}) {
		s.paid.Add(rest)
		found = append(found, &event.Spent{Usage: rest})
	}
	if l.IsError {
		return append(found, erred(l.Error.Message, l.Subtype))
	}
	answer := &event.Answered{Text: l.Result, Joined: s.broken}
	s.broken = false
	if text := bytes.TrimSpace(l.Structured); len(text) > 0 && string(text) != "null" {
		answer.Structured = wire.Copy(text)
	}
	return append(found, answer)
}

// coded finds a status in the words of an error.
var coded = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(?:API Error|Status|status|code):? ?([45][0-9]{2})\b`)
})

// erred is an error that is known by its words only.
func erred(text, otherwise string) *event.Erred {
	if text == "" {
		text = otherwise
	}
	status := 0
	if m := coded().FindStringSubmatch(text); m != nil {
		status, _ = strconv.Atoi(m[1])
	}
	if strings.Contains(text, unstructured) {
		return &event.Erred{Kind: task.SchemaMismatch, Message: text}
	}
	return &event.Erred{Kind: fault.Kind(status, text), Message: text}
}

// unstructured is part of the error for an answer that was written as text,
// though it was to be an object by a schema.
const unstructured = "plain text instead of calling the structured_output tool"
