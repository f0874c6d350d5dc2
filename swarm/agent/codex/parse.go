package codex

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"

	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
	"agentswarm/swarm/wire"
)

// parser reads the messages of one agent: one a line.
type parser struct {
	wire.Lines
	brief bool

	thread, model string          // the conversation; empty until it is known
	turn          string          // the current turn of the agent; empty: none
	turns         int             // of the model
	begun         bool            // the current turn of the model was told of
	answer        string          // the last that was said in this turn
	total         tokens          // the conversation's usage by the last report
	counted       bool            // total is known
	tools         map[string]bool // those that were begun and have not ended
	windows       rateLimits      // of quotas, as they were told last
	hooked        map[string]bool // runs of the hook that passed a tool of this turn
}

// heard is every message that is read, flat.
type heard struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Result struct {
		Thread struct {
			ID string `json:"id"`
		} `json:"thread"`
		Model string `json:"model"`
	} `json:"result"`
	Error  failure `json:"error"`
	Params params  `json:"params"`
}

// params are those of every notice that is read.
type params struct {
	Thread  string     `json:"threadId"`
	TurnID  string     `json:"turnId"`
	Item    item       `json:"item"`
	Error   failure    `json:"error"`
	Retries bool       `json:"willRetry"`
	ToModel string     `json:"toModel"`
	Limits  rateLimits `json:"rateLimits"`
	ItemID  string     `json:"itemId"` // of the tool that a request is about
	Run     struct {
		ID     string `json:"id"`
		Status string `json:"status"`
	} `json:"run"` // of a hook
	Turn struct {
		ID     string   `json:"id"`
		Status string   `json:"status"`
		Error  *failure `json:"error"`
	} `json:"turn"`
	Usage struct {
		Total tokens `json:"total"`
		Last  tokens `json:"last"`
	} `json:"tokenUsage"`
}

