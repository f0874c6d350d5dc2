package agent_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// TestLinger checks that an agent which has answered and does not end is ended,
// with all that it runs, and that its answer stands.
func TestLinger(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		set   func(*agent.Life, context.CancelFunc)
		extra string
	}{
		{"after its time", func(l *agent.Life, _ context.CancelFunc) { l.Linger = time.Millisecond }, ""},
		{"at its idle time-out", func(l *agent.Life, _ context.CancelFunc) {
			l.Linger, l.Observe = -1, onAnswer(func() { l.Spec.IdleTimeout = time.Millisecond })
		}, ""},
		{"stopped", func(l *agent.Life, stop context.CancelFunc) {
			l.Linger, l.Observe = -1, onAnswer(stop)
		}, ""},
		{"at its time-out", func(l *agent.Life, _ context.CancelFunc) {
			// The wait is not on its time, which begins with the answer.
			var line *agent.Line
			l.Opened = func(opened *agent.Line) { line = opened; line.Waits() }
			l.Linger, l.Spec.Timeout, l.Observe = -1, time.Millisecond, onAnswer(func() { line.Answered() })
		}, ""},
		{
			"and says on its end that it was ended", func(l *agent.Life, _ context.CancelFunc) { l.Linger = time.Millisecond },
			`trap 'echo "{\"type\":\"error\",\"kind\":\"other\",\"message\":\"aborted\"}"; exit 3' TERM;`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			pids := filepath.Join(t.TempDir(), "pids")
			script := `setsid sh -c 'trap "" TERM; echo $$ >> ` + pids + `; sleep 1000' &
				until test -s ` + pids + `; do :; done
				` + test.extra + `
				echo $$ >> ` + pids + `; echo '{"type":"result","text":"ok"}'; wait; while :; do sleep 1000; done`
			l := life(t, jsonl(agent.InputNone), script, "")
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			test.set(l, stop)
			out, err := l.Live(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if ok, kind, reason := out.Judge(l.Spec, false); !ok || !out.Lingered || out.Answer.Text != "ok" {
				t.Errorf("Live = %+v: %s %s", out, kind, reason)
			}
			text, err := os.ReadFile(pids)
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(text)) {
				pid, err := strconv.Atoi(strings.TrimSpace(line))
				if err != nil || syscall.Kill(pid, 0) == nil {
					t.Errorf("process %s is still there", strings.TrimSpace(line))
				}
			}
			again := &agent.Outcome{Exit: out.Exit, Lingered: true, Stands: true}
			if err := agent.Reread(l.Adapter, l.Spec, l.Stdout, again); err != nil {
				t.Fatal(err)
			}
			if ok, _, reason := again.Judge(l.Spec, false); !ok {
				t.Errorf("read again it failed: %s", reason)
			}
		})
	}
}

// onAnswer observes an agent's answer. It is called by who looks at the limits, and
// before they are looked at again.
func onAnswer(do func()) func(event.Event) {
	return func(e event.Event) {
		if _, answered := e.(*event.Answered); answered {
			do()
		}
	}
}

