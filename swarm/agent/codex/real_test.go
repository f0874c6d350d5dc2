package codex

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentswarm/internal/testprogram"
	"agentswarm/swarm/agent"
	"agentswarm/swarm/event"
	"agentswarm/swarm/modeltest"
	"agentswarm/swarm/task"
)

// done is the answer that ends most tests.
func done() turn { return turn{Items: []object{text("All done.")}, In: 1200, Cached: 1100, Out: 5} }

func TestRealEdit(t *testing.T) {
	t.Parallel()
	a := real(t,
		turn{Items: []object{text("I will write."), shell("c1", "case $PATH in *swarm-first*) echo kept;; esac; env | grep -c FAKE_TEST_KEY; true"), shell("c2", "exit 3")}, In: 1000, Cached: 600, Out: 50},
		turn{Items: []object{patch("c3", "b.txt", "hello")}, In: 1100, Cached: 1000, Out: 20},
		done())
	a.request.System = "Say SYSTEM."
	a.request.Spec.Effort = "high"
	out := a.good()
	if got := a.file("b.txt"); got != "hello\n" {
		t.Errorf("b.txt = %q", got)
	}
	if out.Answer.Text != "All done." || out.Exit.Code != 0 {
		t.Errorf("answer %+v, exit %+v", out.Answer, out.Exit)
	}
	if want := (task.Usage{Input: 600, CacheRead: 2700, Output: 75}); out.Usage != want {
		t.Errorf("usage %+v, want %+v", out.Usage, want)
	}
	session := of[*event.Session](a.events)
	if len(session) != 1 || session[0].ID == "" || session[0].Model != "fake-model" {
		t.Errorf("session %+v", session)
	}
	if n := len(of[*event.Turn](a.events)); n != 3 {
		t.Errorf("%d turns", n)
	}
	ends := map[string]bool{}
	for _, end := range of[*event.ToolEnd](a.events) {
		ends[end.ID] = end.OK
	}
	if len(ends) != 3 || !ends["c1"] || ends["c2"] || !ends["c3"] {
		t.Errorf("tools ended as %v", ends)
	}
	requests := a.model.requests()
	first := requests[0]
	if !strings.Contains(string(first.Input), "Say SYSTEM.") || !strings.Contains(string(first.Input), `"do it\n"`) ||
		first.Reasoning.Effort != "high" || first.Authorization != "Bearer sk-fake" {
		t.Errorf("asked with effort %q, %q, and %s", first.Reasoning.Effort, first.Authorization, first.Input)
	}
	if strings.Contains(string(first.Input), a.request.State) {
		t.Errorf("the model is told the state folder, which differs between agents: %s", first.Input)
	}
	if told := string(requests[1].Input); !strings.Contains(told, `Output:\nkept\n0\n`) {
		t.Errorf("commands have another PATH, or see the key: %s", told)
	}
}

func TestRealErrors(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name     string
		turn     turn
		want     task.ErrorKind
		requests int
	}{
		{"401", turn{Status: 401, Body: `{"error":{"message":"Incorrect API key provided","code":"invalid_api_key"}}`}, task.Auth, 3},
		{"429", turn{Status: 429, Body: `{"error":{"message":"Rate limit reached","code":"rate_limit_exceeded"}}`}, task.RateLimit, 1},
		{"429 with a time", turn{Status: 429, Header: map[string]string{"Retry-After": "1"}, Body: `{"error":{"message":"Slow down"}}`}, task.RateLimit, 3},
		{"quota", turn{Status: 429, Body: `{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}`}, task.Quota, 1},
		{"500", turn{Status: 500, Body: `{"error":{"message":"boom"}}`}, task.Overloaded, 3},
		{"dropped", turn{Items: []object{text("par")}, Drop: true}, task.Overloaded, 3},
		{"model", turn{Status: 404, Body: `{"error":{"message":"The model does not exist","code":"model_not_found"}}`}, task.Invalid, 1},
		{"window", turn{Fail: object{"code": "context_length_exceeded", "message": "too long"}}, task.Invalid, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			a := real(t, test.turn)
			out := a.run(t.Context())
			if ok, kind, reason := out.Judge(a.spec, true); ok || kind != test.want || reason == "" {
				t.Errorf("judged %t, %s, %q; want %s", ok, kind, reason, test.want)
			}
			if n := len(a.model.requests()); n != test.requests {
				t.Errorf("%d requests, want %d", n, test.requests)
			}
			if n := len(of[*event.Retry](a.events)); n != test.requests-1 {
				t.Errorf("%d retries, want %d", n, test.requests-1)
			}
		})
	}
}

