package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const run001 = "run001"

// fake is a dispatcher of a single run. The code of a script tells it how to
// behave.
type fake struct {
	mu       sync.Mutex // guards all below
	status   Status
	stop     context.CancelCauseFunc
	attended int
	deaf     bool // Cancel is taken, and ends nothing
}

func newFake() *fake { return &fake{status: Status{Run: run001, Status: "running"}} }

func (f *fake) Dispatch(ctx context.Context, r Request, report func(Progress)) (*Status, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	f.mu.Lock()
	f.stop = cancel
	f.mu.Unlock()
	report(Progress{Run: run001})
	report(Progress{Run: run001, Made: 2})
	report(Progress{Run: run001, Made: 2, Ended: 1})
	switch verb, rest, _ := strings.Cut(r.Code, " "); verb {
	case "refuse":
		return nil, errors.New("(code):1:1: no script")
	case "throw":
		return f.end(Status{Status: "failed", Error: "(code):2:7: no good"})
	case "take": // some time, then return 7
		d, err := time.ParseDuration(rest)
		if err != nil {
			return nil, err
		}
		return f.at(ctx, d)
	case "args":
		return f.end(Status{Status: "completed", Value: r.Args})
	case "nothing":
		return f.end(Status{Status: "completed"})
	default:
		return f.end(Status{Status: "degraded", Value: json.RawMessage(r.Code)})
	}
}

// at returns 7 after a time, unless ctx ends before.
func (f *fake) at(ctx context.Context, d time.Duration) (*Status, error) {
	select {
	case <-ctx.Done():
		return f.end(Status{Status: "stopped", Reason: context.Cause(ctx).Error()})
	case <-time.After(d):
		return f.end(Status{Status: "completed", Value: json.RawMessage("7")})
	}
}

func (f *fake) end(s Status) (*Status, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s.Run, s.Agents, s.Ended = run001, 2, 2
	f.status = s
	return &s, nil
}

func (f *fake) Attend(ctx context.Context, run string, report func(Progress)) (*Status, error) {
	s, err := f.Status(ctx, run)
	if err != nil || s.Reason != ErrClientLeft.Error() {
		return s, err
	}
	f.mu.Lock()
	f.attended++
	f.status = Status{Run: run001, Status: "running"}
	f.mu.Unlock()
	report(Progress{Run: run001, Made: 2, Ended: 1})
	return f.at(ctx, time.Second)
}

