package pi

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/event"
	"agentswarm/swarm/proc"
	"agentswarm/swarm/task"
)

// TestMain lets the test binary be the supervisor, and the hook that says no
// to rm.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "__supervise" {
		syscall.Exit(proc.Supervise(func(json.RawMessage) error { return nil }))
	}
	if len(os.Args) > 1 && os.Args[1] == "__hook" {
		syscall.Exit(hook())
	}
	os.Exit(m.Run())
}

// hook writes its input to the file that is its first argument, and refuses to
// remove anything.
func hook() int {
	if slices.Compare(os.Args[3:], []string{"--agent", "plain"}) != 0 {
		return 3
	}
	var what struct{ Command, Write, Tool, Cwd string }
	if err := json.NewDecoder(os.Stdin).Decode(&what); err != nil {
		return 4
	}
	log, err := os.OpenFile(os.Args[2], os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return 5
	}
	fmt.Fprintf(log, "%s|%s|%s|%s\n", what.Command, what.Write, what.Tool, what.Cwd)
	if log.Close() != nil {
		return 6
	}
	if strings.Contains(what.Command, "rm -rf") {
		fmt.Fprintln(os.Stderr, "swarm: removing is refused here")
		return 2
	}
	return 0
}

// trial is a run of the real CLI.
type trial struct {
	spec    agent.Spec
	request agent.Request
	model   *model
	models  string // contents of models.json, instead of the model
	auth    string // contents of auth.json; empty: there is none
	dir     string // the workspace
	opened  func(*agent.Line)
	refuse  func(*event.Answered) string

	state, stdout string
	events        []event.Event
	out           *agent.Outcome
}

// installed finds the CLI. SWARM_REAL asks for these tests to run.
func installed(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath(Kind().Program)
	switch {
	case os.Getenv("SWARM_REAL") == "":
		t.Skip("SWARM_REAL is not set")
	case err != nil:
		t.Fatalf("%v; install it with %s", err, Kind().Install)
	}
	return path
}

// try runs the CLI as the engine does.
func (r *trial) try(t *testing.T) {
	t.Helper()
	r.prepare(t)
	r.live(t, t.Context())
}

// prepare fills in missing fields, and makes the state.
func (r *trial) prepare(t *testing.T) {
	t.Helper()
	spec := Kind().Spec
	spec.Command = []string{installed(t)}
	spec.Model, spec.Effort, spec.Tools, spec.ReadOnly = r.spec.Model, r.spec.Effort, r.spec.Tools, r.spec.ReadOnly
	r.spec = spec
	if r.dir == "" {
		r.dir = t.TempDir()
		r.write(t, filepath.Join(r.dir, "hello.txt"), "hello world\nsecond\n")
	}
	if r.state == "" {
		r.state = t.TempDir()
	}
	home := t.TempDir()
	if r.models == "" {
		r.models = fmt.Sprintf(`{"providers": {"fake": {
			"baseUrl": %q, "api": "anthropic-messages", "apiKey": "$FAKE_KEY", // said by a variable
			"models": [{"id": "fake-model", "contextWindow": 200000, "maxTokens": 32000,
				"cost": {"input": 3, "output": 15, "cacheRead": 0.3, "cacheWrite": 3.75}}],
		}}}`, r.model.URL)
	}
	r.write(t, filepath.Join(home, ".pi/agent/models.json"), r.models)
	r.write(t, filepath.Join(home, ".pi/agent/AGENTS.md"), "Instructions of the user.\n")
	if r.auth != "" {
		r.write(t, filepath.Join(home, ".pi/agent/auth.json"), r.auth)
	}
	r.request.Spec, r.request.State = &r.spec, r.state
	r.request.Login = login(agent.Surroundings{
		Home: home, Read: os.ReadFile,
		Getenv: func(name string) string { return map[string]string{"FAKE_KEY": "fake"}[name] },
	})
	if r.request.Prompt == "" {
		r.request.Prompt = "Change hello.txt"
	}
}

