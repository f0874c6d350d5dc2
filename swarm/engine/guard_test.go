package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/event"
	"agentswarm/swarm/inbox"
	"agentswarm/swarm/task"
)

// hooks are functions that are Go functions, by their source.
type hooks struct {
	of map[string]func(context.Context, json.RawMessage) (string, error)

	mu    sync.Mutex // guards asked
	asked []string
}

func (h *hooks) Decide(ctx context.Context, source string, input json.RawMessage) (json.RawMessage, error) {
	h.mu.Lock()
	h.asked = append(h.asked, string(input))
	h.mu.Unlock()
	value, err := h.of[source](ctx, input)
	return json.RawMessage(value), err
}

// hook makes f the function that is called f.
func (r *rig) hook(f func(context.Context, json.RawMessage) (string, error)) *hooks {
	h := &hooks{of: map[string]func(context.Context, json.RawMessage) (string, error){"f": f}}
	r.deps.Hooks = h
	return h
}

// returns is a function that always returns the same.
func returns(value string) func(context.Context, json.RawMessage) (string, error) {
	return func(context.Context, json.RawMessage) (string, error) { return value, nil }
}

// forever is an agent that prints a text, changes a file and runs until it is
// ended.
const forever = `
	read -r prompt; touch f
	printf '{"type":"text","text":"so far"}\n{"type":"usage","output":60,"cost_usd":0.5}\n{"type":"turn","n":1}\n'
	printf '{"type":"tool_start","id":"1","name":"x"}\n{"type":"tool_end","id":"1","ok":true}\n'
	printf '{"type":"turn","n":2}\n{"type":"usage","output":60,"cost_usd":0.5}\n'
	exec sleep 1000`

func TestLimits(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		give task.Limits
		want string
	}{
		{"turns", task.Limits{Turns: 1}, "limits.turns: it began turn 2, and may take 1"},
		{"tokens", task.Limits{Tokens: 100, Turns: 2}, "limits.tokens: it used 120 of 100"},
		{"just as many tokens", task.Limits{Tokens: 120}, "limits.tokens: it used 120 of 120"},
		{"usd", task.Limits{USD: 0.75}, "limits.usd: it cost 1 of 0.75"},
	} {
		for _, crash := range []bool{false, true} {
			t.Run(fmt.Sprint(test.name, crash), func(t *testing.T) {
				t.Parallel()
				r := newRig(t)
				r.config.Agents = specs("mine", forever)
				call := mine()
				call.Limits = test.give
				var result task.Result
				if crash {
					r.crashAt("settled", 0, call)
					result = r.view().Agent("a1").Result()
				} else {
					result = r.play(call)["a1"].Result
				}
				c, ok := result.(*task.Cancelled)
				if !ok || c.Cause != task.CauseBudget || c.Reason != test.want {
					t.Fatalf("a1 = %+v, want it cancelled: %s", result, test.want)
				}
				if c.Patch == nil {
					t.Error("what it left is not captured")
				}
			})
		}
	}
}

// TestTurnsOfAnAgent checks that the configured limit of an agent's turns holds
// unless its call has another limit.
func TestTurnsOfAnAgent(t *testing.T) {
	t.Parallel()
	for turns, want := range map[int]string{
		0: "limits.turns: it began turn 2, and may take 1", 2: "limits.tokens: it used 120 of 100",
	} {
		r := newRig(t)
		r.config.Agents = specs("mine", forever)
		r.config.Agents["mine"].Turns = 1
		call := mine()
		call.Limits = task.Limits{Turns: turns, Tokens: 100}
		c, ok := r.play(call)["a1"].Result.(*task.Cancelled)
		if !ok || c.Reason != want {
			t.Errorf("with turns %d it was %+v, want %s", turns, c, want)
		}
	}
}

// TestLimitsOfAllRounds checks that an agent with further rounds has no higher
// limits.
func TestLimitsOfAllRounds(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.config.Agents = specs("mine", `
		echo x >> "$RIG/starts"; printf '{"type":"usage","output":60}\n{"type":"result","text":"no"}\n'
		test $(wc -l < "$RIG/starts") = 1 || exec sleep 1000`)
	r.config.Agents["mine"].Input = agent.InputStdin
	call := numbered()
	call.Limits.Tokens = 100
	result := r.play(call)["a1"].Result
	contains(t, "reason", word(result), "cancelled budget")
	is(t, "tokens", result.Done().Usage.Output, 120)
	is(t, "processes", len(r.lines("starts")), 2)
}