func (f *fake) Status(_ context.Context, run string) (*Status, error) {
	if !strings.HasPrefix(run001, run) {
		return nil, errors.New("there is no run " + run)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.status
	return &s, nil
}

func (f *fake) Cancel(context.Context, string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.deaf {
		f.stop(ErrCancelled)
	}
	return nil
}

// session is a client of the SDK that speaks with a server over a pipe. The
// function closes both ends, and returns once the server has ended.
func session(t *testing.T, f *fake, told func(*sdk.ProgressNotificationParams)) (*sdk.ClientSession, func()) {
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
	return s, sync.OnceFunc(func() {
		if err := s.Close(); err != nil {
			t.Errorf("the session ends with %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("Serve = %v", err)
		}
	})
}

func params(tool string, args map[string]any) *sdk.CallToolParams {
	return &sdk.CallToolParams{Name: tool, Arguments: args}
}

func call(t *testing.T, s *sdk.ClientSession, tool string, args map[string]any) *sdk.CallToolResult {
	t.Helper()
	r, err := s.CallTool(t.Context(), params(tool, args))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// textIn is the only text of a result.
func textIn(t *testing.T, r *sdk.CallToolResult) string {
	t.Helper()
	if len(r.Content) != 1 {
		t.Fatalf("a result has %d parts, want one", len(r.Content))
	}
	return r.Content[0].(*sdk.TextContent).Text
}

// stateIn is the structured content of a result, and its members.
func stateIn(t *testing.T, r *sdk.CallToolResult) (s Status, members map[string]json.RawMessage) {
	t.Helper()
	text, err := json.Marshal(r.StructuredContent)
	if err = errors.Join(err, json.Unmarshal(text, &s), json.Unmarshal(text, &members)); err != nil {
		t.Fatal(err)
	}
	return s, members
}

func TestValue(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, code string
		args       any
		text       string // of the content
		value      string // of the structured content; empty: absent
		failed     bool
	}{
		{name: "text", code: `"plain"`, text: "plain", value: `"plain"`},
		{name: "a text that says null", code: `"null"`, text: "null", value: `"null"`},
		{name: "object", code: `{"a":[1,2]}`, text: `{"a":[1,2]}`, value: `{"a":[1,2]}`},
		{name: "number", code: `7`, text: `7`, value: `7`},
		{name: "null", code: `null`, text: "null", value: "null"},
		{name: "undefined", code: `nothing`, text: "undefined"},
		{name: "args", code: "args", args: map[string]any{"n": 1.0}, text: `{"n":1}`, value: `{"n":1}`},
		{name: "args as the text of an object", code: "args", args: ` {"n":1}`, text: `{"n":1}`, value: `{"n":1}`},
		{name: "args as the text of a list", code: "args", args: `[1]`, text: `[1]`, value: `[1]`},
		{name: "args that are a list", code: "args", args: []any{1.0}, text: `[1]`, value: `[1]`},
		{name: "args that are a text", code: "args", args: "{no", text: "{no", value: `"{no"`},
		{name: "args that are a number in a text", code: "args", args: "7", text: "7", value: `"7"`},
		{name: "no args", code: "args", text: "undefined"},
		{name: "a fence", code: "```js\n7\n```", text: "\n7", failed: false, value: "7"},
		{name: "thrown", code: "throw", text: "run run001: (code):2:7: no good", failed: true},
		{name: "refused", code: "refuse", text: "(code):1:1: no script", failed: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, end := session(t, newFake(), nil)
			defer end()
			in := map[string]any{"code": tt.code}
			if tt.args != nil {
				in["args"] = tt.args
			}
			r := call(t, s, nameDispatch, in)
			if got := textIn(t, r); strings.TrimSpace(got) != strings.TrimSpace(tt.text) || r.IsError != tt.failed {
				t.Errorf("dispatch(%s) = %q, error %v, want %q, %v", tt.code, got, r.IsError, tt.text, tt.failed)
			}
			if tt.failed {
				if r.StructuredContent != nil {
					t.Errorf("an error has the structured content %v", r.StructuredContent)
				}
				return
			}
			_, members := stateIn(t, r)
			if got := string(members["value"]); got != tt.value {
				t.Errorf("the value of dispatch(%s) is %s, want %s", tt.code, got, tt.value)
			}
		})
	}
}

// TestProgressGrows waits 75 seconds for a script, as a client that gives up
// after a silence of 10 seconds.
func TestProgressGrows(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{nameDispatch, nameWait} {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				var told []*sdk.ProgressNotificationParams
				last, silence := time.Now(), time.Duration(0)
				s, end := session(t, newFake(), func(p *sdk.ProgressNotificationParams) {
					mu.Lock()
					defer mu.Unlock()
					told = append(told, p)
					silence, last = max(silence, time.Since(last)), time.Now()
				})
				defer end()
				p := params(nameDispatch, map[string]any{"code": "take 75s"})
				if tool == nameWait {
					call(t, s, nameDispatch, map[string]any{"code": "take 75s", "wait_s": 0})
					p = params(nameWait, nil)
				}
				p.SetProgressToken("token")
				r, err := s.CallTool(t.Context(), p)
				if err != nil || textIn(t, r) != "7" {
					t.Fatalf("%s = %v, %v, want 7", tool, r, err)
				}
				synctest.Wait()
				mu.Lock()
				defer mu.Unlock()
				if silence = max(silence, time.Since(last)); silence > 10*time.Second {
					t.Errorf("the longest silence was %s", silence)
				}
				for i, p := range told {
					if i > 0 && p.Progress <= told[i-1].Progress {
						t.Errorf("progress %d is %v after %v", i, p.Progress, told[i-1].Progress)
					}
				}
				if n := len(told); n < 8 || !strings.HasPrefix(told[n-1].Message, "run run001: 1 of 2 agents have ended") {
					t.Errorf("%d notifications, the last of them %v", n, told[max(0, n-1)])
				}
			})
		})
	}
}

// TestSilentClient: a client that asks for no progress gives up after 60 seconds,
// so it has an answer before that.
func TestSilentClient(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, end := session(t, newFake(), nil)
		defer end()
		began := time.Now()
		r := call(t, s, nameDispatch, map[string]any{"code": "take 75s"})
		if got := stateOf(t, r); got.Status != "running" || got.Run != run001 || got.Agents != 2 || time.Since(began) >= time.Minute {
			t.Errorf("after %s dispatch answers %+v", time.Since(began), got)
		}
		r = call(t, s, nameWait, nil)
		if got := textIn(t, r); got != "7" || time.Since(began) != 75*time.Second {
			t.Errorf("after %s dispatch_wait answers %q", time.Since(began), got)
		}
	})
}

func stateOf(t *testing.T, r *sdk.CallToolResult) Status {
	t.Helper()
	s, _ := stateIn(t, r)
	return s
}

