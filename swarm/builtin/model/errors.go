package model

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"agentswarm/swarm/event"
	"agentswarm/swarm/fault"
	"agentswarm/swarm/task"
)

// Error is a request that was not answered.
type Error struct {
	Kind task.ErrorKind // required
	// Wait says that the same request may be answered later.
	Wait bool
	// Down says that no server is there. It may be about to start, but the wait
	// for it is shorter than for a busy server.
	Down bool
	// After is how long the provider wants it to be waited; 0: it does not
	// say.
	After time.Duration
	// Quota is the window of a quota that is used up; nil: none is known.
	Quota *event.Quota
	// TooLong says that the conversation does not fit.
	TooLong bool
	// Untaken is the member of the request that was not taken, of those that it
	// can do without; empty: none.
	Untaken string
	Text    string // required: the error, for a person
}

func (e *Error) Error() string { return e.Text }

// Members that a request can do without. Servers other than those of OpenAI and
// Anthropic may know none of them.
const (
	responseFormat      = "response_format"
	streamOptions       = "stream_options"
	maxCompletionTokens = "max_completion_tokens"
	reasoningContent    = "reasoning_content"
	thinkingDisplay     = "thinking.display"
)

// untakenWords are the names of each member in errors, in the order of the
// search.
func untakenWords() [][]string {
	return [][]string{
		{streamOptions, "stream_options"},
		{maxCompletionTokens, "max_completion_tokens"},
		{reasoningContent, "reasoning_content"},
		{thinkingDisplay, "thinking.enabled.display", "thinking.display"},
		{responseFormat, "response_format", "json_schema", "text.format", "grammar", "structured output", "guided"},
	}
}

// untaken is the member that an error is about; empty: none that is known.
func untaken(said string) string {
	for _, words := range untakenWords() {
		if fault.Mentions(said, words[1:]...) {
			return words[0]
		}
	}
	return ""
}

// answered is a provider's answer with a status of 400 or more, or an error in
// its stream.
type answered struct {
	status int // 0: in the stream
	header http.Header
	body   string
}

// classify turns an answer into an error of a kind.
func (a answered) classify() *Error {
	if e := a.elsewhere(); e != nil {
		return e
	}
	said, code := readError(a.body)
	e := &Error{Kind: task.Other, Text: said}
	if a.status != 0 {
		e.Text = strings.TrimSpace(fmt.Sprintf("%d %s", a.status, http.StatusText(a.status))) + ": " + said
	}
	words := code + " " + said
	e.Kind = fault.Kind(a.status, words)
	if e.Kind == task.Quota && (a.status == 0 || a.status == http.StatusTooManyRequests) {
		e.Kind = fault.Kind(a.status, code+" "+a.body) // for how long it is used up, some say behind their message
	}
	if e.Kind == task.Other && a.status == 0 {
		e.Kind = task.Overloaded // in a stream that had begun
	}
	e.Wait = e.Kind == task.RateLimit || e.Kind == task.Overloaded
	if e.Kind == task.Invalid {
		if e.TooLong = fault.TooLong(a.status, words); !e.TooLong {
			e.Untaken = untaken(words)
		}
	}
	if e.Wait || e.Kind == task.Quota {
		e.After = retryAfter(a.header, time.Now)
	}
	a.quota(e, time.Now())
	return e
}

// elsewhere is the error of an answer that comes from no model: a redirect,
// or something other than a stream that tells of no error. Waiting mends
// neither. It is nil for any other.
func (a answered) elsewhere() *Error {
	switch {
	case a.status >= 300 && a.status < 400:
		return &Error{Kind: task.Invalid, Text: fmt.Sprintf(
			"%d: the endpoint says that it is at %q; say that, if it is to be trusted: no key is sent to where it points", a.status, a.header.Get("Location"))}
	case a.status == 0 || a.status >= 400:
		return nil
	}
	var told struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal([]byte(a.body), &told) == nil && len(told.Error) > 0 && string(told.Error) != "null" {
		return answered{header: a.header, body: a.body}.classify()
	}
	return &Error{Kind: task.Invalid, Text: fmt.Sprintf("the endpoint answers with %s, which is not the stream of a model; check its address",
		a.header.Get("Content-Type"))}
}

// maxSaid is how much of a message is repeated.
const maxSaid = 500

// readError finds the message and the code in the body of an error.
func readError(body string) (said, code string) {
	var w struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
		Type    string          `json:"type"`
		Code    any             `json:"code"`
	}
	text := []byte(body)
	for range 2 { // the error itself, or an object that holds it
		if json.Unmarshal(text, &w) != nil || len(w.Error) == 0 || w.Error[0] != '{' {
			break
		}
		text, w.Error = w.Error, nil
	}
	var plain string
	switch {
	case w.Message != "":
		said = w.Message
	case json.Unmarshal(w.Error, &plain) == nil && plain != "":
		said = plain
	default:
		said = body
	}
	code = w.Type
	switch c := w.Code.(type) {
	case string:
		code = cmp.Or(c, code)
	case float64: // a status, which a stream has no other place for
		code = fmt.Sprintf("%.0f %s", c, code)
	}
	said = strings.Join(strings.Fields(strings.ToValidUTF8(said, "\uFFFD")), " ")
	if said == "" {
		said = "no reason was given"
	}
	if len(said) > maxSaid {
		cut := maxSaid
		for !utf8.RuneStart(said[cut]) {
			cut--
		}
		said = said[:cut] + "…"
	}
	return said, code
}

// retryAfter reads the headers that say when to come back: a number of
// seconds, or a date.
func retryAfter(h http.Header, now func() time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return bounded(ms / 1000)
	}
	text := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(text, 64); err == nil && s > 0 {
		return bounded(s)
	}
	if at, err := http.ParseTime(text); err == nil {
		return bounded(at.Sub(now()).Seconds())
	}
	return 0
}

// bounded is a number of seconds, which somebody else wrote, as a duration of
// at most a day.
func bounded(seconds float64) time.Duration {
	return time.Duration(math.Min(math.Max(seconds, 0), 24*60*60) * float64(time.Second))
}
