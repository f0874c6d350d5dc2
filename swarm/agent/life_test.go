package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/agent/command"
	"agentswarm/swarm/event"
	"agentswarm/swarm/proc"
	"agentswarm/swarm/task"
)

// TestMain lets the test binary be the supervisor.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "__supervise" {
		syscall.Exit(proc.Supervise(func(json.RawMessage) error { return nil }))
	}
	os.Exit(m.Run())
}

// life is the attempt of an agent that is a text of sh.
func life(t *testing.T, spec agent.Spec, script, prompt string) *agent.Life {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "prompt")
	if err := os.WriteFile(file, []byte(prompt), 0o600); err != nil {
		t.Fatal(err)
	}
	spec.Name, spec.Kind = "sh", agent.KindCommand
	if spec.Input == "" {
		spec.Input = agent.InputNone
	}
	if spec.Format == "" {
		spec.Format, spec.Success = agent.FormatText, agent.SuccessExit
	}
	spec.Command = []string{"sh", "-c", script, "sh"}
	if spec.Input == agent.InputArg {
		spec.Command = append(spec.Command, "{prompt}", "{prompt_file}")
	}
	return &agent.Life{
		Launcher: &proc.Launcher{Binary: self, Args: []string{"__supervise"}},
		Adapter:  command.Adapter{}, Spec: &spec,
		Request: agent.Request{Spec: &spec, Prompt: prompt, PromptFile: file},
		Run:     t.Name(), Dir: dir, Env: []string{"PATH=" + os.Getenv("PATH")},
		Stdout: filepath.Join(dir, "stdout"), Stderr: filepath.Join(dir, "stderr"),
	}
}

// live lives, and reads the attempt again as a later process would: both
// must come to the same.
func live(t *testing.T, ctx context.Context, l *agent.Life) *agent.Outcome {
	t.Helper()
	out, err := l.Live(ctx)
	if err != nil {
		t.Fatal(err)
	}
	again := &agent.Outcome{Exit: out.Exit, Limit: out.Limit, Stopped: out.Stopped}
	if err := agent.Reread(l.Adapter, l.Spec, l.Stdout, again); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(out, again) {
		t.Errorf("read again it is\n%+v, it was\n%+v", again, out)
	}
	return out
}

func jsonl(input agent.Input) agent.Spec {
	return agent.Spec{Input: input, Format: agent.FormatJSONL, Success: agent.SuccessAnswer}
}

func TestLiveInputs(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		spec   agent.Spec
		script string
		want   string
	}{
		{"stdin", agent.Spec{Input: agent.InputStdin}, `cat; echo " end"`, "the prompt end\n"},
		{"arg", agent.Spec{Input: agent.InputArg}, `echo "$1"; cat "$2"`, "the prompt\nthe prompt"},
		{"none", agent.Spec{Input: agent.InputNone}, `cat; echo none`, "none\n"},
		{
			"jsonl", jsonl(agent.InputJSONL),
			`read -r p; printf '%s\n' "$p" >&2; echo '{"type":"result","text":"got it"}'; read -r f; printf '%s\n' "$f" >&2; cat >&2`,
			"got it",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			l := life(t, test.spec, test.script, "the prompt")
			out := live(t, t.Context(), l)
			if ok, kind, reason := out.Judge(l.Spec, false); !ok || out.Answer.Text != test.want {
				t.Errorf("%t %s %s, answer %+v, want %q", ok, kind, reason, out.Answer, test.want)
			}
			if test.name != "jsonl" {
				return
			}
			heard, err := os.ReadFile(l.Stderr)
			want := `{"type":"prompt","text":"the prompt"}` + "\n" + `{"type":"finish","reason":"result"}` + "\n"
			if err != nil || string(heard) != want {
				t.Errorf("its stdin held %q, %v, want %q", heard, err, want)
			}
		})
	}
}

// TestLiveAsk answers an agent that asks, since it would wait for ever.
func TestLiveAsk(t *testing.T) {
	t.Parallel()
	l := life(t, jsonl(agent.InputJSONL), `
		read -r prompt
		echo '{"type":"ask","id":"q7","action":{}}'
		read -r answer
		printf '%s\n' "$answer" >&2
		echo '{"type":"result","text":"without it"}'`, "p")
	var seen []string
	l.Observe = func(e event.Event) { seen = append(seen, event.Kind(e)) }
	out, err := l.Live(t.Context())
	if err != nil || out.Answer == nil {
		t.Fatalf("Live = %+v, %v", out, err)
	}
	if heard, _ := os.ReadFile(l.Stderr); !strings.Contains(string(heard), `"id":"q7","allow":false`) {
		t.Errorf("it heard %q", heard)
	}
	if strings.Join(seen, " ") != "ask result" {
		t.Errorf("observed %q", seen)
	}
}