// TestGivenUp: a call that the client gave up leaves its run at work for a time.
func TestGivenUp(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		comeBack time.Duration
		attended int
	}{
		{"within the time", linger - time.Second, 0},
		{"after the time", linger + time.Second, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFake()
				s, end := session(t, f, nil)
				defer end()
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				p := params(nameDispatch, map[string]any{"code": "take 2h"})
				p.SetProgressToken("token")
				if _, err := s.CallTool(ctx, p); !errors.Is(err, context.DeadlineExceeded) {
					t.Fatalf("the call ends with %v", err)
				}
				<-time.After(tt.comeBack)
				synctest.Wait()
				status := stateOf(t, call(t, s, nameStatus, nil))
				if stopped := status.Reason == ErrClientLeft.Error(); stopped != (tt.attended > 0) {
					t.Errorf("after %s the run is %+v", tt.comeBack, status)
				}
				r := call(t, s, nameWait, map[string]any{"wait_s": 3600})
				if want := map[bool]string{true: "7", false: "running"}[tt.attended > 0]; !strings.Contains(textIn(t, r), want) || f.attended != tt.attended {
					t.Errorf("dispatch_wait says %s after %d resumes", textIn(t, r), f.attended)
				}
				// A client that waits keeps the run beyond the time.
				if tt.attended == 0 {
					if got := textIn(t, call(t, s, nameWait, map[string]any{"wait_s": 3600})); got != "7" {
						t.Errorf("the second dispatch_wait says %s", got)
					}
				}
			})
		})
	}
}

// TestClientLeaves: the runs of a session stop with it, and the next session
// resumes them.
func TestClientLeaves(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		s, end := session(t, f, nil)
		call(t, s, nameDispatch, map[string]any{"code": "take 2h", "wait_s": 0})
		end()
		if f.status.Status != "stopped" || f.status.Reason != ErrClientLeft.Error() {
			t.Fatalf("the run is %+v", f.status)
		}
		s, end = session(t, f, nil)
		defer end()
		if got := textIn(t, call(t, s, nameWait, nil)); got != "7" || f.attended != 1 {
			t.Errorf("dispatch_wait of the next session says %q after %d resumes", got, f.attended)
		}
	})
}

// TestWaitByPrefix: the start of an id means the same job as the whole id. The call
// keeps a run that was given up, and is not answered from a job that has ended.
func TestWaitByPrefix(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		s, end := session(t, f, nil)
		defer end()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		p := params(nameDispatch, map[string]any{"code": "take 2h"})
		p.SetProgressToken("token")
		if _, err := s.CallTool(ctx, p); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("the call ends with %v", err)
		}
		part := map[string]any{"run": run001[:4], "wait_s": 3600}
		if got := textIn(t, call(t, s, nameWait, part)); !strings.Contains(got, "running") {
			t.Errorf("dispatch_wait says %s of a run that takes longer", got)
		}
		for range 2 {
			f.mu.Lock()
			f.status = Status{Run: run001, Status: "stopped", Reason: ErrClientLeft.Error()}
			f.stop(ErrClientLeft)
			f.mu.Unlock()
			synctest.Wait()
			if got := textIn(t, call(t, s, nameWait, part)); got != "7" {
				t.Errorf("dispatch_wait says %s", got)
			}
		}
		if f.attended != 2 {
			t.Errorf("the run was resumed %d times, want 2", f.attended)
		}
	})
}

func TestCancel(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		deaf   bool
		wait   any
		took   time.Duration
		status string
	}{
		{"ends", false, nil, 0, "stopped"},
		{"does not end", true, nil, cancelWait, "running"},
		{"does not end in 3 seconds", true, 3, 3 * time.Second, "running"},
		{"is not waited for", true, 0, 0, "running"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFake()
				f.deaf = tt.deaf
				s, end := session(t, f, nil)
				defer end()
				call(t, s, nameDispatch, map[string]any{"code": "take 2h", "wait_s": 0})
				in, began := map[string]any{"run": run001}, time.Now()
				if tt.wait != nil {
					in["wait_s"] = tt.wait
				}
				got := stateOf(t, call(t, s, nameCancel, in))
				if took := time.Since(began); got.Status != tt.status || took-tt.took > 2*pollEvery || took < tt.took {
					t.Errorf("dispatch_cancel says %+v after %s, want %s after %s", got, took, tt.status, tt.took)
				}
				if tt.deaf {
					return
				}
				if again := call(t, s, nameCancel, in); again.IsError || stateOf(t, again).Reason != ErrCancelled.Error() {
					t.Errorf("a second dispatch_cancel says %s", textIn(t, again))
				}
				if r := call(t, s, nameWait, map[string]any{"run": run001}); !r.IsError || textIn(t, r) != "run run001 stopped: by dispatch_cancel" || f.attended != 0 {
					t.Errorf("dispatch_wait of a cancelled run says %s", textIn(t, r))
				}
			})
		})
	}
}
