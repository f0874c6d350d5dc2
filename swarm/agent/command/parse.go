package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"

	"agentswarm/swarm/event"
	"agentswarm/swarm/strict"
	"agentswarm/swarm/task"
)

// text takes all of stdout for the answer, of which it keeps the end: a
// result carries no more, and the whole is in the file.
type text struct {
	tail []byte
	cut  bool
}

func (t *text) Feed(p []byte) []event.Event {
	t.tail = append(t.tail, p...)
	if over := len(t.tail) - task.OutputLimit; over > 0 {
		t.tail = append(t.tail[:0], t.tail[over:]...)
		t.cut = true
	}
	return nil
}

func (t *text) End() []event.Event {
	tail := t.tail
	if t.cut {
		for len(tail) > 0 && !utf8.RuneStart(tail[0]) {
			tail = tail[1:]
		}
	}
	answer := string(bytes.ToValidUTF8(tail, []byte("\uFFFD")))
	return []event.Event{&event.Answered{Text: answer}}
}

// maxLine bounds an event. Agents repeat whole conversations in a line: half a
// megabyte was seen, so this leaves room and still bounds a hundred agents that
// print without line ends.
const maxLine = 2 << 20

// events reads one JSON object a line.
type events struct {
	line  []byte // the beginning of a line that has not ended
	long  bool   // the line is over maxLine: its rest is passed over
	blank bool   // of a long line: it began with nothing but blanks
	brief bool
}

// Brief drops the data that only a user interface shows: the input and output
// of tools, and the text of unknown events. It is most of an agent's output.
func (s *events) Brief() { s.brief = true }

func (s *events) Feed(p []byte) []event.Event {
	var found []event.Event
	for {
		head, rest, ended := bytes.Cut(p, []byte{'\n'})
		if ended && len(s.line) == 0 && !s.long && len(head) <= maxLine {
			found = s.add(found, head)
			p = rest
			continue
		}
		s.keep(head)
		if !ended {
			return found
		}
		found = append(found, s.End()...)
		p = rest
	}
}

// keep adds to the current line. Of an overlong line it keeps only the part
// that is shown.
func (s *events) keep(more []byte) {
	if s.long {
		return
	}
	room := maxLine - len(s.line)
	s.line = append(s.line, more[:min(room, len(more))]...)
	if len(more) > room {
		s.long, s.blank = true, len(bytes.TrimSpace(s.line)) == 0
		s.line = bytes.Clone(s.line[:shown])
	}
}

// shown is how much of a line that is too long is kept.
const shown = 1024

// End parses the rest of the buffer as a line.
func (s *events) End() []event.Event {
	line, long, blank := s.line, s.long, s.blank
	s.long, s.blank = false, false
	if s.line = s.line[:0]; cap(line) > chunkKept {
		s.line = nil
	}
	if !long {
		return s.add(nil, line)
	}
	if blank {
		return nil
	}
	return []event.Event{&event.Text{Text: valid(append(line, " … (line too long)"...))}}
}

// Release forgets the line that is begun, if it is longer than most, and
// returns how many bytes of it must be fed again.
func (s *events) Release(most int) (back int) {
	if s.long || len(s.line) <= most {
		return 0
	}
	back = len(s.line)
	s.line = nil
	return back
}

// add adds the event of a line. It keeps nothing of the line itself.
func (s *events) add(found []event.Event, line []byte) []event.Event {
	line = bytes.TrimSuffix(line, []byte{'\r'})
	if len(bytes.TrimSpace(line)) == 0 {
		return found
	}
	return append(found, s.parse(line))
}

// chunkKept is the largest buffer that is kept between lines.
const chunkKept = 64 << 10

