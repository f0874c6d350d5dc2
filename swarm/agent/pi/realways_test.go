package pi

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/event"
)

func TestRealHook(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "log")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(t.TempDir(), "out.txt")
	r := trial{
		model: serve(t, func(a *asked) answer {
			switch a.Results {
			case 0:
				return answer{calls: []call{{"bash", object{"command": "rm -rf hello.txt"}}}}
			case 1:
				return answer{calls: []call{
					{"write", object{"path": "@new.txt", "content": "new"}},
					{"write", object{"path": "file://" + outside, "content": "new"}},
					{"read", object{"path": "hello.txt"}}, {"bash", object{"command": `case "$PATH" in *:/*/.pi/agent/bin) touch last;; esac`}},
				}}
			default:
				return answer{text: "Done."}
			}
		}),
		request: agent.Request{Hook: []string{self, "__hook", log}},
	}
	r.try(t)
	r.ended(t, "", "")
	if got := r.contents(t, "hello.txt"); got != "hello world\nsecond\n" {
		t.Errorf("hello.txt holds %q", got)
	}
	if got := r.contents(t, "new.txt"); got != "new" {
		t.Errorf("new.txt holds %q", got)
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"rm -rf hello.txt|||" + r.dir, "|" + filepath.Join(r.dir, "new.txt") + "||" + r.dir,
		"|" + outside + "||" + r.dir, "touch last;; esac|||" + r.dir,
	} {
		if !strings.Contains(string(text), want+"\n") {
			t.Errorf("the hook was not asked %q, but\n%s", want, text)
		}
	}
	if strings.Count(string(text), "\n") != 4 {
		t.Errorf("the hook was asked\n%s", text)
	}
	// The tools that the user's pi has fetched come last in PATH.
	r.contents(t, "last")
	if second := r.model.requests()[1].Text; !strings.Contains(second, "swarm: removing is refused here") {
		t.Error("the model is not told why")
	}
}

// TestRealNoHook refuses everything that changes something where the hook
// cannot be started.
func TestRealNoHook(t *testing.T) {
	t.Parallel()
	r := trial{model: serve(t, edits), request: agent.Request{Hook: []string{"/nowhere/swarm", "hook"}}}
	r.try(t)
	r.ended(t, "", "")
	if got := r.contents(t, "hello.txt"); got != "hello world\nsecond\n" {
		t.Errorf("hello.txt holds %q", got)
	}
}

func TestRealReadOnly(t *testing.T) {
	t.Parallel()
	r := trial{
		spec: agent.Spec{ReadOnly: true},
		model: serve(t, func(a *asked) answer {
			if a.Results > 0 {
				return answer{text: "I could not."}
			}
			return answer{calls: []call{
				{"write", object{"path": "new.txt", "content": "new"}},
				{"edit", object{"path": "hello.txt", "edits": []object{{"oldText": "hello", "newText": "bye"}}}},
				{"bash", object{"command": "touch new.txt"}},
			}}
		}),
	}
	r.try(t)
	r.ended(t, "", "")
	if got := r.model.requests()[0].tools(); got != "read grep find ls" {
		t.Errorf("its tools are %s", got)
	}
	if got := r.contents(t, "hello.txt"); got != "hello world\nsecond\n" {
		t.Errorf("hello.txt holds %q", got)
	}
	if _, err := os.Stat(filepath.Join(r.dir, "new.txt")); err == nil {
		t.Error("it wrote a file")
	}
	if got := strings.Count(r.kinds(), "tool_end"); got != 3 {
		t.Errorf("events %s", r.kinds())
	}
}

// TestRealFork continues a conversation in another folder.
func TestRealFork(t *testing.T) {
	t.Parallel()
	m := serve(t, edits)
	parent := trial{model: m, request: agent.Request{Session: "11111111-2222-4333-8444-555555555555", Prompt: "The first prompt"}}
	parent.try(t)
	parent.ended(t, "", "")
	child := trial{model: m, request: agent.Request{
		Session: "22222222-2222-4333-8444-555555555555", Parent: parent.request.Session, Prompt: "The second prompt",
	}}
	child.prepare(t)
	kept, err := filepath.Glob(filepath.Join(parent.state, Kind().Sessions[0]))
	if err != nil || len(kept) != 1 {
		t.Fatalf("sessions %q, %v", kept, err)
	}
	text, err := os.ReadFile(kept[0])
	if err != nil {
		t.Fatal(err)
	}
	child.write(t, filepath.Join(child.state, sessionDir, filepath.Base(kept[0])), string(text))
	child.live(t, t.Context())
	child.ended(t, "", "")
	last := m.requests()[len(m.requests())-1].Text
	if !strings.Contains(last, "The first prompt") || !strings.Contains(last, "The second prompt") {
		t.Error("the model is not shown the whole conversation")
	}
	if s, ok := child.events[0].(*event.Session); !ok || s.ID != child.request.Session {
		t.Errorf("session %+v", child.events[0])
	}
	// Only the fork's own usage counts.
	if child.out.Usage.Input != 300 || child.out.Usage.Output != 30 {
		t.Errorf("it used %+v", child.out.Usage)
	}
	if got := child.contents(t, "hello.txt"); got != "hello swarm\nsecond\n" {
		t.Errorf("hello.txt holds %q", got)
	}
}