// TestLimitAtTheEnd checks that a limit does not end an agent that had ended by
// itself.
func TestLimitAtTheEnd(t *testing.T) {
	t.Parallel()
	call := &task.Call{Limits: task.Limits{Tokens: 1}}
	g := &guard{call: call, limits: limitsOf(Config{}, call)}
	spent := &event.Spent{Usage: task.Usage{Output: 1}}
	if g.see(t.Context(), spent) == nil {
		t.Fatal("the limit is not seen")
	}
	if err := g.see(t.Context(), spent); err != nil {
		t.Errorf("it was ended twice: %v", err)
	}
}

func TestIdleOfACall(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.config.IdleTimeout = 1 << 40
	call := sh("exec sleep 1000")
	call.Limits.Idle = 50 * 1e6
	is(t, "result", word(r.play(call)["a1"].Result), "failed idle_timeout: wrote nothing for 50ms")
}

func TestStopWhen(t *testing.T) {
	t.Parallel()
	const silent = `
		read -r prompt; printf '{"type":"turn"}\n'; exec sleep 1000`
	fails := func(context.Context, json.RawMessage) (string, error) { return "", errors.New("it threw") }
	later := func(_ context.Context, input json.RawMessage) (string, error) {
		return fmt.Sprint(strings.Contains(string(input), `"turns":2`)), nil
	}
	for _, test := range []struct {
		name   string
		script string
		f      func(context.Context, json.RawMessage) (string, error)
		schema string
		want   string
	}{
		{"says enough", forever, later, "", "completed so far"},
		{"changed something", `read -r prompt; touch f; printf '{"type":"turn"}\n'; exec sleep 1000`, returns("true"), "", "completed "},
		{"nothing", silent, returns("true"), "", "cancelled cancelled: its stopWhen ended it before it said or changed anything"},
		{"throws", forever, fails, "", "cancelled cancelled: stopWhen: it threw"},
		{"no word", forever, returns(`"yes"`), "", `cancelled cancelled: stopWhen: it must return true or false, and returned "yes"`},
		{"null", forever, returns(`null`), "", `cancelled cancelled: stopWhen: it must return true or false, and returned null`},
		{"nothing at all", forever, returns(``), "", `cancelled cancelled: stopWhen: it must return true or false, and returned nothing`},
		{"an answer that does not match", forever, returns("true"), oneNumber, "failed schema: its answer does not match the schema: there is no JSON object in it"},
		{"an answer that matches", strings.Replace(forever, "so far", `{\\"n\\":4}`, 1), returns("true"), oneNumber, `completed {"n":4}`},
	} {
		for _, crash := range []bool{false, true} {
			t.Run(fmt.Sprint(test.name, crash), func(t *testing.T) {
				t.Parallel()
				r := newRig(t)
				r.config.Agents = specs("mine", test.script)
				r.hook(test.f)
				call := mine()
				call.StopWhen, call.Schema = "f", json.RawMessage(test.schema)
				var result task.Result
				if crash {
					r.crashAt("settled", 0, call)
					result = r.view().Agent("a1").Result()
				} else {
					result = r.play(call)["a1"].Result
				}
				got := word(result)
				if c, ok := result.(*task.Cancelled); ok {
					got += ": " + c.Reason
				}
				is(t, "result", got, test.want)
			})
		}
	}
}

// TestStopWhenSees checks the snapshots that a function receives, and when.
func TestStopWhenSees(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.config.Agents = specs("mine", `
		read -r prompt
		printf '{"type":"session","can":[]}\n{"type":"text","text":"hm"}\n{"type":"usage","output":7,"input":3,"cost_usd":0.5}\n'
		printf '{"type":"turn"}\n{"type":"tool_start","name":"x"}\n{"type":"tool_end"}\n{"type":"result","text":"done"}\n'`)
	h := r.hook(returns("false"))
	call := mine()
	call.StopWhen = "f"
	is(t, "result", word(r.play(call)["a1"].Result), "completed done")
	want := []snapshot{
		{Tokens: 7, USD: 0.5, Text: "hm"},
		{Tokens: 7, USD: 0.5, Text: "hm", Turns: 1},
		{Tokens: 7, USD: 0.5, Text: "hm", Turns: 1, Tools: 1},
		{Tokens: 7, USD: 0.5, Text: "hm", Turns: 1, Tools: 1},
	}
	is(t, "how often it was asked", len(h.asked), len(want))
	for i, text := range h.asked {
		var got snapshot
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Fatal(err)
		}
		got.MS = 0
		is(t, fmt.Sprint("snapshot ", i), got, want[i])
	}
}

