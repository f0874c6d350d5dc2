// Package mcp owns the face that other harnesses look at: a server of the Model
// Context Protocol with one tool that runs a workflow script, and two that look
// after a long one.
//
// What enters the context of the model that calls it is the value of the
// script and nothing else: no agent's text, no log, no table. It runs nothing
// itself, which its [Dispatcher] does.
package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Dispatcher runs scripts.
type Dispatcher interface {
	// Dispatch runs a script to its end. It calls report, from one goroutine,
	// with the run's id as soon as there is one, and as agents end. The error
	// says why there is no value.
	Dispatch(ctx context.Context, r Request, report func(Progress)) (json.RawMessage, error)
	// Status is where a run is, with its value once it has ended.
	Status(ctx context.Context, run string) (*Status, error)
	// Cancel ends a run; what its agents did is kept.
	Cancel(ctx context.Context, run string) error
}

// Request is a script and what it is given.
type Request struct {
	Code string
	Args json.RawMessage // absent: nothing
}

// Progress is how far a run is.
type Progress struct {
	Run         string
	Ended, Made int // agents
}

// Status is where a run is.
type Status struct {
	Run    string          `json:"run"`
	Status string          `json:"status"`
	Ended  int             `json:"ended"` // agents
	Agents int             `json:"agents"`
	Value  json.RawMessage `json:"value,omitempty"`
	Error  string          `json:"error,omitempty"`
}

// dispatchInput is what the dispatch tool is given.
type dispatchInput struct {
	Code string `json:"code" jsonschema:"the workflow script: an async JavaScript body that may call agent(), parallel(), race(), sa.run() and returns a small JSON value"`
	Args any    `json:"args,omitempty" jsonschema:"what the script sees as args; any JSON value"`
	Wait *int   `json:"wait_s,omitempty" jsonschema:"how many seconds to wait for the value, at most 3600; where the script takes longer the answer is the id of the run, for dispatch_status; without it the answer is the value, however long that takes"`
}

// runInput names a run.
type runInput struct {
	Run  string `json:"run" jsonschema:"the id of the run, as dispatch gave it"`
	Wait int    `json:"wait_s,omitempty" jsonschema:"how many seconds to wait for its end, at most 3600"`
}

// maxWait is how many seconds a call may ask to wait.
const maxWait = 3600

// checkWait refuses what is no time to wait. A number that is too large would
// make no time at all.
func checkWait(seconds int) error {
	if seconds < 0 || seconds > maxWait {
		return fmt.Errorf("wait_s: %d: want 0 to %d seconds", seconds, maxWait)
	}
	return nil
}

// server is one client's session.
type server struct {
	dispatcher Dispatcher
	ctx        context.Context // of all runs of the session

	mu   sync.Mutex // guards runs
	runs map[string]*running
	work sync.WaitGroup
}

// running is a script at work, or one that has ended in this session.
type running struct {
	over   chan struct{} // closed once value and err are there
	cancel context.CancelFunc
	value  json.RawMessage
	err    error
}

// ended reports whether the script has ended: what came of it is there.
func (r *running) ended() bool {
	select {
	case <-r.over:
		return true
	default:
		return false
	}
}

// Client is who a server speaks with.
type Client struct {
	In  io.ReadCloser  // required
	Out io.WriteCloser // required
	// Version is that of this program, which the client is told.
	Version string
}

// Serve speaks with one client until its input ends or ctx does. The
// runs that are at work then are stopped and kept, for a resume.
func Serve(ctx context.Context, d Dispatcher, c Client) error {
	ctx, cancel := context.WithCancel(ctx)
	s := &server{dispatcher: d, ctx: ctx, runs: map[string]*running{}}
	err := s.server(c.Version).Run(ctx, &sdk.IOTransport{Reader: c.In, Writer: c.Out})
	cancel()
	s.work.Wait()
	if errors.Is(err, io.EOF) || errors.Is(err, sdk.ErrConnectionClosed) {
		return nil
	}
	return err
}

func (s *server) server(version string) *sdk.Server {
	srv := sdk.NewServer(&sdk.Implementation{Name: "swarm", Version: version}, &sdk.ServerOptions{
		Instructions: "dispatch runs a JavaScript program that starts many coding agents on this repository, " +
			"each in its own worktree, and returns only the program's value.",
	})
	sdk.AddTool(srv, &sdk.Tool{
		Name: "dispatch",
		Description: "Run a workflow script that orchestrates coding agents, and get its return value. " +
			"The script is plain JavaScript with top-level await: agent(prompt, options), parallel(thunks), " +
			"pipeline(items, ...stages), race(thunks), sa.run/join/cancel, check(name), merge(patches), args. " +
			"Return a small JSON value: nothing else of what the agents say comes back.",
	}, s.dispatch)
	sdk.AddTool(srv, &sdk.Tool{
		Name:        "dispatch_status",
		Description: "Where a dispatched run is, and its value once it has ended.",
	}, s.status)
	sdk.AddTool(srv, &sdk.Tool{
		Name:        "dispatch_cancel",
		Description: "Stop a dispatched run. What its agents did so far is kept.",
	}, s.cancel)
	return srv
}

