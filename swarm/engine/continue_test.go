package engine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/agent/command"
	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// speaker is a kind whose agents run a text of sh for each attempt, and say
// which conversation they continue.
type speaker struct{ command.Adapter }

const speak = `
	mkdir -p "$STATE/talk"
	printf '%s ' "$PARENT" "prior$PRIOR" "files:" $(ls) >> "$RIG/heard.$SWARM_ATTEMPT"
	printf '{"type":"session","id":"s%s","model":"m1"}\n' "$SWARM_ATTEMPT"
	echo "talk $SWARM_ATTEMPT" >> "$STATE/talk/said"
	paid() { printf '{"type":"usage","output":%s}\n' "$1"; }
	well() { printf '{"type":"result","text":"ok"}\n'; exit; }
	fails() { printf '{"type":"error","kind":"%s","message":"no","retry_after_ms":1}\n' "$1"; exit; }
	case $SWARM_ATTEMPT in
	`

func (speaker) Launch(r agent.Request) (agent.Launch, error) {
	return agent.Launch{
		Argv: []string{"sh", "-c", speak + r.Spec.Command[0] + "\nesac"}, Stdin: r.PromptFile,
		Env: []string{"STATE=" + r.State, "PARENT=" + r.Parent, "PRIOR=" + strings.Repeat("x", int(r.Spec.Prior.Output))},
	}, nil
}

// speaks makes t an agent of that kind; does is its behaviour by attempts.
func (r *rig) speaks(does string) *task.Call {
	r.talkers()
	r.deps.Kinds["talker"] = agent.Kind{
		Name: "talker", Adapter: speaker{}, Sessions: []string{"talk"}, Can: agent.Abilities{Fork: true, Model: true},
	}
	r.config.Agents["t"].Command = []string{does}
	r.config.Retries = 2
	return talks("the task")
}

// heard is which conversation an attempt continued, how much that had used,
// and which files it found.
func (r *rig) heard(attempt string) string { return strings.Join(r.lines("heard."+attempt), " ") }

const anew = "prior files:"

// TestContinues checks that the attempt after a passing error continues the
// conversation of the interrupted attempt, with the same files. An attempt that
// had not begun is not continued.
func TestContinues(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, does string
		attempts   []string // their prompts, from the second attempt on
		want       string
		tokens     int64 // in all
	}{
		{
			"after two turns", `1) paid 2; touch f1; paid 1; fails overloaded;; 2) well;;`,
			[]string{"s1 priorxxx files: f1"}, "completed", 3,
		},
		{
			"the next one is refused at once", `1) paid 2; touch f1; fails rate_limit;; 2) fails overloaded;; 3) paid 1; well;;`,
			[]string{"s1 priorxx files: f1", "s1 priorxx files: f1"}, "completed", 3,
		},
		{
			"twice", `1) paid 1; touch f1; fails overloaded;; 2) paid 1; touch f2; fails overloaded;; 3) paid 1; well;;`,
			[]string{"s1 priorx files: f1", "s2 priorxx files: f1 f2"}, "completed", 3,
		},
		{"before its first answer", `1) fails overloaded;; 2) paid 1; well;;`, []string{anew}, "completed", 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.hurry()
			result := r.play(r.speaks(test.does))["a1"].Result
			is(t, "result", endOf(result), test.want)
			for i, want := range test.attempts {
				is(t, "heard", r.heard(string(rune('2'+i))), want)
			}
			is(t, "usage", result.Done().Usage.Output, test.tokens)
			is(t, "of the run", r.view().Usage().Output, test.tokens)
			if again := test.attempts[0] == anew; again != strings.Contains(r.prompt("a1", 2), "the task") {
				t.Errorf("the second attempt is told %q", r.prompt("a1", 2))
			}
		})
	}
}