// TestStopWhenHangs checks that a run can be stopped while a function is asked.
func TestStopWhenHangs(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.config.Agents = specs("mine", forever)
	r.hook(func(ctx context.Context, _ json.RawMessage) (string, error) {
		r.touch("asked")
		<-ctx.Done()
		return "", context.Cause(ctx)
	})
	call := mine()
	call.StopWhen = "f"
	e := r.start(call)
	r.await("asked")
	if err := e.Cancel([]task.ID{"a1"}, &Halt{Cause: task.CauseCancelled, Reason: "enough of it"}); err != nil {
		t.Fatal(err)
	}
	c, ok := settled(e).Result.(*task.Cancelled)
	if !ok || c.Reason != "enough of it" {
		t.Errorf("a1 = %+v", c)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestOnTool(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		f    func(context.Context, json.RawMessage) (string, error)
		by   task.By
		want string // the reason
	}{
		{"allow", returns(`"allow"`), task.ByPolicy, "no person can be asked here: questions are denied"},
		{"deny", returns(`"deny"`), task.ByScript, "denied by onTool"},
		{"a reason", returns(`"not on a Friday"`), task.ByScript, "not on a Friday"},
		{"true", returns(`true`), task.ByScript, `onTool: it must return "allow", "deny" or a reason, and returned true`},
		{"null", returns(`null`), task.ByScript, `onTool: it must return "allow", "deny" or a reason, and returned null`},
		{"an empty reason", returns(`""`), task.ByScript, `onTool: it must return "allow", "deny" or a reason, and returned ""`},
		{"throws", func(context.Context, json.RawMessage) (string, error) { return `"allow"`, errors.New("it threw") }, task.ByScript, "onTool: it threw"},
		{"much", returns(`"` + strings.Repeat("x", 5000) + `"`), task.ByScript, strings.Repeat("x", maxHookReason) + "…"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.config.Agents = specs("mine", question)
			h := r.hook(test.f)
			call := mine()
			call.OnTool = "f"
			is(t, "result", word(r.play(call)["a1"].Result), "completed done")
			is(t, "it was asked", strings.Join(h.asked, " "), `{"id":"q","action":{"run":"push"}}`)
			contains(t, "its answer", strings.Join(r.lines("answer.a1"), " "), `"allow":false`)
			q := r.view().Questions
			if len(q) != 1 || q[0].Reply == nil || q[0].Reply.By != test.by || q[0].Reply.Reason != test.want || q[0].Reply.Allow {
				t.Errorf("journaled %+v", q[0].Reply)
			}
		})
	}
}

// TestOnToolOnlyNarrows checks that an answer for the run does not allow an
// action that the call's own function denies, and that the function allows
// nothing.
func TestOnToolOnlyNarrows(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.deps.Questions = inbox.Wait
	r.config.Agents = specs("mine", question)
	h := r.hook(returns(`"allow"`))
	h.of["g"] = returns(`"deny"`)
	call := mine()
	call.OnTool = "f"
	e := r.start(call)
	ids := r.opened(1) // although it said allow
	if err := answerTo(e, allow(event.Replied{ID: ids[0], For: task.ForTheRun})); err != nil {
		t.Fatal(err)
	}
	settled(e)
	other := mine()
	other.OnTool = "g"
	if _, err := e.Start(other); err != nil {
		t.Fatal(err)
	}
	settled(e)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	contains(t, "the first", strings.Join(r.lines("answer.a1"), " "), `"allow":true`)
	contains(t, "the second", strings.Join(r.lines("answer.a2"), " "), `"allow":false`, "denied by onTool")
}
