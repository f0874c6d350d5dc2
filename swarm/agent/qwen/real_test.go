package qwen

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/event"
)

// What the model says: that a file is to be written, and that all is done.
const (
	realModel = "fake-model"
	realWrite = `{"id":"1","object":"chat.completion.chunk","created":1,"model":"fake-model","choices":[{"index":0,"delta":{"role":"assistant","tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"write_file","arguments":"{\"file_path\":\"FILE\",\"content\":\"new\\n\"}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}}`
	realDone  = `{"id":"2","object":"chat.completion.chunk","created":1,"model":"fake-model","choices":[{"index":0,"delta":{"role":"assistant","content":"All is done."},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}}`
	realEnd   = "data: [DONE]\n\n"
)

// login is how its user would have set it up.
func (*real) login() agent.Login {
	return agent.Login{Files: []agent.File{{Name: wayFile, Data: []byte("openai")}}}
}

func (r *real) env() []string {
	return []string{"OPENAI_API_KEY=fake", "OPENAI_BASE_URL=" + r.server.URL + "/v1"}
}

// real is the CLI itself, with a model that says what a test wants.
type real struct {
	t          *testing.T
	dir, state string
	program    string
	server     *httptest.Server
}

// newReal needs the CLI in PATH, which takes minutes to install: so a variable
// says whether it is expected here.
func newReal(t *testing.T) *real {
	t.Helper()
	t.Parallel()
	if os.Getenv("SWARM_REAL") == "" {
		t.Skip("SWARM_REAL is not set: agent CLIs are not expected here")
	}
	program, err := exec.LookPath(Kind().Program)
	if err != nil {
		t.Skip(err)
	}
	r := &real{t: t, dir: filepath.Join(t.TempDir(), "work"), state: filepath.Join(t.TempDir(), "state"), program: program}
	// It calls a tool at first, and is done once it has heard what came of that.
	var asked atomic.Bool
	r.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		turn := realDone
		if !asked.Swap(true) {
			turn = strings.ReplaceAll(realWrite, "FILE", r.file())
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: %s\n\n%s", turn, realEnd)
	}))
	t.Cleanup(r.server.Close)
	for _, dir := range []string{r.dir, r.state} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	git := exec.CommandContext(t.Context(), "git", "init", "-q", r.dir)
	if out, err := git.CombinedOutput(); err != nil {
		t.Fatalf("git init: %v: %s", err, out)
	}
	return r
}

// file is what the model wants written.
func (r *real) file() string { return filepath.Join(r.dir, "new.txt") }

// run runs an agent as its launch says, and returns what it said and how it
// ended.
func (r *real) run(change func(*agent.Request)) ([]event.Event, error) {
	r.t.Helper()
	prompt := filepath.Join(r.t.TempDir(), "prompt")
	if err := os.WriteFile(prompt, []byte("Write the file."), 0o600); err != nil {
		r.t.Fatal(err)
	}
	spec := Kind().Spec
	spec.Command, spec.Model = []string{r.program}, realModel
	request := agent.Request{
		Spec: &spec, Prompt: "Write the file.", PromptFile: prompt, State: r.state, Dir: r.dir, Walled: true, Login: r.login(),
		Session: "11111111-2222-4333-8444-555555555555",
	}
	change(&request)
	l, err := Adapter{}.Launch(request)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, f := range l.Files {
		name := filepath.Join(r.state, f.Name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			r.t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o600); err != nil {
			r.t.Fatal(err)
		}
	}
	stdin, err := os.Open(l.Stdin)
	if err != nil {
		r.t.Fatal(err)
	}
	defer stdin.Close()
	cmd := exec.CommandContext(r.t.Context(), l.Argv[0], l.Argv[1:]...)
	cmd.Dir, cmd.Stdin, cmd.WaitDelay = r.dir, stdin, time.Second
	home := "HOME=" + r.t.TempDir()
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "PWD=" + r.dir, home, "TMPDIR=" + r.t.TempDir()}, slices.Concat(l.Env, r.env())...)
	out, err := cmd.Output()
	p := Adapter{}.Parser(&spec)
	return append(p.Feed(out), p.End()...), err
}

// hook is a command that refuses, and says why.
func (r *real) hook() []string {
	return []string{"/bin/sh", "-c", "cat > /dev/null; echo 'not on my watch' >&2; exit 2"}
}

// TestReal has the CLI write a file, unless it must not.
func TestReal(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		change  func(*real, *agent.Request)
		written bool
		words   string // in the outcome of the tool
	}{
		{"behind walls", func(*real, *agent.Request) {}, true, ""},
		{"without walls", func(_ *real, a *agent.Request) { a.Walled = false }, true, ""},
		{"refused", func(r *real, a *agent.Request) { a.Hook = r.hook() }, false, "not on my watch"},
		{"refused without walls", func(r *real, a *agent.Request) { a.Hook, a.Walled = r.hook(), false }, false, "not on my watch"},
		{"read-only", func(_ *real, a *agent.Request) { a.Spec.ReadOnly = true }, false, "permission"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newReal(t)
			found, err := r.run(func(a *agent.Request) { test.change(r, a) })
			if err != nil {
				t.Fatalf("it ended with %v: %v", err, found)
			}
			text, _ := os.ReadFile(r.file())
			if (string(text) == "new\n") != test.written {
				t.Errorf("the file holds %q, and was to be written: %t", text, test.written)
			}
			answered := false
			for _, e := range found {
				switch e := e.(type) {
				case *event.Answered:
					answered = e.Text == "All is done."
				case *event.ToolEnd:
					if e.OK != test.written || !strings.Contains(string(e.Output), test.words) {
						t.Errorf("its tool ended %t with %s", e.OK, e.Output)
					}
				}
			}
			if !answered {
				t.Errorf("it did not answer: %v", found)
			}
		})
	}
}
