package model

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"agentswarm/swarm/fault"
	"agentswarm/swarm/limit"
	"agentswarm/swarm/provider"
	"agentswarm/swarm/task"
)

const (
	// silence is how long a provider may send nothing before the connection
	// counts as dropped. A local model may read a long prompt for minutes.
	silence = 10 * time.Minute
	// maxErrorBody is how many bytes of an error are read.
	maxErrorBody = 64 << 10
	// maxReply is how many bytes a reply may take on the wire. It is far above
	// the longest reply of any model, and fits into memory.
	maxReply = 256 << 20
	// userAgent is the name that providers see in their logs.
	userAgent = "agentswarm"
)

// errSilent is the cause of a request that was given up.
var errSilent = errors.New("the provider sent nothing for a long time")

// errCutShort is the error of a stream that ended before the reply did.
var errCutShort = errors.New("the stream ended in the middle")

// call is a request by an API.
type call struct {
	path   string // below the URL of the endpoint
	header map[string]string
	body   any // sent as JSON
}

// accumulator builds a reply from the events of a stream.
type accumulator interface {
	// add takes the next event. It reports whether the reply is over, so that
	// nothing that follows need be read.
	add(e sseEvent) (over bool, err error)
	// finish returns the reply, or errCutShort where its end is missing.
	finish() (*Reply, error)
}

// send sends a call and returns the reply that into makes of the answer. There
// are no retries here: see Patient. Its errors are *Error, or the cause of ctx.
func (e *Endpoint) send(ctx context.Context, c call, into accumulator) (*Reply, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	request, err := e.request(ctx, c)
	if err != nil {
		return nil, &Error{Kind: task.Invalid, Text: err.Error()}
	}
	timer := time.AfterFunc(silence, func() { cancel(errSilent) })
	defer timer.Stop()
	client := newClient()
	defer client.CloseIdleConnections()
	resp, err := client.Do(request)
	if err != nil {
		return nil, failure(ctx, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 300 {
		return nil, readAnswer(resp).classify()
	}
	if !streams(resp.Header) {
		// A server that gives its stream another type is understood as long as
		// the reply is short. All else is an error, or no answer of a model.
		a := readAnswer(resp)
		if reply, err := accumulate(strings.NewReader(a.body), into); err == nil {
			return reply.limited(resp.Header), nil
		}
		return nil, a.classify()
	}
	reply, err := accumulate(&replyBody{Reader: resp.Body, timer: timer, left: maxReply}, into)
	if err != nil {
		return nil, failure(ctx, err)
	}
	return reply.limited(resp.Header), nil
}

// limited notes the limits that the headers of an answer tell.
func (r *Reply) limited(h http.Header) *Reply {
	r.Left = limit.Remaining(h.Get, r.Usage.Tokens(), time.Now())
	r.Windows = quotaUse(h, time.Now())
	return r
}

// accumulate reads a stream of events up to the end of the reply.
func accumulate(r io.Reader, into accumulator) (*Reply, error) {
	events := newEventReader(r)
	for {
		e, err := events.next()
		if errors.Is(err, io.EOF) {
			return into.finish()
		}
		if err != nil {
			return nil, err
		}
		over, err := into.add(e)
		if err != nil {
			return nil, err
		}
		if over {
			return into.finish()
		}
	}
}

// request makes the HTTP request of a call. Its JSON has members in the order of
// the fields, and keys of maps in that of the alphabet: providers cache prefixes.
func (e *Endpoint) request(ctx context.Context, c call) (*http.Request, error) {
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(c.body); err != nil {
		return nil, fmt.Errorf("encode the request: %w", err)
	}
	at, err := e.locate(c.path)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, at.String(), bytes.NewReader(bytes.TrimSpace(body.Bytes())))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json") // as the SDKs of both providers ask, also for streams
	r.Header.Set("User-Agent", userAgent)
	for name, value := range c.header {
		r.Header.Set(name, value)
	}
	return r, nil
}

// locate returns the URL of a path below the endpoint. The endpoint's URL may
// end with a slash or not; its query is left out.
func (e *Endpoint) locate(path string) (*url.URL, error) {
	base, err := url.Parse(e.URL)
	if err != nil {
		return nil, fmt.Errorf("the endpoint %w", err)
	}
	if !strings.HasSuffix(base.Path, "/") {
		base.Path += "/"
		if base.RawPath != "" {
			base.RawPath += "/"
		}
	}
	return base.Parse(path)
}

// bearer returns the headers that hold the key for the APIs of OpenAI. Nothing
// else is read from the environment, such as OPENAI_ORG_ID.
func (e *Endpoint) bearer() map[string]string {
	if e.Key == "" {
		return nil
	}
	return map[string]string{"Authorization": "Bearer " + e.Key}
}

// newClient makes a client that follows no redirect: a request holds a key, and
// the work of a person, for the named host and for no other. It takes proxies
// from the environment. Its connections are its own: a call that closes idle
// connections of the default client does not reach them.
func newClient() *http.Client {
	return &http.Client{
		Transport:     http.DefaultTransport.(*http.Transport).Clone(),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// readAnswer reads an answer that is no stream.
func readAnswer(resp *http.Response) answered {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody)) // part of a message is better than none
	return answered{status: resp.StatusCode, header: resp.Header, body: string(body)}
}

// streams reports whether an answer may be a stream. Some servers do not send
// its type; a page, or a JSON object, is no stream.
func streams(h http.Header) bool {
	kind, _, _ := mime.ParseMediaType(h.Get("Content-Type"))
	return kind != "text/html" && kind != "application/json"
}

// replyBody is the body of a reply. Each piece of it restarts the timer that
// watches for silence.
type replyBody struct {
	io.Reader
	timer *time.Timer
	left  int // bytes that may follow
}

func (b *replyBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if n > 0 {
		b.timer.Reset(silence)
	}
	if b.left -= n; b.left < 0 {
		return 0, &Error{Kind: task.Other, Text: fmt.Sprintf("the reply of the provider has no end: it is over %d MiB", maxReply>>20)}
	}
	return n, err
}

// decode reads the JSON of an event. A member of another type than that of its
// field is left out and the others are read: many servers speak these APIs, and
// few are those that they were made for.
func decode(data []byte, v any) error {
	err := json.Unmarshal(data, v)
	var odd *json.UnmarshalTypeError
	if err != nil && !errors.As(err, &odd) {
		return fmt.Errorf("read the stream: %w", err)
	}
	return nil
}

// mustMarshal returns the JSON of a value that always marshals: strings alone.
func mustMarshal(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("model: strings do not marshal: %v", err))
	}
	return text
}