// TestContinuesNot checks that a conversation is not continued if it would fail
// again, or if another model would continue it.
func TestContinuesNot(t *testing.T) {
	t.Parallel()
	t.Run("too long", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		call := r.speaks(`1) paid 1; touch f1; fails invalid;; 2) well;;`)
		is(t, "at first", endOf(r.play(call)["a1"].Result), "failed invalid")
		is(t, "resumed", endOf(r.play(call)["a1"].Result), "completed")
		is(t, "heard", r.heard("2"), anew)
	})
	t.Run("at another path", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		call := r.speaks(`1) paid 1; touch f1; fails overloaded;; 2) well;;`)
		kind := r.deps.Kinds["talker"]
		kind.Placed = true
		r.deps.Kinds["talker"] = kind
		is(t, "result", endOf(r.play(call)["a1"].Result), "completed")
		is(t, "heard", r.heard("2"), anew)
	})
	t.Run("a kind that cannot fork", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		call := r.speaks(`1) paid 1; touch f1; fails overloaded;; 2) well;;`)
		kind := r.deps.Kinds["talker"]
		kind.Can.Fork = false
		r.deps.Kinds["talker"] = kind
		is(t, "result", endOf(r.play(call)["a1"].Result), "completed")
		is(t, "heard", r.heard("2"), anew)
	})
	t.Run("another model", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		call := r.speaks(`1) paid 1; touch f1; fails quota;; 2) paid 1; well;;`)
		call.Fallbacks = []task.Choice{{Model: "other"}}
		is(t, "result", endOf(r.play(call)["a1"].Result), "completed")
		is(t, "heard", r.heard("2"), anew)
	})
}

// TestContinuesAfterAWish checks that the feedback of a retry is told once, in
// the conversation that it concerns, unless the retry is fresh.
func TestContinuesAfterAWish(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	call := r.speaks(`*) paid 1; touch "f$SWARM_ATTEMPT"; well;;`)
	e := Open(t.Context(), r.deps, r.config, nil)
	other, err := e.Start(sh(`while ! test -e "$RIG/go"; do sleep 0.01; done`))
	if err != nil {
		t.Fatal(err)
	}
	id, err := e.Start(call)
	if err != nil {
		t.Fatal(err)
	}
	settled(e)
	for _, wish := range []RetryRequest{{Feedback: "more"}, {Feedback: "less"}, {Feedback: "anew", Fresh: true}} {
		wish.Agents = []task.ID{id}
		if err := e.Retry(wish); err != nil {
			t.Fatal(err)
		}
		settled(e)
	}
	r.touch("go")
	is(t, "the other", settled(e).Agent, other)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	is(t, "heard", r.heard("2"), "s1 priorx files: f1")
	is(t, "heard", r.heard("3"), "s2 priorxx files: f1 f2")
	is(t, "heard", r.heard("4"), anew)
	for attempt, told := range map[int][]string{2: {"more"}, 3: {"less"}, 4: {"the task", "more", "less", "anew"}} {
		for _, text := range []string{"the task", "more", "less", "anew"} {
			want := strings.Contains(strings.Join(told, " "), text)
			if got := strings.Contains(r.prompt(id, attempt), text); got != want {
				t.Errorf("attempt %d is told %q: %t, want %t", attempt, text, got, want)
			}
		}
	}
}

