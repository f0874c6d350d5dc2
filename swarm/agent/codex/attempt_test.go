package codex

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/event"
	"agentswarm/swarm/proc"
)

// TestMain lets the test binary be the supervisor.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "__supervise" {
		syscall.Exit(proc.Supervise(func(json.RawMessage) error { return nil }))
	}
	os.Exit(m.Run())
}

// attempt is a run of the real CLI.
type attempt struct {
	t       *testing.T
	model   *model
	request agent.Request
	spec    *agent.Spec
	dir     string // the workspace
	env     []string

	events []event.Event
	stdout string
	stderr string
	opened func(*agent.Line)
	refuse func(*event.Answered) string
}

// real is an attempt at the real CLI, which is looked for in PATH; where it is
// not the test is skipped, unless SWARM_REAL says that it must not be.
func real(t *testing.T, turns ...turn) *attempt {
	t.Helper()
	program, err := exec.LookPath("codex")
	if err != nil {
		if os.Getenv("SWARM_REAL") != "" {
			t.Fatal("SWARM_REAL is set, and there is no codex in PATH")
		}
		t.Skip("no codex in PATH")
	}
	if program, err = filepath.Abs(program); err != nil {
		t.Fatal(err)
	}
	m := serve(t, turns...)
	spec := Kind().Spec
	spec.Command = []string{program}
	a := &attempt{t: t, model: m, spec: &spec, dir: workspace(t)}
	config := fmt.Sprintf("model = \"fake-model\"\nmodel_provider = \"fake\"\n[model_providers.fake]\nname = \"fake\"\n"+
		"base_url = %q\nenv_key = \"FAKE_TEST_KEY\"\nwire_api = \"responses\"\n", m.URL+"/v1")
	a.request = agent.Request{
		Spec: &spec, Prompt: "do it\n", State: t.TempDir(), Tmp: t.TempDir(),
		Login: agent.Login{Env: []string{"FAKE_TEST_KEY"}, Files: []agent.File{{Name: configFile, Data: []byte(config)}}},
	}
	return a
}

// workspace makes a repository with a single commit.
func workspace(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"init", "-q"},
		{"add", "."},
		// Since 2.47 a commit leaves a process behind that tidies up.
		{"-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "maintenance.auto=false", "commit", "-qm", "one"},
	} {
		if out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	return dir
}

// wired writes the files of a launch, as the engine does.
type wired struct {
	Adapter
	t *testing.T
}

func (w wired) Launch(r agent.Request) (agent.Launch, error) {
	l, err := w.Adapter.Launch(r)
	if err != nil {
		return l, err
	}
	for _, f := range l.Files {
		file := filepath.Join(r.State, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return l, err
		}
		if err := os.WriteFile(file, f.Data, 0o600); err != nil {
			return l, err
		}
	}
	return l, nil
}

// run lives the attempt.
func (a *attempt) run(ctx context.Context) *agent.Outcome {
	a.t.Helper()
	self, err := os.Executable()
	if err != nil {
		a.t.Fatal(err)
	}
	launch, err := Adapter{}.Launch(a.request)
	if err != nil {
		a.t.Fatal(err)
	}
	logs := a.t.TempDir()
	a.stdout, a.stderr = filepath.Join(logs, "stdout"), filepath.Join(logs, "stderr")
	home := a.t.TempDir()
	a.env = append([]string{
		"PATH=/swarm-first:" + os.Getenv("PATH"), "HOME=" + home, "FAKE_TEST_KEY=sk-fake", "SWARM_TEST_MARK=" + logs,
	}, launch.Env...)
	if !slices.ContainsFunc(a.env, func(v string) bool { return strings.HasPrefix(v, "TMPDIR=") }) {
		a.env = append(a.env, "TMPDIR="+a.request.Tmp)
	}
	l := &agent.Life{
		Launcher: &proc.Launcher{Binary: self, Args: []string{"__supervise"}},
		Adapter:  wired{t: a.t}, Spec: a.spec, Request: a.request,
		Run: a.t.Name(), Dir: a.dir, Env: a.env, Stdout: a.stdout, Stderr: a.stderr,
		Opened: a.opened, Refuse: a.refuse,
		Observe: func(e event.Event) { a.events = append(a.events, e) },
	}
	out, err := l.Live(ctx)
	if err != nil {
		a.t.Fatal(err)
	}
	if a.t.Failed() || testing.Verbose() {
		stderr, _ := os.ReadFile(a.stderr)
		a.t.Logf("outcome %+v, stderr %s", out, stderr)
	}
	if dir := os.Getenv("CODEX_RECORD"); dir != "" {
		record(a.t, a.stdout, dir)
	}
	return out
}

// good runs an attempt that must do well, and returns its answer.
func (a *attempt) good() *agent.Outcome {
	a.t.Helper()
	out := a.run(a.t.Context())
	if ok, kind, reason := out.Judge(a.spec, false); !ok {
		stderr, _ := os.ReadFile(a.stderr)
		a.t.Fatalf("%s: %s\n%s", kind, reason, stderr)
	}
	return out
}

// record keeps a stream for the golden tests, without the parts that differ
// each time.
func record(t *testing.T, stdout, dir string) {
	stream, err := os.ReadFile(stdout)
	if err != nil {
		t.Error(err)
	}
	for _, scrub := range []struct{ from, to string }{
		{`/tmp/TestReal[^/"]*/00\d`, "/tree"}, {`127\.0\.0\.1:\d+`, "127.0.0.1:8099"}, {`\([^()]*\) unknown`, "(Linux; x86_64) unknown"},
	} {
		stream = regexp.MustCompile(scrub.from).ReplaceAll(stream, []byte(scrub.to))
	}
	err = os.WriteFile(filepath.Join(dir, strings.ReplaceAll(t.Name(), "/", "_")+".jsonl"), stream, 0o600)
	if err != nil {
		t.Error(err)
	}
}

// of are the events of a type.
func of[E event.Event](events []event.Event) []E {
	var found []E
	for _, e := range events {
		if e, ok := e.(E); ok {
			found = append(found, e)
		}
	}
	return found
}

func (a *attempt) file(name string) string {
	content, err := os.ReadFile(filepath.Join(a.dir, name))
	if err != nil {
		return "none"
	}
	return string(content)
}

// heard returns the output so far.
func (a *attempt) heard() string {
	text, _ := os.ReadFile(a.stdout)
	return string(text)
}

// left are the processes of the attempt that are still there.
func (a *attempt) left() []string {
	var found []string
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range files {
		environ, err := os.ReadFile(file)
		if err == nil && slices.ContainsFunc(a.env, func(v string) bool {
			return strings.HasPrefix(v, "SWARM_TEST_MARK=") && bytes.Contains(environ, []byte(v))
		}) {
			found = append(found, filepath.Base(filepath.Dir(file)))
		}
	}
	return found
}
