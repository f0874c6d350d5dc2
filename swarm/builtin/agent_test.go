package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentswarm/swarm/ask"
	"agentswarm/swarm/builtin/model"
	"agentswarm/swarm/task"
)

// TestWork is a whole task by each API: it looks, edits, runs, and answers.
func TestWork(t *testing.T) {
	t.Parallel()
	for _, api := range apis() {
		t.Run(string(api), func(t *testing.T) {
			t.Parallel()
			f := newFake(
				t,
				turn{text: "I look. ", input: 150, calls: []fakeCall{{"read", `{"path":"a.txt"}`}, {"ls", `{}`}}},
				turn{input: 50, calls: []fakeCall{{"edit", `{"path":"a.txt","old_text":"two","new_text":"TWO"}`}, {"bash", `{"command":"cat a.txt; echo $FAKE_KEY.; exit 3"}`}}},
				turn{text: "All done.", input: 250},
			)
			o := options(t, f.endpoint(api))
			o.Environ = append(o.Environ, "FAKE_KEY=secret")
			put(t, o.Root, "a.txt", "one\ntwo\nthree\n")
			k := start(t, t.Context(), o)
			if l := k.until("session"); l.Model != "fake/m" || l.ID == "" || strings.Join(l.Can, " ") != "steer resume schema" {
				t.Errorf("session = %+v", l)
			}
			k.prompt("upper-case two")
			if l := k.until("result"); l.Text != "All done." || l.Structured != nil {
				t.Errorf("result = %+v", l)
			}
			k.finish()
			if got := read(t, o.Root, "a.txt"); got != "one\nTWO\nthree\n" {
				t.Errorf("a.txt = %q", got)
			}
			ends := k.of("tool_end")
			if len(ends) != 4 || !ends[0].OK || !ends[1].OK || !ends[2].OK || ends[3].OK {
				t.Fatalf("tool_end = %+v", ends)
			}
			var out string
			if err := json.Unmarshal(ends[3].Output, &out); err != nil || out != "one\nTWO\nthree\n.\n[exit code 3]" {
				t.Errorf("bash printed %q", out)
			}
			input, cached := 0, 0
			for _, u := range k.of("usage") {
				var n int
				if err := json.Unmarshal(u.Input, &n); err != nil {
					t.Fatal(err)
				}
				input, cached = input+n, cached+u.CacheRead
			}
			if input != 250 || cached != 200 {
				t.Errorf("input %d, cached %d", input, cached)
			}
			if turns := k.of("turn"); len(turns) != 3 || turns[2].N != 3 {
				t.Errorf("turns = %+v", turns)
			}
			if texts := k.of("text"); len(texts) != 2 || texts[0].Text != "I look. " {
				t.Errorf("texts = %+v", texts)
			}
			sent := f.bodies()
			has(t, "the second request", sent[1], "three", "a.txt", "id0", "id1")
			has(t, "the third request", sent[2], "edited a.txt at line 2")
			if strings.Contains(strings.Join(sent, ""), "secret") {
				t.Error("the key is in a request")
			}
		})
	}
}

// TestErrors checks which errors are waited for, and how the rest is reported.
func TestErrors(t *testing.T) {
	t.Parallel()
	for _, api := range apis() {
		for _, test := range []struct {
			name  string
			give  turn
			kind  task.ErrorKind // empty: it is waited for
			retry task.ErrorKind
		}{
			{"limit", turn{status: 429, header: map[string]string{"Retry-After-Ms": "1"}, body: `{"error":{"message":"slow"}}`}, "", task.RateLimit},
			{"busy", turn{status: 529, header: map[string]string{"Retry-After-Ms": "1"}, body: `{"error":{"message":"busy"}}`}, "", task.Overloaded},
			{"dropped", turn{text: "a b c d e f", drop: true}, "", task.Overloaded},
			{"key", turn{status: 401, body: `{"error":{"message":"no"}}`}, task.Auth, ""},
			{"quota", turn{status: 429, body: `{"error":{"code":"insufficient_quota","message":"no"}}`}, task.Quota, ""},
			{"wrong", turn{status: 400, body: `{"error":{"message":"no such model"}}`}, task.Invalid, ""},
		} {
			t.Run(string(api)+" "+test.name, func(t *testing.T) {
				t.Parallel()
				f := newFake(t, test.give, turn{text: "done"})
				k := start(t, t.Context(), options(t, f.endpoint(api)))
				k.prompt("go")
				if test.kind == "" {
					k.until("result")
					k.finish()
					if r := k.of("retry"); len(r) != 1 || r[0].Kind != string(test.retry) || r[0].Message == "" || r[0].RetryAfterMS == 0 {
						t.Errorf("retry = %+v", r)
					}
					return
				}
				var failure *Failure
				if err := k.end(); !errors.As(err, &failure) || failure.Kind != test.kind {
					t.Errorf("Run = %v, want %s", err, test.kind)
				}
				if e := k.of("error"); len(e) != 1 || e[0].Kind != string(test.kind) || len(k.of("retry")) != 0 {
					t.Errorf("heard %+v", k.heard)
				}
			})
		}
	}
}

