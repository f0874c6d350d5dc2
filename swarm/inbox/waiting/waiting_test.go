package waiting

import (
	"encoding/json"
	"strings"
	"testing"

	"agentswarm/swarm/event"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// question is an open question of a test.
func question(id string, agent task.ID, action string) Question {
	run, _, _ := strings.Cut(id, "-")
	return Question{Run: run, Label: "pkg/" + string(agent), Question: &store.Question{Questioned: event.Questioned{
		ID: id, Agent: agent, Attempt: 1, Ask: "q", Action: json.RawMessage(action),
	}}}
}

func TestNamed(t *testing.T) {
	t.Parallel()
	all := []Question{
		question("k3x9q2-1", "a1", `1`), question("k3x9q2-11", "a2", `1`), question("abcdef-1", "a1", `1`),
		question("23bcde-1", "a1", `1`),
	}
	for text, want := range map[string]string{
		"k3x9q2-1": "k3x9q2-1", "k3x9q2-11": "k3x9q2-11", "11": "k3x9q2-11", "1": "k3x9q2-1, abcdef-1, 23bcde-1",
		"23": "", "23b": "23bcde-1", "abc": "abcdef-1", "k3x": "k3x9q2-1, k3x9q2-11", "": "", "2": "", "k3x9q2-2": "", "-1": "",
	} {
		if got := IDs(Named(text, all)); got != want {
			t.Errorf("Named(%q) = %q, want %q", text, got, want)
		}
	}
}

// TestAnsweredBy checks that a question counts as answered with another only if
// the run's owner closes both by the same answer.
func TestAnsweredBy(t *testing.T) {
	t.Parallel()
	found := func(q Question, tier string) Question {
		q.Risk = &event.Risk{Tier: tier, Reason: "r"}
		return q
	}
	hard := found(question("r-1", "a1", `"cp a b"`), "HARD_TO_REVERSE")
	yes, always, never := &event.Replied{Allow: true}, &event.Replied{Allow: true, For: task.ForTheRun}, &event.Replied{For: task.ForTheRun}
	for _, tt := range []struct {
		name  string
		give  Question
		after *event.Replied
		want  bool
	}{
		{"the same", found(question("r-2", "a2", `"cp a b"`), "HARD_TO_REVERSE"), yes, true},
		{"another action", found(question("r-2", "a2", `"cp a c"`), "HARD_TO_REVERSE"), yes, false},
		{"of another run", found(question("s-2", "a2", `"cp a b"`), "HARD_TO_REVERSE"), yes, false},
		{"not looked at", question("r-2", "a2", `"cp a b"`), yes, false},
		{"of another tier", found(question("r-2", "a2", `"cp a b"`), "VISIBLE"), yes, false},
		{"of another tier, for the run", found(question("r-2", "a2", `"cp a b"`), "VISIBLE"), always, true},
		{"graver", found(question("r-2", "a2", `"cp a b"`), "DESTRUCTIVE"), yes, false},
		{"graver, for the run", found(question("r-2", "a2", `"cp a b"`), "DESTRUCTIVE"), always, false},
		{"as grave", found(question("r-2", "a2", `"cp a b"`), "DESTRUCTIVE"), yes, false},
		{"graver, denied for the run", found(question("r-2", "a2", `"cp a b"`), "DESTRUCTIVE"), never, true},
	} {
		if got := tt.give.AnsweredBy(hard, tt.after); got != tt.want {
			t.Errorf("%s: AnsweredBy = %v, want %v", tt.name, got, tt.want)
		}
	}
}