// TestRealSteer says a word while a command runs, which ends once pi has it.
func TestRealSteer(t *testing.T) {
	t.Parallel()
	r := trial{model: serve(t, func(a *asked) answer {
		if a.N == 1 {
			return answer{calls: []call{{"bash", object{"command": "until [ -e go ]; do sleep 0.1; done"}}}}
		}
		return answer{text: "Done."}
	})}
	r.opened = func(l *agent.Line) {
		go func() {
			for len(r.model.requests()) == 0 || l.Steers() != nil {
				time.Sleep(50 * time.Millisecond) // nothing tells when
			}
			if err := l.Steer("/llama is a word"); err != nil {
				t.Error(err)
			}
			for !strings.Contains(r.heard(), `"id":"`+steerID+`"`) && t.Context().Err() == nil {
				time.Sleep(50 * time.Millisecond)
			}
			if err := os.WriteFile(filepath.Join(r.dir, "go"), nil, 0o600); err != nil {
				t.Error(err)
			}
		}()
	}
	r.try(t)
	r.ended(t, "", "")
	asked := r.model.requests()
	if len(asked) != 2 || !strings.Contains(asked[1].Text, "/llama is a word") {
		t.Errorf("%d requests; the model did not hear it", len(asked))
	}
}

// heard returns the output so far.
func (r *trial) heard() string {
	text, _ := os.ReadFile(r.stdout)
	return string(text)
}

// TestRealAgain asks for another answer in the same conversation.
func TestRealAgain(t *testing.T) {
	t.Parallel()
	r := trial{model: serve(t, func(a *asked) answer {
		if strings.Contains(a.Text, "not that") {
			return answer{text: "The second answer."}
		}
		return answer{text: "The first answer."}
	}), request: agent.Request{Prompt: "/llama " + strings.Repeat("long prompt ", 100_000)}}
	r.refuse = func(a *event.Answered) string {
		if a.Text == "The first answer." {
			return "not that"
		}
		return ""
	}
	r.try(t)
	r.ended(t, "", "")
	if r.out.Answer == nil || r.out.Answer.Text != "The second answer." || r.out.Answers != 2 {
		t.Errorf("it answered %+v, %d times", r.out.Answer, r.out.Answers)
	}
	if first := r.model.requests()[0].Text; len(first) < 1_200_000 || !strings.Contains(first, "/llama long prompt") {
		t.Errorf("the prompt is not said word for word: %d bytes", len(first))
	}
}

// TestRealSubscription uses a login that the agent cannot renew.
func TestRealSubscription(t *testing.T) {
	t.Parallel()
	m := serve(t, edits)
	r := trial{
		model: m, spec: agent.Spec{Model: "anthropic/claude-sonnet-4-5"},
		models: fmt.Sprintf(`{"providers": {"anthropic": {"baseUrl": %q}}}`, m.URL),
		auth: fmt.Sprintf(`{"anthropic": {"type": "oauth", "access": "sk-ant-oat01-x", "refresh": "renews", "expires": %d}}`,
			time.Now().Add(time.Hour).UnixMilli()),
	}
	r.try(t)
	r.ended(t, "", "")
	for _, a := range m.requests() {
		if a.Login != "Bearer sk-ant-oat01-x" {
			t.Errorf("it logs in by %q", a.Login)
		}
	}
	text, err := os.ReadFile(filepath.Join(r.state, "auth.json"))
	if err != nil || strings.Contains(string(text), "renews") {
		t.Errorf("it has %s, %v", text, err)
	}
}

// TestRealEffort makes a model think that can.
func TestRealEffort(t *testing.T) {
	t.Parallel()
	m := serve(t, edits)
	r := trial{
		model: m, spec: agent.Spec{Model: "fake/thinker", Effort: "high", Tools: []string{"read", "edit"}},
		models: fmt.Sprintf(`{"providers": {"fake": {"baseUrl": %q, "api": "anthropic-messages", "apiKey": "fake",
			"models": [{"id": "other"}, {"id": "thinker", "reasoning": true}]}}}`, m.URL),
	}
	r.try(t)
	r.ended(t, "", "")
	first := m.requests()[0]
	if !strings.Contains(first.Text, `"thinking":{"type":"enabled"`) || !strings.Contains(first.Text, `"model":"thinker"`) {
		t.Errorf("the request is %.300s …", first.Text)
	}
	if got := first.tools(); got != "read edit" {
		t.Errorf("its tools are %s", got)
	}
	// The cost is unknown.
	if r.out.Usage.CostUSD != 0 || r.out.Usage.Input != 300 {
		t.Errorf("it used %+v", r.out.Usage)
	}
}

// TestRealStopped ends it while a command runs in a session of its own.
func TestRealStopped(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	r := trial{model: serve(t, func(*asked) answer {
		return answer{calls: []call{{"bash", object{"command": "touch began; setsid sleep 299; touch over"}}}}
	})}
	r.prepare(t)
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(filepath.Join(r.dir, "began")); err == nil {
				stop(why)
			}
			time.Sleep(50 * time.Millisecond)
		}
	}()
	r.live(t, ctx)
	if r.out.Stopped != why || r.out.Answer != nil {
		t.Errorf("it ended with %+v", r.out)
	}
	if _, err := os.Stat(filepath.Join(r.dir, "over")); err == nil {
		t.Error("its command went on")
	}
}