// TestRealRefused runs codex without a server at the model's address.
func TestRealRefused(t *testing.T) {
	t.Parallel()
	a := real(t, done())
	config := &a.request.Login.Files[0]
	config.Data = bytes.ReplaceAll(config.Data, []byte(a.model.URL), []byte(modeltest.Nobody(t)))
	out := a.run(t.Context())
	if ok, kind, reason := out.Judge(a.spec, true); ok || kind != task.Overloaded {
		t.Errorf("judged %t, %s, %q", ok, kind, reason)
	}
}

func TestRealHook(t *testing.T) {
	t.Parallel()
	a := real(t, turn{Items: []object{shell("c1", "rm -r a.txt"), shell("c2", "echo fine > f.txt"), patch("c3", "b.txt", "x")}}, done())
	script := filepath.Join(t.TempDir(), "it's a hook")
	testprogram.Write(t, script, "#!/bin/sh\nt=$(cat)\ncase $t in *'rm -r'*) echo \"no: $*\" >&2; exit 2;; *apply_patch*) exit 1;; esac\n")
	// The repository's own files are not trusted, though hooks are.
	if err := os.MkdirAll(filepath.Join(a.dir, ".codex"), 0o700); err != nil {
		t.Fatal(err)
	}
	evil := "model = \"evil\"\n[[hooks.PreToolUse]]\nmatcher = \".*\"\n[[hooks.PreToolUse.hooks]]\ntype = \"command\"\ncommand = \"touch evil.txt\"\n"
	if err := os.WriteFile(filepath.Join(a.dir, ".codex", "config.toml"), []byte(evil), 0o600); err != nil {
		t.Fatal(err)
	}
	a.request.Hook = []string{script, "$HOME 'x'"}
	a.good()
	if a.file("a.txt") != "a\n" || a.file("f.txt") != "fine\n" || a.file("evil.txt") != "none" {
		t.Errorf("a.txt = %q, f.txt = %q, evil.txt = %q", a.file("a.txt"), a.file("f.txt"), a.file("evil.txt"))
	}
	if a.file("b.txt") != "none" {
		t.Error("a hook that failed let the tool run")
	}
	told := string(a.model.requests()[1].Input)
	if !strings.Contains(told, `no: $HOME 'x' --agent codex`) {
		t.Errorf("the model is told %s", told)
	}
	if model := a.model.requests()[0].Model; model != "fake-model" {
		t.Errorf("model %q", model)
	}
}

func TestRealSchema(t *testing.T) {
	t.Parallel()
	schema := `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}`
	a := real(t, turn{Items: []object{text(`{"n":"one"}`)}}, turn{Items: []object{text(`{"n":1}`)}})
	a.request.Schema = json.RawMessage(schema)
	asked := 0
	a.refuse = func(e *event.Answered) string {
		if asked++; e.Text == `{"n":1}` {
			return ""
		}
		return "a number"
	}
	out := a.good()
	if out.Answer.Text != `{"n":1}` || asked != 2 || out.Answers != 2 {
		t.Errorf("answer %+v of %d, looked at %d", out.Answer, out.Answers, asked)
	}
	for i, r := range a.model.requests() {
		if !strings.Contains(string(r.Text), `"additionalProperties":false`) {
			t.Errorf("request %d is asked for %s", i, r.Text)
		}
	}
	if told := string(a.model.requests()[1].Input); !strings.Contains(told, "a number") || !strings.Contains(told, "do it") {
		t.Errorf("asked again with %s", told)
	}
}

// TestRealFork continues a conversation in another state and workspace.
func TestRealFork(t *testing.T) {
	t.Parallel()
	a := real(t, turn{Items: []object{text("I am the parent.")}, In: 1000, Out: 10})
	a.good()
	b := real(t, turn{Items: []object{shell("c1", "pwd > where.txt")}, In: 1000, Cached: 900, Out: 7}, done())
	b.request.Parent = of[*event.Session](a.events)[0].ID
	b.request.Prompt = "and now?"
	for _, glob := range Kind().Sessions {
		files, err := filepath.Glob(filepath.Join(a.request.State, glob))
		if err != nil || len(files) == 0 {
			t.Fatalf("sessions %v, %v", files, err)
		}
		for _, file := range files {
			name, _ := filepath.Rel(a.request.State, file)
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			b.request.Login.Files = append(b.request.Login.Files, agent.File{Name: name, Data: content})
		}
	}
	out := b.good()
	if want := (task.Usage{Input: 200, CacheRead: 2000, Output: 12}); out.Usage != want {
		t.Errorf("usage %+v, want %+v", out.Usage, want)
	}
	if where, _ := filepath.EvalSymlinks(b.dir); b.file("where.txt") != where+"\n" {
		t.Errorf("it works in %q, not in %q", b.file("where.txt"), where)
	}
	told := string(b.model.requests()[0].Input)
	if !strings.Contains(told, "I am the parent.") || !strings.Contains(told, "and now?") {
		t.Errorf("told %s", told)
	}
	if id := of[*event.Session](b.events)[0].ID; id == "" || id == b.request.Parent {
		t.Errorf("session %q", id)
	}
}

