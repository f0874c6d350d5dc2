package model

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"agentswarm/swarm/task"
)

const (
	// silence is how long a provider may send nothing before the connection
	// counts as dropped. A local model may read a long prompt for minutes.
	silence = 10 * time.Minute
	// maxErrorBody is how much of an error is read.
	maxErrorBody = 64 << 10
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
	if resp.StatusCode >= 400 {
		body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody)) // part of a message is better than none
		_ = resp.Body.Close()
		resp.Body = io.NopCloser(bytes.NewReader(body))
		x.refused.Store(&answered{status: resp.StatusCode, header: resp.Header, body: string(body)})
		return resp, nil
	}
	resp.Body = &heard{ReadCloser: resp.Body, exchange: x}
	return resp, nil
}

// heard puts the end of patience off with all that comes.
type heard struct {
	io.ReadCloser
	exchange *exchange
}

func (h *heard) Read(p []byte) (int, error) {
	n, err := h.ReadCloser.Read(p)
	if n > 0 {
		h.exchange.timer.Reset(h.exchange.patient)
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
	return &Error{Kind: task.Overloaded, Wait: true, Text: fmt.Sprintf("the connection was dropped: %v", err)}
}

// errCutShort is a stream that ended before its end.
var errCutShort = errors.New("the stream ended in the middle")