// TestLingerNot checks two agents that must not be ended after an answer: an
// agent that continues, and an agent whose exit status counts.
func TestLingerNot(t *testing.T) {
	t.Parallel()
	const on = `printf '%s\n%s\n' '{"type":"result","text":"1"}' '{"type":"tool_start","id":"t","name":"bash"}';`
	l := life(t, jsonl(agent.InputNone), on+` sleep 0.3; echo '{"type":"result","text":"2"}'`, "")
	l.Linger = time.Millisecond
	if out, err := l.Live(t.Context()); err != nil || out.Answers != 2 || out.Answer.Text != "2" {
		t.Errorf("one that goes on: %+v, %v", out, err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	l = life(t, jsonl(agent.InputNone), on+" exec sleep 1000", "")
	l.Linger, l.Observe = -1, func(e event.Event) {
		if _, begins := e.(*event.ToolStart); begins {
			stop()
		}
	}
	if out, err := l.Live(ctx); err != nil || out.Lingered || out.Stopped == nil {
		t.Errorf("one that is stopped while it goes on: %+v, %v", out, err)
	}
	spec := jsonl(agent.InputNone)
	spec.Success = agent.SuccessExit
	l = life(t, spec, `echo '{"type":"result","text":"1"}'; sleep 0.3; exit 3`, "")
	l.Linger = time.Millisecond
	if out := live(t, t.Context(), l); out.Lingered || out.Exit.Code != 3 {
		t.Errorf("one whose exit status counts: %+v", out)
	}
	for _, test := range []struct {
		kind agent.Kind
		spec agent.Spec
		want time.Duration
	}{
		{agent.Kind{Name: agent.KindCommand}, agent.Spec{Kind: agent.KindCommand, Input: agent.InputStdin}, -1},
		{agent.Kind{Name: agent.KindCommand}, agent.Spec{Kind: agent.KindCommand, Input: agent.InputJSONL}, 0},
		{agent.Kind{Name: agent.KindPi}, agent.Spec{Kind: agent.KindPi}, 0},
		{agent.Kind{Name: agent.KindClaude, Linger: 7}, agent.Spec{Kind: agent.KindClaude}, 7},
	} {
		if got := test.kind.Lingers(&test.spec); got != test.want {
			t.Errorf("%s, %s: it may linger for %d, want %d", test.kind.Name, test.spec.Input, got, test.want)
		}
	}
}

// TestGoodStands checks that a provider's refusal after a good answer keeps
// that answer, and which other errors do not.
func TestGoodStands(t *testing.T) {
	t.Parallel()
	const (
		good = `echo '{"type":"result","text":"ok"}';`
		tool = `echo '{"type":"tool_start","id":"t","name":"edit"}';`
	)
	failed := func(kind string) string {
		return `echo '{"type":"error","kind":"` + kind + `","message":"m"}';`
	}
	for _, test := range []struct {
		name, script string
		want         task.ErrorKind
	}{
		{"overloaded", good + failed("overloaded") + "exit 1", ""},
		{"rate_limit", good + failed("rate_limit"), ""},
		{"in a turn of its own", good + `echo '{"type":"turn","n":2}';` + failed("overloaded") + "exit 1", ""},
		{"with a text and an old tool", good + `printf '%s\n' '{"type":"tool_end","id":"t","ok":true}' '{"type":"text","text":"hm"}';` +
			failed("overloaded") + "exit 1", ""},
		{"after a tool", good + tool + failed("overloaded") + "exit 1", task.Overloaded},
		{"before a tool", good + failed("overloaded") + tool + "exit 1", task.Other},
		{"after a question", good + `echo '{"type":"ask","id":"q","action":{"command":"x"}}';` + failed("rate_limit"), task.RateLimit},
		{"after a tool and another answer", good + tool + good + failed("overloaded") + "exit 1", ""},
		{"auth", good + failed("auth") + "exit 1", task.Auth},
		{"other", good + failed("other"), task.Other},
		{"both", good + failed("overloaded") + failed("other"), task.Other},
		{"a bad end alone", good + "exit 1", task.Other},
		{"before it", failed("overloaded") + good, ""},
		{"without an answer", failed("overloaded"), task.Overloaded},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			l := life(t, jsonl(agent.InputNone), test.script, "")
			out := live(t, t.Context(), l)
			if ok, kind, reason := out.Judge(l.Spec, false); kind != test.want || ok != (test.want == "") {
				t.Errorf("Judge = %v, %q, %q, want kind %q", ok, kind, reason, test.want)
			}
		})
	}
	// An agent whose answer was refused has none yet.
	l := life(t, jsonl(agent.InputJSONL), `read -r p; echo '{"type":"result","text":"no"}'; read -r q;`+failed("overloaded"), "p")
	l.Refuse = func(*event.Answered) string { return "again" }
	out, err := l.Live(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if ok, kind, _ := out.Judge(l.Spec, true); ok || kind != task.Overloaded {
		t.Errorf("after an answer that was refused: %v, %s", ok, kind)
	}
}

// TestLiveAsksTooLate ends an agent by a limit, which asks then: the action is
// denied, and no person is asked.
func TestLiveAsksTooLate(t *testing.T) {
	t.Parallel()
	heard := ""
	// A limit that comes before the agent has begun says nothing.
	for _, limit := range []time.Duration{100 * time.Millisecond, 2 * time.Second, 20 * time.Second} {
		spec := jsonl(agent.InputJSONL)
		spec.Timeout = limit
		l := life(t, spec, `
			trap 'echo "{\"type\":\"ask\",\"id\":\"q7\",\"action\":{}}"; read -r answer; echo "$answer" >&2; exit' TERM
			read -r prompt
			while :; do sleep 0.01; done`, "p")
		l.Ask = func(a *event.Asked) { t.Errorf("after %s somebody was asked about %s", limit, a.ID) }
		if out, err := l.Live(t.Context()); err != nil || out.Limit != task.Timeout {
			t.Fatalf("Live = %+v, %v", out, err)
		}
		text, _ := os.ReadFile(l.Stderr)
		if heard = string(text); strings.Contains(heard, "q7") {
			break
		}
	}
	if !strings.Contains(heard, `"id":"q7","allow":false`) {
		t.Errorf("it heard %q", heard)
	}
}