// TestPatience holds that waiting has an end, which says when to come back.
func TestPatience(t *testing.T) {
	t.Parallel()
	f := newFake(t, turn{status: 429, header: map[string]string{"Retry-After": "7"}, body: "{}"})
	o := options(t, f.endpoint(model.Chat))
	o.Patience = 1
	k := start(t, t.Context(), o)
	k.prompt("go")
	if e := k.until("error"); e.Kind != "rate_limit" || e.RetryAfterMS != 7000 {
		t.Errorf("error = %+v", e)
	}
}

// TestReadOnly checks that tools that change things are neither offered nor
// carried out.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	for _, api := range apis() {
		f := newFake(t, turn{calls: []fakeCall{
			{"bash", `{"command":"touch made"}`}, {"write", `{"path":"made","content":""}`}, {"edit", `{"path":"a","old_text":"a","new_text":"b"}`},
		}}, turn{text: "done"})
		o := options(t, f.endpoint(api))
		o.ReadOnly = true
		put(t, o.Root, "a", "a")
		k := start(t, t.Context(), o)
		k.prompt("go")
		k.until("result")
		k.finish()
		for _, e := range k.of("tool_end") {
			if e.OK {
				t.Errorf("%s: %+v", api, e)
			}
		}
		if _, err := os.Stat(filepath.Join(o.Root, "made")); err == nil || read(t, o.Root, "a") != "a" {
			t.Errorf("%s: something was changed", api)
		}
		if sent := f.bodies()[0]; strings.Contains(sent, `"bash"`) || strings.Contains(sent, `"edit"`) || !strings.Contains(sent, `"grep"`) {
			t.Errorf("%s: offered %s", api, sent)
		}
	}
}

// TestGate holds that nothing is changed or run which the gate refuses, and
// that the model is told why.
func TestGate(t *testing.T) {
	t.Parallel()
	f := newFake(t, turn{calls: []fakeCall{
		{"bash", `{"command":"touch made"}`}, {"write", `{"path":"d/made","content":""}`},
		{"edit", `{"path":"a","old_text":"a","new_text":"b"}`}, {"read", `{"path":"a"}`},
	}}, turn{text: "done"})
	o := options(t, f.endpoint(model.Chat))
	put(t, o.Root, "a", "a")
	var asked []ask.Action
	o.Gate = gateFunc(func(a ask.Action) error {
		asked = append(asked, a)
		return errors.New("not on a Friday")
	})
	k := start(t, t.Context(), o)
	k.prompt("go")
	k.until("result")
	k.finish()
	if len(asked) != 3 || asked[0].Command != "touch made" || asked[1].Write != filepath.Join(o.Root, "d/made") ||
		asked[2].Write != filepath.Join(o.Root, "a") || asked[0].Cwd != o.Dir {
		t.Errorf("asked %+v", asked)
	}
	entries, err := os.ReadDir(o.Root)
	if err != nil || len(entries) != 1 || read(t, o.Root, "a") != "a" {
		t.Errorf("left %v, %v", entries, err)
	}
	if n := strings.Count(f.bodies()[1], "refused: not on a Friday"); n != 3 {
		t.Errorf("the model was told %d times", n)
	}
}

// TestSteer checks that a message reaches the next request, also if it comes
// with the answer.
func TestSteer(t *testing.T) {
	t.Parallel()
	first, last := turn{calls: []fakeCall{{"ls", `{}`}}, hold: make(chan struct{}), asked: make(chan struct{})},
		turn{text: "early", hold: make(chan struct{}), asked: make(chan struct{})}
	f := newFake(t, first, last, turn{text: "late"})
	k := start(t, t.Context(), options(t, f.endpoint(model.Anthropic)))
	k.prompt("go")
	k.until("turn")
	<-first.asked
	k.say(obj{"type": "steer", "text": "turn left"})
	k.say(obj{"type": "other"}) // when the agent has read it, it has read the steer, too
	close(first.hold)
	k.until("turn")
	<-last.asked
	has(t, "the second request", f.bodies()[1], "turn left")
	k.say(obj{"type": "steer", "text": "turn right"})
	k.say(obj{"type": "other"})
	close(last.hold)
	if r := k.until("result"); r.Text != "late" {
		t.Errorf("result = %+v", r)
	}
	has(t, "the third request", f.bodies()[2], "early", "turn right")
	k.finish()
}

// TestFinish holds that it ends with the reply it waits for, and that tools
// are not used any more.
func TestFinish(t *testing.T) {
	t.Parallel()
	only := turn{text: "so far", calls: []fakeCall{{"write", `{"path":"made","content":""}`}}, hold: make(chan struct{}), asked: make(chan struct{})}
	f := newFake(t, only)
	o := options(t, f.endpoint(model.Responses))
	k := start(t, t.Context(), o)
	k.prompt("go")
	k.until("turn")
	<-only.asked
	k.say(obj{"type": "finish"})
	k.say(obj{"type": "other"})
	close(only.hold)
	if r := k.until("result"); r.Text != "so far" {
		t.Errorf("result = %+v", r)
	}
	if err := k.end(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(o.Root, "made")); err == nil {
		t.Error("it went on")
	}
}

