package follow

import (
	"strings"
	"testing"

	"agentswarm/swarm/event"
	"agentswarm/swarm/inbox/waiting"
)

// TestGroupAlike checks which questions share a line of the inbox: those of a
// run with the same action and the same ruling.
func TestGroupAlike(t *testing.T) {
	t.Parallel()
	risky := func(q waiting.Question, tier string) waiting.Question {
		q.Risk = &event.Risk{Tier: tier, Reason: "r"}
		return q
	}
	secret := func(q waiting.Question) waiting.Question {
		q.Redacted = true
		return q
	}
	const push = `{"run":"push"}`
	for _, test := range []struct {
		name string
		give []waiting.Question
		want string
	}{
		{"none", nil, ""},
		{"one", []waiting.Question{question("r-1", "a1", push)}, "r-1 r/a1"},
		{"the same", []waiting.Question{
			question("r-1", "a4", push), question("r-2", "a1", `{ "run": "push" }`), question("r-3", "a2", push), question("r-4", "a3", push),
		}, "r-1 4 questions: r/a1–a4"},
		{"one agent twice", []waiting.Question{question("r-1", "a1", push), question("r-2", "a1", push)}, "r-1 2 questions: r/a1"},
		{"with another between", []waiting.Question{
			question("r-1", "a1", push), question("r-2", "a2", `{"run":"pull"}`), question("r-3", "a9", push), question("r-4", "a10", push),
		}, "r-1 3 questions: r/a1, a9, a10; r-2 r/a2"},
		{"of two runs", []waiting.Question{question("r-1", "a1", push), question("s-1", "a1", push)}, "r-1 r/a1; s-1 s/a1"},
		{"found to be different", []waiting.Question{
			risky(question("r-1", "a1", push), "PUBLISHES"), question("r-2", "a2", push), risky(question("r-3", "a3", push), "PUBLISHES"),
			risky(question("r-4", "a4", push), "DESTRUCTIVE"),
		}, "r-1 2 questions: r/a1, a3; r-2 r/a2; r-4 r/a4"},
		{"with secrets", []waiting.Question{secret(question("r-1", "a1", push)), secret(question("r-2", "a2", push))}, "r-1 r/a1; r-2 r/a2"},
		{"without an action", []waiting.Question{question("r-1", "a1", ""), question("r-2", "a2", "")}, "r-1 r/a1; r-2 r/a2"},
		{"of scripts", []waiting.Question{question("r-1", "", push), question("r-2", "", push)}, "r-1 r; r-2 r"},
	} {
		var got []string
		for _, g := range waiting.Groups(test.give) {
			got = append(got, g[0].ID+" "+groupFrom(g))
		}
		if got := strings.Join(got, "; "); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
	both := waiting.Group{question("r-1", "a1", push), question("r-2", "a2", push)}
	if got, want := groupHint(both), "these ask the same; answer one by its id, or all: swarm approve r-1 r-2"; got != want {
		t.Errorf("hint %q, want %q", got, want)
	}
	both = waiting.Group{risky(both[0], "PUBLISHES"), risky(both[1], "PUBLISHES")}
	if got, want := groupHint(both), "an answer to one of these is for all of them: r-1 r-2"; got != want {
		t.Errorf("hint %q, want %q", got, want)
	}
}
