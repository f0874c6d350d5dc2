package modeltest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"
)

// Script holds the answers of a server. It depends on the content of a request
// and not on its sender, so that a hundred agents can share a server.
type Script struct {
	// Rules are tried in their order; the first that matches answers. A request
	// without a rule gets 400 and a description of itself.
	Rules []Rule `json:"rules"`

	// Limit is how many requests may be in work at a time; those beyond it get
	// 429. 0 is no limit.
	Limit int `json:"limit,omitempty"`
	// RetryAfter is the time that refused clients are told to wait; without it
	// a second.
	RetryAfter Duration `json:"retryAfter,omitempty"`
	// Left is how many requests a minute the server says that it still allows, in
	// the headers of OpenAI and Anthropic. Without it there are no such headers.
	Left int `json:"left,omitempty"`
	// Cache reports as cached the beginning that a prompt shares with an
	// earlier prompt.
	Cache bool `json:"cache,omitempty"`
	// Key is the credential of requests; a request without it gets 401.
	Key string `json:"key,omitempty"`
	// Models are listed where a client asks which there are.
	Models []string `json:"models,omitempty"`
	// Forget keeps no requests, only counts them.
	Forget bool `json:"forget,omitempty"`
}

// Rule is a turn and when it is the answer.
type Rule struct {
	When When `json:"when,omitzero"`
	Turn
}

// When describes the requests of a rule; an empty field matches anything. The
// patterns are regular expressions. The matches of their groups stand for {1},
// {2} … in the turn, numbered through over User, System and Result.
type When struct {
	// Results is how many results of tools the whole conversation holds.
	Results *int `json:"results,omitempty"`
	// Since is how many came after the last words of the user.
	Since *int `json:"since,omitempty"`
	// Tries is how often this very conversation was asked about before, as by a
	// client that tries again.
	Tries *int `json:"tries,omitempty"`
	// Serial is the how manieth this request is of all that came, from 1 on: for
	// clients that never ask about the same conversation twice in the same words.
	Serial *int `json:"serial,omitempty"`
	// User, System and Result match the last words of the user, the system
	// prompt, and the last result. Text that a client adds to the user's words
	// does not count.
	User   string `json:"user,omitempty"`
	System string `json:"system,omitempty"`
	Result string `json:"result,omitempty"`
	// Model is the model asked for, as it is written.
	Model string `json:"model,omitempty"`
}

// Turn is an answer of the model. It has thoughts, text and calls, in this
// order, or an answer in the form the request asks for, or a fault.
type Turn struct {
	Thinking string `json:"thinking,omitempty"`
	// Text comes in these pieces where it is streamed.
	Text  Pieces `json:"text,omitempty"`
	Calls []Call `json:"calls,omitempty"`
	// Answer is a JSON value. The server returns it by the client's tool for
	// answers (StructuredOutput, structured_output, answer), else as text.
	Answer json.RawMessage `json:"answer,omitempty"`

	// Usage is reported; without it, an estimate of four bytes a token.
	Usage *Usage `json:"usage,omitempty"`
	// Stop is the reason that the turn ends; without it the reason follows from
	// its calls.
	Stop Stop `json:"stop,omitempty"`
	// As is the reported model of the answer; without it, the requested model.
	As string `json:"as,omitempty"`

	// Delay is before the first byte, Gap before each piece that follows.
	Delay Duration `json:"delay,omitempty"`
	Gap   Duration `json:"gap,omitempty"`
	// Hold keeps the answer back until Server.Release.
	Hold bool `json:"hold,omitempty"`

	Error *Error `json:"error,omitempty"`
	// Drop cuts the connection.
	Drop Drop `json:"drop,omitempty"`
}

// Call is a call of a tool. Name in braces is a role: {shell}, {read}, {write},
// {edit}, {grep}, {find} or {ls}. For a role the server takes the client's
// tool, under its names (tools.go). Any other name is taken as it is, and so
// are its arguments.
type Call struct {
	Name string         `json:"name"`
	Args map[string]any `json:"args,omitempty"`
}

// Usage counts each token once: Input does not hold those of the cache.
type Usage struct {
	Input      int `json:"input,omitempty"`
	Output     int `json:"output,omitempty"`
	CacheRead  int `json:"cacheRead,omitempty"`
	CacheWrite int `json:"cacheWrite,omitempty"`
}