func (r *trial) write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// live starts it, and waits for its end.
func (r *trial) live(t *testing.T, ctx context.Context) {
	t.Helper()
	launch, err := Adapter{}.Launch(r.request)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range launch.Files {
		r.write(t, filepath.Join(r.state, f.Name), string(f.Data))
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	logs := t.TempDir()
	r.stdout = filepath.Join(logs, "stdout")
	life := agent.Life{
		Launcher: &proc.Launcher{Binary: self, Args: []string{"__supervise"}},
		Adapter:  Adapter{}, Spec: &r.spec, Request: r.request, Run: t.Name(), Dir: r.dir,
		Env: append([]string{
			"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "FAKE_KEY=fake", "PWD=" + r.dir, "TMPDIR=" + t.TempDir(),
		}, launch.Env...),
		Stdout: r.stdout, Stderr: filepath.Join(logs, "stderr"),
		Opened: r.opened, Refuse: r.refuse,
		Observe: func(e event.Event) { r.events = append(r.events, e) },
	}
	if r.out, err = life.Live(ctx); err != nil {
		t.Fatal(err)
	}
	if to := os.Getenv("SWARM_RECORD"); to != "" {
		r.record(t, filepath.Join(to, strings.ReplaceAll(t.Name(), "/", "_"), "in.jsonl"))
	}
	t.Cleanup(func() {
		if t.Failed() {
			said, _ := os.ReadFile(life.Stderr)
			t.Logf("stderr: %s", said)
			heard, _ := os.ReadFile(r.stdout)
			t.Logf("stdout: %.20000s", heard)
		}
	})
}

// record keeps the stream for the golden tests, without details of this
// machine.
func (r *trial) record(t *testing.T, to string) {
	t.Helper()
	text, err := os.ReadFile(r.stdout)
	if err != nil {
		t.Fatal(err)
	}
	program, err := filepath.EvalSymlinks(r.spec.Command[0])
	if err != nil {
		t.Fatal(err)
	}
	modules, _, _ := strings.Cut(program, "/node_modules/")
	pairs := []string{r.dir, "/workspace", r.state, "/state", modules, "/usr/lib", os.TempDir(), "/tmp"}
	if r.model != nil {
		pairs = append(pairs, r.model.URL, "http://model.test")
	}
	scrub := strings.NewReplacer(pairs...)
	r.write(t, to, scrub.Replace(string(text)))
}

// ended checks how it ended.
func (r *trial) ended(t *testing.T, kind task.ErrorKind, words string) {
	t.Helper()
	ok, got, reason := r.out.Judge(&r.spec, false)
	if ok != (kind == "") || got != kind || !strings.Contains(reason, words) {
		t.Errorf("it ended with %t, %q, %q; want %q and %q", ok, got, reason, kind, words)
	}
}

// kinds are the events by their kinds.
func (r *trial) kinds() string {
	var all []string
	for _, e := range r.events {
		all = append(all, event.Kind(e))
	}
	return strings.Join(all, " ")
}

// contents returns the contents of a file of the workspace.
func (r *trial) contents(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(r.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// edits reads, changes a line and says so.
func edits(a *asked) answer {
	switch a.Results {
	case 0:
		return answer{text: "I read it.", calls: []call{{"read", object{"path": "hello.txt"}}}}
	case 1:
		return answer{calls: []call{{"edit", object{
			"path": "hello.txt", "edits": []object{{"oldText": "hello world", "newText": "hello swarm"}},
		}}}}
	default:
		return answer{text: "I changed hello.txt."}
	}
}

func TestRealEdit(t *testing.T) {
	t.Parallel()
	r := trial{model: serve(t, edits), request: agent.Request{
		System: "Words of the system.", Session: "11111111-2222-4333-8444-555555555555",
	}}
	r.try(t)
	r.ended(t, "", "")
	if got := r.contents(t, "hello.txt"); got != "hello swarm\nsecond\n" {
		t.Errorf("hello.txt holds %q", got)
	}
	if r.out.Answer == nil || r.out.Answer.Text != "I changed hello.txt." || r.out.Exit.Code != 0 {
		t.Errorf("it answered %+v, exit %+v", r.out.Answer, r.out.Exit)
	}
	usage := r.out.Usage
	cost := 3 * (3*100 + 0.3*20 + 15*10) / 1e6
	if math.Abs(usage.CostUSD-cost) > 1e-9 {
		t.Errorf("it cost %g, want %g", usage.CostUSD, cost)
	}
	if usage.CostUSD = 0; usage != (task.Usage{Input: 300, CacheRead: 60, Output: 30}) {
		t.Errorf("it used %+v", usage)
	}
	want := "session turn usage text tool_start tool_end turn usage tool_start tool_end turn usage text result"
	if got := r.kinds(); got != want {
		t.Errorf("events\n%s, want\n%s", got, want)
	}
	s, ok := r.events[0].(*event.Session)
	if !ok || s.ID != r.request.Session || s.Model != "fake/fake-model" || !slices.Contains(s.Can, "steer") {
		t.Errorf("session %+v", r.events[0])
	}
	first := r.model.requests()[0]
	if !strings.Contains(first.Text, "Words of the system.") || !strings.Contains(first.Text, "Instructions of the user.") {
		t.Error("the model is not told what the user and the system say")
	}
	if got := first.tools(); got != "read bash edit write" {
		t.Errorf("its tools are %s", got)
	}
}
