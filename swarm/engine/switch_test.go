package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/event"
	"agentswarm/swarm/fault"
	"agentswarm/swarm/task"
)

// switches are the models that the attempts of an agent went over to.
func (r *rig) switches(id task.ID) string {
	r.t.Helper()
	records, err := r.deps.Run.Records()
	if err != nil {
		r.t.Fatal(err)
	}
	var all []string
	for _, rec := range records {
		if e, ok := rec.Event.(*event.Switched); ok && e.Agent == id {
			all = append(all, fmt.Sprintf("%d:%s", e.Attempt, modelName(&e.Choice)))
		}
	}
	return strings.Join(all, " ")
}

// TestFallBack checks that an unavailable model is replaced by the next model
// of its role, and that an available model that failed is not.
func TestFallBack(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, kind, ok string
		fallbacks      int
		want, switches string
	}{
		{"quota", "quota", "3", 2, "completed", "1:b 2:c:low"},
		{"auth", "auth", "2", 2, "completed", "1:b"},
		{"unknown", "invalid model not found", "2", 1, "completed", "1:b"},
		{"too long for it", "invalid prompt is too long", "2", 1, "completed", "1:b"},
		{"a server that is not there", "invalid " + fault.Down("http://127.0.0.1:1"), "2", 1, "completed", "1:b"},
		{"a request that is wrong for all", "invalid messages.0 is empty", "2", 1, "failed invalid", ""},
		{"no answer of the form", "schema", "2", 1, "completed", "1:b"},
		{"no answer of the form from any", "schema", "9", 1, "failed schema", "1:b"},
		{"overloaded, of a provider that nobody knows", "overloaded", "2", 1, "completed", "1:b"},
		{"no more", "quota", "9", 1, "failed quota", "1:b"},
		{"none", "quota", "2", 0, "failed quota", ""},
		{"its own fault", "other", "2", 2, "failed other", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			kind, said, _ := strings.Cut(test.kind, " ")
			r.config.Agents = specs("mine", `read -r prompt
				if test $SWARM_ATTEMPT = `+test.ok+`; then printf '{"type":"result","text":"{}"}\n'
				elif test `+kind+` = schema; then printf '{"type":"result","text":"no JSON"}\n'
				else printf '{"type":"error","kind":"`+kind+`","message":"no `+said+`"}\n'; fi`)
			call := mine()
			if kind == "schema" {
				call.Schema = []byte(`{"type":"object"}`)
			}
			call.Fallbacks = []task.Choice{{Model: "b"}, {Model: "c", Effort: "low"}}[:test.fallbacks]
			result := r.play(call)["a1"].Result
			is(t, "result", endOf(result), test.want)
			is(t, "switches", r.switches("a1"), test.switches)
			noted := strings.Contains(strings.Join(result.Done().Notes, "\n"), "it continues with")
			is(t, "a note", noted, test.switches != "")
			if test.switches != "" {
				is(t, "its model", r.view().Agent("a1").Now().Model, strings.Split(test.switches[strings.LastIndex(test.switches, " ")+1:], ":")[1])
			}
		})
	}
}

// TestThorough: after two tries that were not good enough an agent continues
// with the thorough model, also under other owners, and stays with it. A
// refusal by its provider is no try.
func TestThorough(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ kind, want string }{
		{"other", "2:slow:high"},
		{"quota", ""},
	} {
		t.Run(test.kind, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.config.Agents = specs("mine", `read -r prompt
				printf '{"type":"error","kind":"`+test.kind+`","message":"no"}\n'`)
			call := mine()
			call.Slow = &task.Choice{Model: "slow", Effort: "high"}
			for range 4 { // each an owner of its own, which tries once
				is(t, "result", endOf(r.play(call)["a1"].Result), "failed "+test.kind)
			}
			is(t, "attempts", r.view().Agent("a1").Attempt, 4)
			is(t, "switches", r.switches("a1"), test.want)
		})
	}
}

// TestForkOfSwitched: a conversation keeps the model that it was had with, where
// its fork names no other; so does a fork of that fork.
func TestForkOfSwitched(t *testing.T) {
	t.Parallel()
	low := task.Options{Model: "a", Effort: "low"}
	for _, test := range []struct {
		name     string
		switched *event.Switched
		own      task.Options
		want     string
	}{
		{"as its call says", nil, low, ""},
		{"another", &event.Switched{Choice: task.Choice{Model: "b"}}, low, "0:b"},
		{"another and its effort", &event.Switched{Choice: task.Choice{Model: "b", Effort: "high"}}, low, "0:b:high"},
		{"the thorough one", &event.Switched{Choice: task.Choice{Model: "b"}, Slow: true}, low, "0:b"},
		{"the fork names an effort", &event.Switched{Choice: task.Choice{Model: "b"}}, task.Options{Model: "a", Effort: "max"}, "0:b:max"},
		{"the fork names one", &event.Switched{Choice: task.Choice{Model: "b"}}, task.Options{Model: "c", Effort: "low"}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.talkers()
			kind := r.deps.Kinds["talker"]
			kind.Can = agent.Abilities{Fork: true, Model: true, Effort: true}
			r.deps.Kinds["talker"] = kind
			parent := talks("one")
			parent.Options = low
			r.append(called("a1", parent))
			if s := test.switched; s != nil {
				s.Agent, s.Attempt = "a1", 1
				r.append(s)
			}
			r.append(&event.Settled{Agent: "a1", Attempt: 1, Result: &task.Completed{Answer: "ok", Work: task.Work{Attempts: 1, Session: "s"}}})
			if err := os.MkdirAll(filepath.Join(r.deps.Run.Attempt("a1", 1), "session"), 0o700); err != nil {
				t.Fatal(err)
			}
			e := Open(r.t.Context(), r.deps, r.config, r.view())
			for _, of := range []task.ID{"a1", "a2"} {
				fork := talks("")
				fork.Input, fork.Options = &task.ForkAgentInput{Parent: of, Prompt: "more"}, test.own
				id, err := e.Start(fork)
				if err != nil {
					t.Fatal(err)
				}
				is(t, "result", endOf(settled(e).Result), "completed")
				is(t, "switches", r.switches(id), test.want)
				slow := test.switched != nil && test.switched.Slow
				is(t, "slow", r.view().Agent(id).Switched != nil && r.view().Agent(id).Switched.Slow, slow)
			}
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}