// wire is every event of the protocol, flat.
type wire struct {
	Type         string          `json:"type"`
	Protocol     int             `json:"protocol"`
	ID           string          `json:"id"`
	Model        string          `json:"model"`
	Can          []string        `json:"can"`
	Text         string          `json:"text"`
	Name         string          `json:"name"`
	Input        json.RawMessage `json:"input"`
	OK           bool            `json:"ok"`
	Output       json.RawMessage `json:"output"`
	N            int             `json:"n"`
	CacheRead    int64           `json:"cache_read"`
	CacheWrite   int64           `json:"cache_write"`
	CostUSD      float64         `json:"cost_usd"`
	Left         int             `json:"requests_left"`
	Action       json.RawMessage `json:"action"`
	Structured   json.RawMessage `json:"structured"`
	Kind         string          `json:"kind"`
	Message      string          `json:"message"`
	RetryAfterMS int64           `json:"retry_after_ms"`
	Quota        *event.Quota    `json:"quota"`
	Window       string          `json:"window"`
	Title        string          `json:"title"`
	Percent      int             `json:"percent"`
	ResetsAt     int64           `json:"resets_at"`
}

// parse reads a line. A line that is not JSON is text. A line of unknown type
// or of the wrong shape is raw: an agent's noise never ends it.
func (s *events) parse(line []byte) event.Event {
	if bytes.TrimSpace(line)[0] == '{' {
		if e := quick(line, !s.brief); e != nil {
			return e
		}
		return slow(line)
	}
	return &event.Text{Text: valid(line)}
}

// valid returns a line with U+FFFD in place of invalid UTF-8.
func valid(line []byte) string { return strings.ToValidUTF8(string(line), "\uFFFD") }

// slow reads a line that begins as an object.
func slow(line []byte) event.Event {
	// A copy, since kept parts of it outlive the buffer.
	line = []byte(valid(line))
	raw := &event.Raw{Line: line}
	var w wire
	if err := json.Unmarshal(line, &w); err != nil {
		if _, wrong := errors.AsType[*json.SyntaxError](err); wrong {
			return &event.Text{Text: string(line)}
		}
		return raw
	}
	switch w.Type {
	case "session":
		return &event.Session{Protocol: w.Protocol, ID: w.ID, Model: w.Model, Can: w.Can}
	case "text":
		return &event.Text{Text: w.Text}
	case "tool_start":
		return &event.ToolStart{ID: w.ID, Name: w.Name, Input: w.Input}
	case "tool_end":
		return &event.ToolEnd{ID: w.ID, OK: w.OK, Output: w.Output}
	case "turn":
		return &event.Turn{N: w.N}
	case "usage":
		return w.spent(raw)
	case "ask":
		return &event.Asked{ID: w.ID, Action: exact(w.Action, line)}
	case "result":
		return &event.Answered{Text: w.Text, Structured: exact(w.Structured, line)}
	case "error":
		return &event.Erred{Kind: w.errorKind(), Message: w.Message, RetryAfterMS: w.RetryAfterMS, Quota: w.Quota}
	case "retry":
		return &event.Retry{Kind: w.errorKind(), Message: w.Message, RetryAfterMS: w.RetryAfterMS, Quota: w.Quota}
	case "quota_used":
		if w.Window == "" || w.Percent < 0 || w.Percent > 100 {
			return raw
		}
		return &event.QuotaUsed{Window: w.Window, Title: w.Title, Percent: w.Percent, ResetsAt: w.ResetsAt}
	default:
		return raw
	}
}

// exact returns a member of a line; the line itself where that has a name
// twice. Then the meaning is unknown, and the decision needs all of it.
func exact(member json.RawMessage, line []byte) json.RawMessage {
	if strict.Names(line) != nil {
		return line
	}
	return member
}

// errorKind returns the kind of error of an event; Other for an unknown kind.
func (w *wire) errorKind() (kind task.ErrorKind) {
	if kind.UnmarshalText([]byte(w.Kind)) != nil {
		return task.Other
	}
	return kind
}

// spent reads the numbers of a usage event, where input and output are
// counts. Negative ones are an agent's mistake and not taken.
func (w *wire) spent(raw event.Event) event.Event {
	var in, out int64
	if len(w.Input) > 0 && json.Unmarshal(w.Input, &in) != nil ||
		len(w.Output) > 0 && json.Unmarshal(w.Output, &out) != nil ||
		min(in, out, w.CacheRead, w.CacheWrite, int64(w.Left)) < 0 || w.CostUSD < 0 {
		return raw
	}
	return &event.Spent{Usage: task.Usage{
		Input: in, Output: out, CacheRead: w.CacheRead,
		CacheWrite: w.CacheWrite, CostUSD: w.CostUSD,
	}, Left: w.Left}
}