// given reports whether a member is there and says something.
func given(raw json.RawMessage) bool {
	return len(raw) > 0 && string(raw) != "null" && string(raw) != `""`
}

// count is a number of tokens. Servers write it as a whole number, as a
// fraction such as 12.0, or as a string.
type count int64

// UnmarshalJSON leaves a count as it was where a text is none.
func (c *count) UnmarshalJSON(text []byte) error {
	n, err := strconv.ParseFloat(strings.Trim(string(text), `"`), 64)
	if err == nil && n >= 0 && n < 1<<53 {
		*c = count(n)
	}
	return nil
}

// failure returns the error of a request that got no reply, or only a part.
func failure(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	switch {
	case cause != nil && !errors.Is(cause, errSilent):
		return cause
	case cause != nil:
		err = cause
	}
	var known *Error
	if errors.As(err, &known) {
		return known
	}
	if errors.Is(err, errLongEvent) {
		return &Error{Kind: task.Other, Text: err.Error()} // it would be as long again
	}
	if e := down(err); e != nil {
		return e
	}
	return &Error{Kind: task.Overloaded, Wait: true, Text: fmt.Sprintf("the connection was dropped: %v", err)}
}

// down returns the error of a connection that this machine itself refused:
// nothing listens there, which no provider does for having too much to do. It
// returns nil for any other error.
func down(err error) *Error {
	var asked *url.Error
	if !errors.Is(err, syscall.ECONNREFUSED) || !errors.As(err, &asked) {
		return nil
	}
	at, err := url.Parse(asked.URL)
	if err != nil || !provider.Loopback(at.Hostname()) {
		return nil
	}
	return &Error{Kind: task.Overloaded, Wait: true, Down: true, Text: fault.Down(at.Scheme + "://" + at.Host)}
}