// TestContinuesAfterDeath checks that a resume continues the conversation of an
// agent that ran when its owner was killed, and counts its usage once.
func TestContinuesAfterDeath(t *testing.T) {
	t.Parallel()
	for _, retried := range []bool{false, true} {
		r := newRig(t)
		call := r.speaks(`*) paid 2; well;;`)
		state := filepath.Join(stateOf(r.deps.Run.Attempt("a1", 1)), "talk")
		r.append(called("a1", call), r.leasedAt("a1", 1),
			&event.Started{Agent: "a1", Attempt: 1, Step: "agent", Pid: 1 << 29, Start: 1})
		const said = `{"type":"session","id":"s1","model":"m"}` + "\n" + `{"type":"usage","output":3}` + "\n"
		for file, text := range map[string]string{
			filepath.Join(r.deps.Run.Attempt("a1", 1), "stdout"): said, filepath.Join(state, "said"): "talk 1\n",
		} {
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if retried { // it died again, before the next attempt had its workspace
			died(t, r)
			r.append(&event.Continued{
				Agent: "a1", Attempt: 2, Of: 1, Session: "s1", Used: task.Usage{Output: 3}, From: r.view().Agent("a1").Captured.Patch,
			})
		}
		died(t, r)
		is(t, "settled", word(r.view().Agent("a1").Result()), "failed lost: swarm ended while it ran")
		result := r.play(call)["a1"].Result
		is(t, "resumed", word(result), "completed ok")
		next := map[bool]string{false: "2", true: "3"}[retried]
		is(t, "heard", r.heard(next), "s1 priorxxx files: work")
		is(t, "usage", result.Done().Usage.Output, int64(5))
		is(t, "of the run", r.view().Usage().Output, int64(5))
	}
}

// TestStalledOnce checks that an agent whose model sends nothing is ended,
// retried once in the same conversation, and then has failed.
func TestStalledOnce(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ does, want string }{
		{`1) paid 1; touch f1; tail -f /dev/null;; 2) well;;`, "completed"},
		{`*) paid 1; touch f1; tail -f /dev/null;;`, "failed idle_timeout"},
	} {
		t.Run(test.want, func(t *testing.T) {
			t.Parallel()
			// On a busy machine an agent may not begin within a short time: then it
			// gets more.
			for stall := time.Second; ; stall *= 4 {
				r := newRig(t)
				r.hurry()
				call := r.speaks(test.does)
				kind := r.deps.Kinds["talker"]
				kind.Stall = stall
				r.deps.Kinds["talker"] = kind
				r.config.Retries = 0
				result := r.play(call)["a1"].Result
				if stall < 16*time.Second && (endOf(result) != test.want || r.heard("2") != "s1 priorx files: f1") {
					continue
				}
				is(t, "result", endOf(result), test.want)
				is(t, "attempts", result.Done().Attempts, 2)
				is(t, "heard", r.heard("2"), "s1 priorx files: f1")
				return
			}
		})
	}
}

// TestNobodyListens checks that the wait for an absent server is bounded, as is
// the wait for a busy server.
func TestNobodyListens(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.lane("")
	e := Open(t.Context(), r.deps, r.config, nil)
	defer func() { is(t, "close", e.Close(), nil) }()
	for _, test := range []struct {
		reason      string
		least, most time.Duration
	}{
		{"no server answers at http://127.0.0.1:9: is the server started?", maxUnreachable / 4, maxUnreachable},
		{"overloaded", maxWaited / 2, maxWaited},
	} {
		a := &agentState{call: mine()}
		for range 1000 {
			if _, again := e.waitsInLane(a, &task.Failed{Kind: task.Overloaded, Reason: test.reason}, 0); !again {
				break
			}
		}
		if a.waited < test.least || a.waited > test.most {
			t.Errorf("%s: it waits %s, want %s to %s", test.reason, a.waited, test.least, test.most)
		}
	}
}

// TestNobodyListensLong checks that the time in which an agent itself asked an
// absent server counts as waited, if it had no answer before.
func TestNobodyListensLong(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.lane("")
	e := Open(t.Context(), r.deps, r.config, nil)
	defer func() { is(t, "close", e.Close(), nil) }()
	began := time.Now()
	for _, test := range []struct {
		took   time.Duration
		answer int64
		again  bool
	}{
		{72 * time.Second, 0, false},
		{22 * time.Second, 0, false}, // another attempt like it would end long after the bound
		{12 * time.Second, 0, true},
		{time.Second, 0, true},
		{72 * time.Second, 10, true},
	} {
		a := &agentState{call: mine()}
		_, again := e.waitsInLane(a, &task.Failed{
			Kind: task.Overloaded, Reason: "connect ECONNREFUSED 127.0.0.1:9",
			Work: task.Work{Started: began, Ended: began.Add(test.took), Usage: task.Usage{Output: test.answer}},
		}, 0)
		if again != test.again {
			t.Errorf("after %s with %d tokens it waits: %v, want %v", test.took, test.answer, again, test.again)
		}
	}
}