// item is a part of a turn.
type item struct {
	Type   string `json:"type"`
	ID     string `json:"id"`
	Status string `json:"status"`
	Text   string `json:"text"`

	Command   string          `json:"command"`
	Cwd       string          `json:"cwd"`
	Output    json.RawMessage `json:"aggregatedOutput"`
	Exit      *int            `json:"exitCode"`
	Changes   json.RawMessage `json:"changes"`
	Server    string          `json:"server"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	Result    json.RawMessage `json:"result"`
	Error     json.RawMessage `json:"error"`
	Query     string          `json:"query"`
}

// tokens are counts. Input holds those of the two caches too.
type tokens struct {
	Input      int64 `json:"inputTokens"`
	CacheRead  int64 `json:"cachedInputTokens"`
	CacheWrite int64 `json:"cacheWriteInputTokens"`
	Output     int64 `json:"outputTokens"`
}

// read adds the events of a line. It keeps nothing of the line itself.
func (p *parser) read(line []byte) (found []event.Event) {
	line = bytes.TrimSpace(line)
	if line[0] != '{' {
		return append(found, &event.Text{Text: strings.ToValidUTF8(string(line), "\uFFFD")})
	}
	if dull(line) {
		return found
	}
	if !utf8.Valid(line) {
		line = bytes.ToValidUTF8(line, []byte("\uFFFD"))
	}
	var w heard
	if err := json.Unmarshal(line, &w); err != nil {
		if _, wrong := errors.AsType[*json.SyntaxError](err); wrong {
			return append(found, &event.Text{Text: string(wire.Unthought(line))})
		}
		// Other messages have other things by these names.
	}
	return append(found, p.message(&w, line)...)
}

// dull reports whether a line belongs to those that come for each few words of
// the model or of a command, and that later lines repeat.
func dull(line []byte) bool {
	rest, ok := bytes.CutPrefix(line, []byte(`{"method":"item/`))
	if !ok {
		return false
	}
	method, _, _ := bytes.Cut(rest[:min(len(rest), 80)], []byte{'"'})
	return bytes.HasPrefix(method, []byte("reasoning/")) || bytes.HasSuffix(method, []byte("Delta")) ||
		bytes.HasSuffix(method, []byte("/delta"))
}

// message returns the events of a message.
func (p *parser) message(w *heard, line []byte) []event.Event {
	switch {
	case w.Method == "":
		return p.answered(w, line)
	case len(w.ID) > 0:
		if _, _, known := approvals(w.Method); known {
			if p.passed(w.Params.ItemID) {
				return []event.Event{&event.Raw{Line: bytes.Clone(line)}} // [talk.say] accepts it
			}
			return []event.Event{&event.Asked{ID: asked(w.Method, bytes.Clone(w.ID)), Action: bytes.Clone(line)}}
		}
		if asks, ok := inquiry(w, line); ok {
			return []event.Event{asks}
		}
		return []event.Event{&event.Raw{Line: bytes.Clone(line)}} // the caller must refuse it
	}
	if w.Method == "account/rateLimits/updated" {
		return p.limits(w.Params.Limits)
	}
	if w.Params.Thread != "" && w.Params.Thread != p.thread {
		return nil // not for us
	}
	switch w.Method {
	case "turn/started":
		p.turn, p.begun, p.answer, p.hooked = w.Params.Turn.ID, false, "", nil
	case "turn/completed":
		return p.ended(&w.Params)
	case "item/started":
		return p.started(&w.Params.Item)
	case "item/completed":
		return p.completed(&w.Params.Item)
	case "thread/tokenUsage/updated":
		return p.used(&w.Params)
	case "model/rerouted":
		p.model = w.Params.ToModel
		return []event.Event{p.session()}
	case "error":
		if w.Params.Retries {
			kind, message, after := w.Params.Error.means()
			q := p.quotaOf(&w.Params.Error, kind, message)
			return []event.Event{&event.Retry{Kind: kind, Message: message, RetryAfterMS: after, NextMS: w.Params.Error.next(), Quota: q}}
		}
	case "hook/completed":
		p.hooks(w.Params.Run.ID, w.Params.Run.Status)
	case "configWarning", "warning", "deprecationNotice", "account/updated", "serverRequest/resolved":
	default:
		if known(w.Method) {
			return nil
		}
		if p.brief {
			return []event.Event{&event.Raw{}}
		}
		return []event.Event{&event.Raw{Line: bytes.Clone(line)}}
	}
	return nil
}

// beforeTool is how the id of a run of the hook before a tool begins. It ends with
// the id of the tool.
const beforeTool = "pre-tool-use:"

// hooks notes the end of a run of the hook. Only "completed" passes the tool.
func (p *parser) hooks(run, status string) {
	at := strings.LastIndexByte(run, ':')
	if !strings.HasPrefix(run, beforeTool) || status != "completed" {
		return
	}
	if p.hooked == nil {
		p.hooked = map[string]bool{}
	}
	p.hooked[run[at+1:]] = true
}

// passed reports whether the hook has passed a tool, once: a second request about
// the same tool is about more than the hook has seen.
func (p *parser) passed(tool string) bool {
	passed := tool != "" && p.hooked[tool]
	delete(p.hooked, tool)
	return passed
}

// known reports whether a notice is unsolicited, or repeats another message.
func known(method string) bool {
	for _, other := range unwanted() {
		if method == other {
			return true
		}
	}
	return strings.HasPrefix(method, "item/") || strings.HasPrefix(method, "turn/") ||
		strings.HasPrefix(method, "thread/") || strings.HasPrefix(method, "mcpServer/")
}

// answered returns the events of a response to a request of swarm.
func (p *parser) answered(w *heard, line []byte) []event.Event {
	switch {
	case len(w.ID) == 0:
		if p.brief {
			return []event.Event{&event.Raw{}}
		}
		return []event.Event{&event.Raw{Line: bytes.Clone(line)}}
	case w.Error.Message != "":
		if string(w.ID) == "3" {
			return nil // a word that came too late
		}
		kind, message, after := w.Error.means()
		return []event.Event{&event.Erred{Kind: kind, Message: message, RetryAfterMS: after, Quota: p.quotaOf(&w.Error, kind, message)}}
	case string(w.ID) == "1" && w.Result.Thread.ID != "":
		p.thread, p.model = w.Result.Thread.ID, w.Result.Model
		return []event.Event{p.session()}
	}
	return nil
}

func (p *parser) session() event.Event {
	return &event.Session{ID: p.thread, Model: p.model, Can: []string{"steer", "schema", "resume"}}
}

// ended is the end of a turn.
func (p *parser) ended(w *params) []event.Event {
	if w.Turn.ID != p.turn {
		return nil
	}
	p.turn = ""
	if w.Turn.Status == "completed" {
		return []event.Event{&event.Answered{Text: p.answer}}
	}
	failed := failure{Message: "the turn ended as " + w.Turn.Status}
	if w.Turn.Error != nil {
		failed = *w.Turn.Error
	}
	kind, message, after := failed.means()
	return []event.Event{&event.Erred{Kind: kind, Message: message, RetryAfterMS: after, Quota: p.quotaOf(&failed, kind, message)}}
}

// models tells of a turn of the model, once.
func (p *parser) models(found []event.Event) []event.Event {
	if p.begun || p.turn == "" {
		return found
	}
	p.begun = true
	p.turns++
	return append(found, &event.Turn{N: p.turns})
}

// used reads the usage of a model's answer, and its end. A turn before the
// current turn belongs to a parent.
func (p *parser) used(w *params) []event.Event {
	if p.turn == "" || w.TurnID != p.turn {
		return nil
	}
	total := w.Usage.Total
	if !p.counted {
		p.counted, p.total = true, total.less(w.Usage.Last)
	}
	spent := total.less(p.total)
	p.total = total.atLeast(p.total)
	if spent == (tokens{}) {
		p.begun = false // some servers count nothing
		return nil
	}
	found := append(p.models(nil), &event.Spent{Usage: task.Usage{
		Input:     max(0, spent.Input-spent.CacheRead-spent.CacheWrite),
		CacheRead: spent.CacheRead, CacheWrite: spent.CacheWrite, Output: spent.Output,
	}})
	p.begun = false
	return found
}

func (t tokens) less(u tokens) tokens {
	return tokens{
		max(0, t.Input-u.Input), max(0, t.CacheRead-u.CacheRead), max(0, t.CacheWrite-u.CacheWrite), max(0, t.Output-u.Output),
	}
}

func (t tokens) atLeast(u tokens) tokens {
	return tokens{
		max(t.Input, u.Input), max(t.CacheRead, u.CacheRead), max(t.CacheWrite, u.CacheWrite), max(t.Output, u.Output),
	}
}