func (s *server) dispatch(ctx context.Context, req *sdk.CallToolRequest, in dispatchInput) (*sdk.CallToolResult, any, error) {
	r := Request{Code: in.Code}
	if in.Args != nil {
		var err error
		if r.Args, err = json.Marshal(in.Args); err != nil {
			return nil, nil, fmt.Errorf("args: %w", err)
		}
	}
	if in.Wait != nil {
		if err := checkWait(*in.Wait); err != nil {
			return nil, nil, err
		}
	}
	began := make(chan string, 1)
	var told atomic.Bool
	notify := s.progressOf(req)
	run := s.start(r, began, func(p Progress) {
		if !told.Load() {
			notify(p)
		}
	})
	var enough <-chan time.Time
	if in.Wait != nil {
		t := time.NewTimer(time.Duration(*in.Wait) * time.Second)
		defer t.Stop()
		enough = t.C
	}
	select {
	case <-run.over:
		return valueOf(run)
	case <-ctx.Done(): // the client asks for it no longer
		run.cancel()
		<-run.over
		return nil, nil, context.Cause(ctx)
	case <-enough:
	}
	told.Store(true) // with the answer, its token ends
	return s.soFar(run, began)
}

// soFar is what there is of a script that is waited for no longer: its value where
// it has ended by now.
func (s *server) soFar(run *running, began <-chan string) (*sdk.CallToolResult, any, error) {
	select {
	case id := <-began:
		if !run.ended() {
			return s.told(&Status{Run: id, Status: "running"})
		}
	case <-run.over:
	}
	return valueOf(run)
}

// start runs a script. began is told its id once.
func (s *server) start(r Request, began chan<- string, notify func(Progress)) *running {
	ctx, cancel := context.WithCancel(s.ctx)
	run := &running{over: make(chan struct{}), cancel: cancel}
	s.work.Go(func() {
		defer cancel()
		defer close(run.over)
		known := false
		run.value, run.err = s.dispatcher.Dispatch(ctx, r, func(p Progress) {
			if !known && p.Run != "" {
				known = true
				s.mu.Lock()
				s.runs[p.Run] = &running{over: run.over, cancel: cancel} // without the value, which may be large
				s.mu.Unlock()
				began <- p.Run
			}
			notify(p)
		})
	})
	return run
}

// progressOf tells the client how far a run is, if it asked for that.
func (s *server) progressOf(req *sdk.CallToolRequest) func(Progress) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return func(Progress) {}
	}
	return func(p Progress) {
		// A client that is gone hears nothing; the run goes on until it is told.
		_ = req.Session.NotifyProgress(s.ctx, &sdk.ProgressNotificationParams{
			ProgressToken: token, Progress: float64(p.Ended), Total: float64(p.Made),
			Message: fmt.Sprintf("run %s: %d of %d agents have ended", p.Run, p.Ended, p.Made),
		})
	}
}

// valueOf is the value of a script as the text of a tool's result.
func valueOf(run *running) (*sdk.CallToolResult, any, error) {
	if run.err != nil {
		return nil, nil, run.err
	}
	text := "null"
	if run.value != nil {
		text = string(run.value)
	}
	var plain string
	if json.Unmarshal(run.value, &plain) == nil && run.value != nil {
		text = plain
	}
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}, nil, nil
}

// told is a status as the text of a tool's result.
func (s *server) told(status *Status) (*sdk.CallToolResult, any, error) {
	text, err := json.Marshal(status)
	if err != nil {
		return nil, nil, err
	}
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: string(text)}}}, nil, nil
}

func (s *server) status(ctx context.Context, _ *sdk.CallToolRequest, in runInput) (*sdk.CallToolResult, any, error) {
	if err := checkWait(in.Wait); err != nil {
		return nil, nil, err
	}
	s.mu.Lock()
	run := s.runs[in.Run]
	s.mu.Unlock()
	if run != nil && in.Wait > 0 {
		t := time.NewTimer(time.Duration(in.Wait) * time.Second)
		defer t.Stop()
		select {
		case <-run.over:
		case <-t.C:
		case <-ctx.Done():
			return nil, nil, context.Cause(ctx)
		}
	}
	status, err := s.dispatcher.Status(ctx, in.Run)
	if err != nil {
		return nil, nil, err
	}
	return s.told(status)
}

func (s *server) cancel(ctx context.Context, _ *sdk.CallToolRequest, in runInput) (*sdk.CallToolResult, any, error) {
	s.mu.Lock()
	run := s.runs[in.Run]
	s.mu.Unlock()
	if run != nil {
		run.cancel()
		<-run.over
	} else if err := s.dispatcher.Cancel(ctx, in.Run); err != nil {
		return nil, nil, err
	}
	status, err := s.dispatcher.Status(ctx, in.Run)
	if err != nil {
		return nil, nil, err
	}
	return s.told(status)
}
