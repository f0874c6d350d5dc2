package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// fake is a dispatcher whose scripts do what their code says.
type fake struct {
	began chan string // gets the code of each script that is at work
	mu    sync.Mutex  // guards done
	done  map[string]json.RawMessage
}

func (f *fake) Dispatch(ctx context.Context, r Request, report func(Progress)) (json.RawMessage, error) {
	report(Progress{Run: "run001"})
	report(Progress{Run: "run001", Made: 2})
	report(Progress{Run: "run001", Made: 2, Ended: 1})
	f.began <- r.Code
	switch r.Code {
	case "throw":
		return nil, errors.New("run run001: Error: no good")
	case "wait":
		<-ctx.Done()
		return nil, context.Cause(ctx)
	case "args":
		return r.Args, nil
	}
	return json.RawMessage(r.Code), nil
}

func (f *fake) Status(_ context.Context, run string) (*Status, error) {
	if run != "run001" {
		return nil, errors.New("there is no run " + run)
	}
	return &Status{Run: run, Status: "stopped", Agents: 2, Ended: 1}, nil
}

func (f *fake) Cancel(context.Context, string) error { return nil }

// session is a client of the SDK that speaks with a server over a pipe.
func session(t *testing.T, f *fake, told func(*sdk.ProgressNotificationParams)) *sdk.ClientSession {
	t.Helper()
	near, far := net.Pipe()
	served := make(chan error, 1)
	go func() { served <- Serve(t.Context(), f, Client{In: far, Out: far, Version: "v1"}) }()
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "v1"}, &sdk.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			if told != nil {
				told(r.Params)
			}
		},
	})
	s, err := client.Connect(t.Context(), &sdk.IOTransport{Reader: near, Writer: near}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.Close()
		<-served
	})
	return s
}

func call(t *testing.T, s *sdk.ClientSession, tool string, args map[string]any) *sdk.CallToolResult {
	t.Helper()
	r, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// bytesOf is all that enters the context of the model that called a tool.
func bytesOf(t *testing.T, r *sdk.CallToolResult) string {
	t.Helper()
	if len(r.Content) != 1 || r.StructuredContent != nil {
		t.Fatalf("a result has %d parts and the structured content %v, want one part and none", len(r.Content), r.StructuredContent)
	}
	return r.Content[0].(*sdk.TextContent).Text
}

func TestOnlyTheValueComesBack(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, code, want string
		args             any
		failed           bool
	}{
		{name: "text", code: `"plain"`, want: "plain"},
		{name: "object", code: `{"a":[1,2]}`, want: `{"a":[1,2]}`},
		{name: "number", code: `7`, want: `7`},
		{name: "args", code: "args", args: map[string]any{"n": 1.0}, want: `{"n":1}`},
		{name: "no args", code: "args", want: "null"},
		{name: "thrown", code: "throw", want: "run run001: Error: no good", failed: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := session(t, &fake{began: make(chan string, 1)}, nil)
			in := map[string]any{"code": tt.code}
			if tt.args != nil {
				in["args"] = tt.args
			}
			r := call(t, s, "dispatch", in)
			if got := bytesOf(t, r); got != tt.want || r.IsError != tt.failed {
				t.Errorf("dispatch(%s) = %q, error %v, want %q, %v", tt.code, got, r.IsError, tt.want, tt.failed)
			}
		})
	}
}

func TestProgressIsToldToWhoAsks(t *testing.T) {
	t.Parallel()
	told := make(chan *sdk.ProgressNotificationParams, 8)
	s := session(t, &fake{began: make(chan string, 1)}, func(p *sdk.ProgressNotificationParams) { told <- p })
	params := &sdk.CallToolParams{Name: "dispatch", Arguments: map[string]any{"code": "1"}}
	params.SetProgressToken("token")
	if _, err := s.CallTool(t.Context(), params); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"0 of 0", "0 of 2", "1 of 2"} {
		if p := <-told; !strings.Contains(p.Message, "run run001: "+want) {
			t.Errorf("progress says %q, want %q", p.Message, want)
		}
	}
}

func TestLongRuns(t *testing.T) {
	t.Parallel()
	f := &fake{began: make(chan string, 1)}
	s := session(t, f, nil)
	r := call(t, s, "dispatch", map[string]any{"code": "wait", "wait_s": 0})
	if got, want := bytesOf(t, r), `{"run":"run001","status":"running","ended":0,"agents":0}`; got != want {
		t.Fatalf("a dispatch that is not waited for says %s, want %s", got, want)
	}
	r = call(t, s, "dispatch_cancel", map[string]any{"run": "run001"})
	if got := bytesOf(t, r); !strings.Contains(got, `"status":"stopped"`) {
		t.Errorf("dispatch_cancel says %s", got)
	}
	r = call(t, s, "dispatch_status", map[string]any{"run": "nosuch"})
	if got := bytesOf(t, r); !r.IsError || got != "there is no run nosuch" {
		t.Errorf("the status of no run is %q, error %v", got, r.IsError)
	}
}

// TestValueIsThere: a script that has ended when it is waited for no longer is told
// with its value, and never as one that runs.
func TestValueIsThere(t *testing.T) {
	t.Parallel()
	for range 50 {
		run := &running{over: make(chan struct{}), value: json.RawMessage("7")}
		close(run.over)
		began := make(chan string, 1)
		began <- "run001"
		r, _, err := (&server{}).soFar(run, began)
		if err != nil || bytesOf(t, r) != "7" {
			t.Fatalf("soFar = %v, %v, want the value", r, err)
		}
	}
}

func TestServeEndsItsRuns(t *testing.T) {
	t.Parallel()
	f := &fake{began: make(chan string, 1)}
	s := session(t, f, nil)
	call(t, s, "dispatch", map[string]any{"code": "wait", "wait_s": 0})
	<-f.began
	// The session's clean-up waits for Serve, which waits for the run.
}

func TestBadInput(t *testing.T) {
	t.Parallel()
	s := session(t, &fake{began: make(chan string, 1)}, nil)
	for _, in := range []map[string]any{
		{"code": "1", "wait_s": -1},
		{"code": 1},
		{},
		{"code": "1", "wiat_s": 1},
		{"code": "1", "wait_s": 3601},
		{"code": "1", "wait_s": int64(1e12)},
	} {
		r, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "dispatch", Arguments: in})
		if err == nil && !r.IsError {
			t.Errorf("dispatch(%v) was taken", in)
		}
	}
	for _, wait := range []int64{-1, 3601, 18446744074} { // the last is a moment, where it overflows
		if r := call(t, s, "dispatch_status", map[string]any{"run": "run001", "wait_s": wait}); !r.IsError {
			t.Errorf("dispatch_status was taken with wait_s %d", wait)
		}
	}
}