// TestRealReadOnly checks that codex's own sandbox keeps it from writing.
// Swarm's sandbox does so in its place, since codex's sandbox would not start
// there.
func TestRealReadOnly(t *testing.T) {
	t.Parallel()
	for _, walled := range []bool{false, true} {
		a := real(t, turn{Items: []object{shell("c1", "echo x > w.txt"), patch("c2", "b.txt", "x"), shell("c3", "cat a.txt")}}, done())
		a.spec.Tools, a.request.Walled = []string{"read", "grep"}, walled
		a.good()
		if wrote := a.file("w.txt") + a.file("b.txt"); (wrote == "nonenone") == walled {
			t.Errorf("walled %t: w.txt and b.txt are %q", walled, wrote)
		}
		if told := string(a.model.requests()[1].Input); !strings.Contains(told, `Output:\na\n`) {
			t.Errorf("walled %t: it could not read: %s", walled, told)
		}
	}
}

// TestRealWalled has no sandbox of its own: it may commit.
func TestRealWalled(t *testing.T) {
	t.Parallel()
	for _, walled := range []bool{false, true} {
		a := real(t, turn{Items: []object{shell("c1", "touch .git/x")}}, done())
		a.request.Walled = walled
		a.good()
		if got := a.file(".git/x"); (got == "") != walled {
			t.Errorf("walled %t: .git/x is %q", walled, got)
		}
	}
}

// TestRealScratch has its state among temporary files.
func TestRealScratch(t *testing.T) {
	t.Parallel()
	a := real(t, turn{Items: []object{shell("c1", "touch $TMPDIR/x && echo x > w.txt")}}, done())
	a.request.Tmp = filepath.Dir(a.request.State)
	a.good()
	if got := a.file("w.txt"); got != "x\n" {
		t.Errorf("w.txt = %q", got)
	}
}

// TestRealSteer says a word while a command runs, which ends once codex has it.
func TestRealSteer(t *testing.T) {
	t.Parallel()
	a := real(t, turn{Items: []object{shell("c1", "until [ -e go ]; do sleep 0.1; done")}, In: 10, Out: 1}, done())
	lines := make(chan *agent.Line, 1)
	a.opened = func(l *agent.Line) { lines <- l }
	steered := make(chan error, 1)
	go func() {
		line := <-lines
		<-a.model.seen
		steered <- line.Steer("STEERED")
		for !strings.Contains(a.heard(), fmt.Sprintf(`"id":%d,`, idSteer)) && t.Context().Err() == nil {
			time.Sleep(20 * time.Millisecond) // nothing says when it was heard
		}
		if err := os.WriteFile(filepath.Join(a.dir, "go"), nil, 0o600); err != nil {
			t.Error(err)
		}
	}()
	a.good()
	if err := <-steered; err != nil {
		t.Fatal(err)
	}
	requests := a.model.requests()
	if told := string(requests[len(requests)-1].Input); !strings.Contains(told, "STEERED") {
		t.Errorf("told %s", told)
	}
}

// TestRealKilled ends an agent whose command sleeps in a session of its own.
func TestRealKilled(t *testing.T) {
	t.Parallel()
	for _, walled := range []bool{false, true} {
		a := real(t, turn{Items: []object{shell("c1", "setsid sleep 300 & touch begun; sleep 300")}}, done())
		a.request.Walled = walled
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() {
			<-a.model.seen
			for a.file("begun") == "none" && ctx.Err() == nil {
				time.Sleep(20 * time.Millisecond) // nothing says when a file is made
			}
			cancel()
		}()
		out := a.run(ctx)
		if out.Stopped == nil || out.Answer != nil {
			t.Errorf("walled %t: %+v", walled, out)
		}
		if left := a.left(); len(left) > 0 {
			t.Errorf("walled %t: %v are left", walled, left)
		}
	}
}

func TestRealLogin(t *testing.T) {
	t.Parallel()
	a := real(t, done())
	config := fmt.Sprintf("model = \"gpt-5.5\"\nopenai_base_url = %q\n", a.model.URL+"/v1")
	a.request.Login = login(agent.Surroundings{
		Home: "/home/u",
		Getenv: func(name string) string {
			return map[string]string{"OPENAI_API_KEY": "sk-own"}[name]
		},
		Read: func(path string) ([]byte, error) {
			if path == "/home/u/.codex/config.toml" {
				return []byte(config), nil
			}
			return nil, os.ErrNotExist
		},
	})
	a.good()
	if got := a.model.requests()[0].Authorization; got != "Bearer sk-own" {
		t.Errorf("authorised by %q", got)
	}
}
