package model

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"sync/atomic"
	"syscall"
	"time"

	"agentswarm/swarm/fault"
	"agentswarm/swarm/provider"
	"agentswarm/swarm/task"
)

const (
	// silence is how long a provider may send nothing before the connection
	// counts as dropped. A local model may read a long prompt for minutes.
	silence = 10 * time.Minute
	// maxErrorBody is how much of an error is read.
	maxErrorBody = 64 << 10
	// maxReply is how many bytes a reply may take as it is sent: many times what
	// the longest takes, and what a machine has room for.
	maxReply = 256 << 20
)

// errSilent is the cause of a request that was given up.
var errSilent = errors.New("the provider sent nothing for a long time")

// exchange watches over one request: it keeps what an error said, which each
// SDK would tell in its own way, and ends it when nothing comes.
type exchange struct {
	refused atomic.Pointer[answered]
	timer   *time.Timer
	patient time.Duration
}

// begin returns the context of a request, and what ends its watch.
func (x *exchange) begin(ctx context.Context) (context.Context, func()) {
	if x.patient == 0 {
		x.patient = silence
	}
	ctx, cancel := context.WithCancelCause(ctx)
	x.timer = time.AfterFunc(x.patient, func() { cancel(errSilent) })
	return ctx, func() { x.timer.Stop(); cancel(nil) }
}

// middleware is that of both SDKs.
func (x *exchange) middleware(r *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	resp, err := next(r)
	if err != nil {
		return resp, err
	}
	if resp.StatusCode >= 300 || !streams(resp.Header) {
		body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody)) // part of a message is better than none
		_ = resp.Body.Close()
		resp.Body = io.NopCloser(bytes.NewReader(body))
		x.refused.Store(&answered{status: resp.StatusCode, header: resp.Header, body: string(body)})
		return resp, nil
	}
	resp.Body = &heard{ReadCloser: resp.Body, exchange: x, left: maxReply}
	return resp, nil
}

// client follows no redirect: what is asked holds a key, and what a person is
// working at, for the host that was named and no other. Its connections are its
// own: others would close them.
func client() *http.Client {
	return &http.Client{
		Transport:     http.DefaultTransport.(*http.Transport).Clone(),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// streams reports whether an answer may be a stream. Some servers do not say
// what theirs is; a page, or one object, is none.
func streams(h http.Header) bool {
	kind, _, _ := mime.ParseMediaType(h.Get("Content-Type"))
	return kind != "text/html" && kind != "application/json"
}

// heard puts the end of patience off with all that comes, up to the most that
// may.
type heard struct {
	io.ReadCloser
	exchange *exchange
	left     int
}

func (h *heard) Read(p []byte) (int, error) {
	n, err := h.ReadCloser.Read(p)
	if n > 0 {
		h.exchange.timer.Reset(h.exchange.patient)
	}
	if h.left -= n; h.left < 0 {
		return 0, &Error{Kind: task.Other, Text: fmt.Sprintf("the reply of the provider has no end: it is over %d MiB", maxReply>>20)}
	}
	return n, err
}

// wrong is what a request that was not answered failed with.
func (x *exchange) wrong(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	if refused := x.refused.Load(); refused != nil {
		return refused.classify()
	}
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
	if e := down(err); e != nil {
		return e
	}
	return &Error{Kind: task.Overloaded, Wait: true, Text: fmt.Sprintf("the connection was dropped: %v", err)}
}

// down is the error of a connection that this machine itself refused: nothing
// listens there, which no provider does for having too much to do. It is nil for
// any other.
func down(err error) *Error {
	var asked *url.Error
	if !errors.Is(err, syscall.ECONNREFUSED) || !errors.As(err, &asked) {
		return nil
	}
	at, err := url.Parse(asked.URL)
	if err != nil || !provider.Loopback(at.Hostname()) {
		return nil
	}
	return &Error{Kind: task.Invalid, Wait: true, Down: true, Text: fault.Down(at.Scheme + "://" + at.Host)}
}

// errCutShort is a stream that ended before its end.
var errCutShort = errors.New("the stream ended in the middle")