// TestLiveReadsLate answers thousands of questions of an agent that asks them
// all before it reads: none of the answers is lost.
func TestLiveReadsLate(t *testing.T) {
	t.Parallel()
	l := life(t, jsonl(agent.InputJSONL), `
		seq -f '{"type":"ask","id":"q%g","action":{}}' 4000
		read -r prompt
		until test -e answered; do sleep 0.01; done
		head -n 4000 | tail -n 1 >&2
		echo '{"type":"result","text":"all"}'`, "p")
	var line *agent.Line
	asked := 0
	l.Opened = func(opened *agent.Line) { line = opened }
	l.Ask = func(a *event.Asked) {
		line.Reply(agent.Reply{Ask: a.ID, Allow: true})
		if asked++; asked == 4000 {
			if err := os.WriteFile(filepath.Join(l.Dir, "answered"), nil, 0o600); err != nil {
				t.Error(err)
			}
		}
	}
	// An agent that waits in vain is ended.
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	out, err := l.Live(ctx)
	if err != nil || out.Answer == nil {
		t.Fatalf("Live = %+v, %v", out, err)
	}
	if heard, _ := os.ReadFile(l.Stderr); !strings.Contains(string(heard), `"id":"q4000","allow":true`) {
		t.Errorf("the last it heard is %q", heard)
	}
}

// heedful is a command that is told its prompt once it has said who it is, and
// let go once it has said why there will be no answer.
type heedful struct{ command.Adapter }

func (h heedful) Launch(r agent.Request) (agent.Launch, error) {
	l, err := h.Adapter.Launch(r)
	prompt := l.Feed
	l.Feed = nil
	l.Respond = func(e event.Event) ([]byte, bool) {
		switch e.(type) {
		case *event.Session:
			return prompt, false
		case *event.Erred:
			return nil, true
		}
		return nil, false
	}
	return l, err
}

func TestLiveSays(t *testing.T) {
	t.Parallel()
	l := life(t, jsonl(agent.InputJSONL), `
		echo '{"type":"session","id":"s"}'
		read -r prompt
		echo '{"type":"error","kind":"auth","message":"no"}'
		printf '%s\n' "$prompt" >&2
		cat >&2`, "the prompt")
	l.Adapter = heedful{}
	// An agent that waits in vain is ended.
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out := live(t, ctx, l)
	if ok, kind, _ := out.Judge(l.Spec, true); ok || kind != task.Auth || out.Exit.Signal != "" {
		t.Errorf("Live = %+v", out)
	}
	heard, err := os.ReadFile(l.Stderr)
	if want := `{"type":"prompt","text":"the prompt"}` + "\n" + `{"type":"finish","reason":"result"}` + "\n"; err != nil || string(heard) != want {
		t.Errorf("it heard %q, %v, want %q", heard, err, want)
	}
}

// TestLiveNeverReads has a prompt that no pipe holds and agents that do not
// read it.
func TestLiveNeverReads(t *testing.T) {
	t.Parallel()
	prompt := strings.Repeat("long ", 1<<20)
	t.Run("ends", func(t *testing.T) {
		t.Parallel()
		l := life(t, jsonl(agent.InputJSONL), `echo '{"type":"result","text":"unread"}'`, prompt)
		if out := live(t, t.Context(), l); out.Answer == nil || out.Exit.Code != 0 {
			t.Errorf("Live = %+v", out)
		}
	})
	t.Run("hangs", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancelCause(t.Context())
		l := life(t, jsonl(agent.InputJSONL), `echo '{"type":"text","text":"here"}'; exec sleep 1000`, prompt)
		stop := errors.New("enough")
		l.Observe = func(event.Event) { cancel(stop) }
		out, err := l.Live(ctx)
		if err != nil || !errors.Is(out.Stopped, stop) || out.Exit.Signal != "SIGTERM" {
			t.Errorf("Live = %+v, %v, want it stopped by TERM", out, err)
		}
	})
}

func TestLiveLimits(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		spec   agent.Spec
		script string
		kind   task.ErrorKind
	}{
		{"timeout", agent.Spec{Timeout: 50 * time.Millisecond}, "exec sleep 1000", task.Timeout},
		{"timeout while it writes", agent.Spec{Timeout: 300 * time.Millisecond, IdleTimeout: time.Hour}, "while echo x; do sleep 0.01; done", task.Timeout},
		{"idle", agent.Spec{IdleTimeout: 50 * time.Millisecond, Timeout: time.Hour}, "echo x; exec sleep 1000", task.IdleTimeout},
		{"ends well at TERM", agent.Spec{Timeout: 50 * time.Millisecond}, `trap "exit 0" TERM; while :; do sleep 0.01; done`, task.Timeout},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			l := life(t, test.spec, test.script, "")
			out := live(t, t.Context(), l)
			if ok, kind, _ := out.Judge(l.Spec, true); ok || kind != test.kind {
				t.Errorf("judged %t %q, want %s: %+v", ok, kind, test.kind, out)
			}
		})
	}
}

