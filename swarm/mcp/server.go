package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// beat is the longest silence of a call that waits, where its client asked for
	// progress. Clients give up after 60 seconds, the strictest after 10.
	beat = 5 * time.Second
	// silentWait is how long a call waits where its client asked for no progress
	// and set no wait_s: such clients give up after 60 seconds.
	silentWait = 45 * time.Second
	// cancelWait is how long dispatch_cancel waits by default for the run to end.
	cancelWait = 30 * time.Second
	// linger is how long a run goes on after its client gave up the call.
	linger = 10 * time.Minute
	// pollEvery is how often the run of another process is looked at.
	pollEvery = time.Second
	// forever is a wait without a limit.
	forever time.Duration = -1
)

// Client is the other end of a session.
type Client struct {
	In  io.ReadCloser  // required
	Out io.WriteCloser // required
	// Version is the version of this program, for the client.
	Version string
}

// server is the session of a client.
type server struct {
	dispatcher Dispatcher
	ctx        context.Context // of all runs of the session

	mu     sync.Mutex // guards jobs and latest
	jobs   map[string]*job
	latest string // the run that was dispatched or waited for last; it exists
	work   sync.WaitGroup
}

// Serve speaks with a client until its input ends or ctx does. The runs at work
// then are stopped with [ErrClientLeft]; Serve waits for their end.
func Serve(ctx context.Context, d Dispatcher, c Client) error {
	// The runs end by the cause of the session, whatever ended ctx.
	runs, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	s := &server{dispatcher: d, ctx: runs, jobs: map[string]*job{}}
	in, out := newLines(c)
	err := s.server(c.Version).Run(ctx, &sdk.IOTransport{Reader: in, Writer: out})
	stop(ErrClientLeft)
	s.work.Wait()
	if errors.Is(err, io.EOF) || errors.Is(err, sdk.ErrConnectionClosed) {
		return nil
	}
	return err
}

// server offers the tools.
func (s *server) server(version string) *sdk.Server {
	srv := sdk.NewServer(&sdk.Implementation{Name: "swarm", Version: version}, &sdk.ServerOptions{Instructions: instructions})
	handlers := map[string]handler{
		nameDispatch: s.dispatch, nameWait: s.wait, nameStatus: s.status, nameCancel: s.cancel,
	}
	for _, tool := range tools() {
		srv.AddTool(tool, s.answer(handlers[tool.Name]))
	}
	return srv
}

// handler answers a call of a tool: with a state of a run, or an error for the
// model.
type handler func(context.Context, *sdk.CallToolRequest) (*Status, error)

// answer turns a handler into a handler of the SDK. A call that the client gave
// up gets no answer.
func (s *server) answer(h handler) sdk.ToolHandler {
	return func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		status, err := h(ctx, req)
		if ctx.Err() != nil && err != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: err.Error()}}}, nil
		}
		text, err := textOf(req.Params.Name, status)
		if err != nil {
			return nil, err
		}
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}, StructuredContent: status}, nil
	}
}

// textOf is a status as text: the bare value where a call waited for that, else
// JSON.
func textOf(tool string, status *Status) (string, error) {
	if status.returned() && (tool == nameDispatch || tool == nameWait) {
		return valueText(status.Value), nil
	}
	text, err := json.Marshal(status)
	return string(text), err
}

// valueText is the value of a script as text: a text as it is, undefined by that
// word, and all else as JSON.
func valueText(value json.RawMessage) string {
	if value == nil {
		return "undefined"
	}
	var plain *string
	if json.Unmarshal(value, &plain) == nil && plain != nil {
		return *plain
	}
	return string(value)
}

// outcome is the answer to a call that waited for the end of a run. A run that
// has no value is an error.
func outcome(status *Status) (*Status, error) {
	switch {
	case status.running(), status.returned():
		return status, nil
	case status.Error != "":
		return nil, fmt.Errorf("run %s: %s", status.Run, status.Error)
	default:
		return nil, fmt.Errorf("run %s %s: %s", status.Run, status.Status, status.Reason)
	}
}

func (s *server) dispatch(ctx context.Context, req *sdk.CallToolRequest) (*Status, error) {
	var in dispatchInput
	if err := read(req.Params.Arguments, &in); err != nil {
		return nil, err
	}
	r, err := in.request()
	if err != nil {
		return nil, err
	}
	limit, err := waitOf(in.Wait, patience(req))
	if err != nil {
		return nil, err
	}
	j := s.start("", func(ctx context.Context, report func(Progress)) (*Status, error) {
		return s.dispatcher.Dispatch(ctx, r, report)
	})
	return s.await(ctx, req, j, limit)
}

// patience is how long a call without wait_s waits.
func patience(req *sdk.CallToolRequest) time.Duration {
	if req.Params.GetProgressToken() == nil {
		return silentWait
	}
	return forever
}

// start begins a job. Its run is known by the given id, or by the id that it
// reports. It becomes the latest once it reports or ends: then it exists.
func (s *server) start(id string, run func(context.Context, func(Progress)) (*Status, error)) *job {
	ctx, cancel := context.WithCancelCause(s.ctx)
	j := newJob(cancel)
	if id != "" {
		s.jobs[id] = j // the caller holds the lock
	}
	s.work.Go(func() {
		defer cancel(nil)
		exists := false
		result, err := run(ctx, func(p Progress) {
			if !exists && p.Run != "" {
				exists, id = true, p.Run
				s.mu.Lock()
				s.jobs[id], s.latest = j, id
				s.mu.Unlock()
			}
			j.report(p)
		})
		s.mu.Lock()
		if !exists && err == nil {
			s.latest = result.Run
		}
		delete(s.jobs, id) // its end is in the journal
		s.mu.Unlock()
		j.settle(result, err)
	})
	return j
}

// await waits for a job, at most for a time, and tells the client of its
// progress meanwhile. A job that is waited for no longer goes on.
func (s *server) await(ctx context.Context, req *sdk.CallToolRequest, j *job, limit time.Duration) (*Status, error) {
	j.join()
	defer func() { j.leave(ctx.Err() != nil) }()
	tell := teller(ctx, req)
	ticks := time.NewTicker(beat)
	defer ticks.Stop()
	enough, stop := after(limit)
	defer stop()
	late := false
	for {
		at, changed := j.now()
		tell(at)
		if late && at.Run != "" && !j.ended() {
			return &Status{Run: at.Run, Status: "running", Ended: at.Ended, Agents: at.Made}, nil
		}
		select {
		case <-j.over:
			if j.err != nil {
				return nil, j.err
			}
			return outcome(j.result)
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-enough:
			late = true // the answer needs the id of the run, too
		case <-changed:
		case <-ticks.C:
		}
	}
}