// TestEndOfInput holds that without anybody it still answers.
func TestEndOfInput(t *testing.T) {
	t.Parallel()
	f := newFake(t, turn{calls: []fakeCall{{"ls", `{}`}}}, turn{text: "done"})
	k := start(t, t.Context(), options(t, f.endpoint(model.Chat)))
	k.prompt("go")
	if err := k.in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := k.end(); err != nil || len(k.of("result")) != 1 {
		t.Errorf("%v, %+v", err, k.heard)
	}
}

// TestSecondPrompt goes on in the same conversation.
func TestSecondPrompt(t *testing.T) {
	t.Parallel()
	f := newFake(t, turn{text: "first answer"}, turn{text: "second answer"})
	k := start(t, t.Context(), options(t, f.endpoint(model.Chat)))
	k.prompt("one")
	k.until("result")
	k.prompt("two")
	if r := k.until("result"); r.Text != "second answer" {
		t.Errorf("result = %+v", r)
	}
	k.finish()
	has(t, "the second request", f.bodies()[1], "one", "first answer", "two")
}

// TestTurns holds the limit, of which the model is told before.
func TestTurns(t *testing.T) {
	t.Parallel()
	again := turn{calls: []fakeCall{{"ls", `{}`}}}
	f := newFake(t, again, again, again)
	o := options(t, f.endpoint(model.Chat))
	o.MaxTurns = 2
	k := start(t, t.Context(), o)
	k.prompt("go")
	if e := k.until("error"); e.Kind != "budget" {
		t.Errorf("error = %+v", e)
	}
	if sent := f.bodies(); len(sent) != 2 || !strings.Contains(sent[1], "your last turn") || strings.Contains(sent[0], "your last turn") {
		t.Errorf("sent %q", sent)
	}
	f = newFake(t, turn{text: "done"})
	o = options(t, f.endpoint(model.Chat))
	o.MaxTurns = 1
	k = start(t, t.Context(), o)
	k.prompt("go")
	k.until("result")
	has(t, "the only request", f.bodies()[0], "your last turn")
	k.finish()
}

// TestOtherModel holds that who really answered is told.
func TestOtherModel(t *testing.T) {
	t.Parallel()
	f := newFake(t, turn{text: "done", model: "m-2026"})
	o := options(t, f.endpoint(model.Anthropic))
	o.Endpoint.Spec.Effort = "low" // which is no part of a model's name
	k := start(t, t.Context(), o)
	k.prompt("go")
	k.until("result")
	k.finish()
	if s := k.of("session"); len(s) != 2 || s[0].Model != "fake/m" || s[1].Model != "fake/m-2026" || s[1].ID != s[0].ID {
		t.Errorf("sessions = %+v", s)
	}
}

// TestCancel checks that the end of the context ends a request, and a tool with
// its processes.
func TestCancel(t *testing.T) {
	t.Parallel()
	stopped := errors.New("stopped")
	held := turn{asked: make(chan struct{}), hold: make(chan struct{})}
	ctx, cancel := context.WithCancelCause(t.Context())
	k := start(t, ctx, options(t, newFake(t, held).endpoint(model.Chat)))
	k.prompt("go")
	k.until("turn")
	<-held.asked
	cancel(stopped)
	if err := k.end(); !errors.Is(err, stopped) || len(k.of("error")) != 0 {
		t.Errorf("Run = %v, heard %+v", err, k.heard)
	}

	ctx, cancel = context.WithCancelCause(t.Context())
	f := newFake(t, turn{calls: []fakeCall{{"bash", `{"command":"setsid sleep 321 & mkfifo p; echo $! > pid; read x < p"}`}}})
	o := options(t, f.endpoint(model.Chat))
	k = start(t, ctx, o)
	k.prompt("go")
	k.until("tool_start")
	awaitFile(t, filepath.Join(o.Root, "pid"))
	cancel(stopped)
	if err := k.end(); !errors.Is(err, stopped) {
		t.Errorf("Run = %v", err)
	}
	awaitGone(t, strings.TrimSpace(read(t, o.Root, "pid")))
}

// TestCancelled holds that nothing is begun once the context has ended, though
// there is a prompt: a select would take either.
func TestCancelled(t *testing.T) {
	t.Parallel()
	stopped := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stopped)
	for range 30 {
		orders := make(chan order, 1)
		orders <- order{Type: "prompt", Text: "go"}
		for _, a := range []*agent{{orders: orders}, {prompts: []order{{Type: "prompt"}}}} {
			if o, ok, err := a.next(ctx); ok || !errors.Is(err, stopped) {
				t.Fatalf("next = %+v, %t, %v, want the end", o, ok, err)
			}
		}
	}
}