func TestLiveOutcomes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		spec   agent.Spec
		script string
		want   func(*agent.Outcome) bool
	}{
		{"usage adds up", jsonl(agent.InputNone), `
			echo '{"type":"usage","input":5,"output":1,"cost_usd":0.5}'
			echo '{"type":"usage","input":7,"cache_read":2,"cost_usd":0.25}'
			echo '{"type":"result","text":"x"}'`, func(o *agent.Outcome) bool {
			return o.Usage == task.Usage{Input: 12, Output: 1, CacheRead: 2, CostUSD: 0.75}
		}},
		{"gets over an error", jsonl(agent.InputNone), `
			echo '{"type":"error","kind":"overloaded","message":"busy"}'
			echo '{"type":"result","text":"x"}'`, func(o *agent.Outcome) bool {
			return o.Error == nil && o.Answer.Text == "x"
		}},
		{"ends in an error", jsonl(agent.InputNone), `
			echo '{"type":"result","text":"x"}'
			echo '{"type":"error","kind":"quota","message":"no more"}'`, func(o *agent.Outcome) bool {
			return o.Error != nil && o.Error.Kind == task.Quota
		}},
		{"one huge line", jsonl(agent.InputNone), `
			head -c 5000000 /dev/zero | tr '\0' x
			echo; printf '{"type":"result","text":"after"}'`, func(o *agent.Outcome) bool {
			return o.Answer != nil && o.Answer.Text == "after" && o.Exit.StdoutBytes > 5000000
		}},
		{"much text", agent.Spec{}, `yes 0123456789 | head -c 3000000; echo the end`, func(o *agent.Outcome) bool {
			return len(o.Answer.Text) <= task.OutputLimit && strings.HasSuffix(o.Answer.Text, "the end\n")
		}},
		{"nothing", agent.Spec{}, `:`, func(o *agent.Outcome) bool { return o.Answer.Text == "" && o.Exit.Code == 0 }},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if out := live(t, t.Context(), life(t, test.spec, test.script, "")); !test.want(out) {
				t.Errorf("Live = %+v, answer %.100v, error %+v", out, out.Answer, out.Error)
			}
		})
	}
}

// TestLiveWaits checks that an agent which waits as its provider told it is not
// idle: it may write nothing for a moment only, once it has said that it waits.
func TestLiveWaits(t *testing.T) {
	t.Parallel()
	l := life(t, jsonl(agent.InputNone), `
		echo '{"type":"retry","kind":"rate_limit","message":"m","retry_after_ms":3600000}'
		sleep 0.5; echo '{"type":"result","text":"x"}'`, "")
	l.Observe = func(e event.Event) {
		l.Spec.IdleTimeout = 0
		if _, waits := e.(*event.Retry); waits {
			l.Spec.IdleTimeout = 250 * time.Millisecond
		}
	}
	if out := live(t, t.Context(), l); out.Limit != "" || out.Answer == nil || out.Lingered {
		t.Errorf("Live = %+v, answer %+v", out, out.Answer)
	}
}

// TestLiveOutputGone has an agent that removes the file of its own output:
// it has run, and cannot be a success.
func TestLiveOutputGone(t *testing.T) {
	t.Parallel()
	l := life(t, agent.Spec{}, `rm stdout; echo x`, "")
	out, err := l.Live(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if ok, kind, reason := out.Judge(l.Spec, true); ok || kind != task.Other || !strings.Contains(reason, "stdout") {
		t.Errorf("judged %t, %q, %q", ok, kind, reason)
	}
}

func TestLiveNotStarted(t *testing.T) {
	t.Parallel()
	refused := errors.New("not journaled")
	l := life(t, agent.Spec{}, `touch ran; exec sleep 1000`, "")
	var pid int
	var start uint64
	l.Started = func(p int, s uint64) error { pid, start = p, s; return refused }
	if _, err := l.Live(t.Context()); !errors.Is(err, refused) {
		t.Errorf("Live = %v, want the error of Started", err)
	}
	if proc.Alive(pid, start) {
		t.Error("its supervisor lives on")
	}
	l = life(t, agent.Spec{}, `:`, "")
	l.Spec.Command = nil
	if _, err := l.Live(t.Context()); err == nil {
		t.Error("Live of no command = nil")
	}
	l = life(t, agent.Spec{}, `:`, "")
	l.Spec.Command = []string{"no-such-program-anywhere"}
	out, err := l.Live(t.Context())
	if err != nil || out.Exit.Reason != proc.StartFailed || !strings.Contains(out.Exit.Text, "no-such-program-anywhere") {
		t.Errorf("Live of a missing program = %+v, %v", out, err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(refused)
	if _, err := life(t, agent.Spec{}, `:`, "").Live(ctx); !errors.Is(err, refused) {
		t.Errorf("Live of a dead context = %v, want its cause", err)
	}
}

// TestScan gives a face every event up to a size.
func TestScan(t *testing.T) {
	t.Parallel()
	l := life(t, jsonl(agent.InputNone), `echo '{"type":"text","text":"1"}'; echo '{"type":"text","text":"2"}'`, "")
	out := live(t, t.Context(), l)
	var kinds []string
	see := func(e event.Event) { kinds = append(kinds, event.Kind(e)) }
	if err := agent.Scan(l.Adapter, l.Spec, l.Stdout, out.Exit.StdoutBytes, see); err != nil || strings.Join(kinds, " ") != "text text" {
		t.Errorf("Scan = %q, %v", kinds, err)
	}
}