// Error is an HTTP error in the form of the dialect.
type Error struct {
	Status int `json:"status"`
	// RetryAfter is the header of that name, in whole seconds, rounded up.
	RetryAfter Duration `json:"retryAfter,omitempty"`
	// Quota has the words and codes of an account that is used up.
	Quota   bool   `json:"quota,omitempty"`
	Message string `json:"message,omitempty"`
	// Midway sends status 200 and the error inside of the stream, after the
	// first piece. An answer without a stream fails from the beginning.
	Midway bool `json:"midway,omitempty"`
}

// Stop is why a turn ends.
type Stop string

// The reasons. The zero value is StopCalls after calls and StopEnd otherwise.
const (
	StopEnd    Stop = "end"
	StopCalls  Stop = "calls"
	StopLength Stop = "length"
	StopRefuse Stop = "refuse"
)

// Drop is where a connection is cut.
type Drop string

// Before anything is sent, or after the first piece.
const (
	DropStart  Drop = "start"
	DropMiddle Drop = "middle"
)

// Pieces is a text in pieces; a single piece may be written as a string.
type Pieces []string

// UnmarshalJSON takes a string or a list of strings.
func (p *Pieces) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*p = Pieces{one}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(p))
}

// Duration is written as Go writes it: "250ms".
type Duration time.Duration

// UnmarshalText reads the text of MarshalText. It returns an error for an
// invalid or negative duration.
func (d *Duration) UnmarshalText(text []byte) error {
	is, err := time.ParseDuration(string(text))
	if err == nil && is < 0 {
		err = fmt.Errorf("duration %s is negative", is)
	}
	*d = Duration(is)
	return err
}

// MarshalText writes it as in "1m30s".
func (d Duration) MarshalText() ([]byte, error) {
	return []byte(time.Duration(d).String()), nil
}

// Parse reads a script from JSON. A key it does not know is an error.
func Parse(data []byte) (Script, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	var s Script
	if err := decoder.Decode(&s); err != nil {
		return Script{}, fmt.Errorf("read script: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return Script{}, errors.New("read script: something follows it")
	}
	if _, err := narrow(s); err != nil {
		return Script{}, err
	}
	return s, nil
}

// rule is a Rule with its patterns compiled.
type rule struct {
	Rule
	user, system, result *regexp.Regexp
}

func narrow(s Script) ([]rule, error) {
	if s.Limit < 0 {
		return nil, fmt.Errorf("script: limit %d is negative", s.Limit)
	}
	rules := make([]rule, len(s.Rules))
	for i, r := range s.Rules {
		is, err := narrowRule(r)
		if err != nil {
			return nil, fmt.Errorf("script: rule %d: %w", i, err)
		}
		rules[i] = is
	}
	return rules, nil
}

func narrowRule(r Rule) (rule, error) {
	is := rule{Rule: r}
	for _, pattern := range []struct {
		text string
		to   **regexp.Regexp
	}{{r.When.User, &is.user}, {r.When.System, &is.system}, {r.When.Result, &is.result}} {
		if pattern.text == "" {
			continue
		}
		// Prompts have lines: a dot goes over them.
		compiled, err := regexp.Compile("(?s)" + pattern.text)
		if err != nil {
			return rule{}, err
		}
		*pattern.to = compiled
	}
	return is, r.check()
}

func (t *Turn) check() error {
	switch t.Stop {
	case "", StopEnd, StopCalls, StopLength, StopRefuse:
	default:
		return fmt.Errorf("no such stop: %q", t.Stop)
	}
	switch t.Drop {
	case "", DropStart, DropMiddle:
	default:
		return fmt.Errorf("no such drop: %q", t.Drop)
	}
	if t.Error != nil && (t.Error.Status < 400 || t.Error.Status > 599) {
		return fmt.Errorf("%d is no status of an error", t.Error.Status)
	}
	if t.Error != nil && t.Drop != "" {
		return errors.New("a turn has either an error or a drop")
	}
	if t.Answer != nil && (len(t.Calls) > 0 || len(t.Text) > 0) {
		return errors.New("a turn has either an answer or text and calls")
	}
	for _, c := range t.Calls {
		role, ok := c.role()
		if c.Name == "" || ok && toolNames(role) == nil {
			return fmt.Errorf("no such tool: %q", c.Name)
		}
	}
	return nil
}

func (c *Call) role() (string, bool) {
	if strings.HasPrefix(c.Name, "{") && strings.HasSuffix(c.Name, "}") {
		return c.Name[1 : len(c.Name)-1], true
	}
	return "", false
}
