package engine

import (
	"strings"
	"testing"

	"agentswarm/swarm/task"
	"agentswarm/worktree/git"
)

// TestContinuesOnto: an attempt on another base continues the agent's own
// conversation, with its patch on that base. A provider that refuses a request
// leads to the same base and the later work.
func TestContinuesOnto(t *testing.T) {
	t.Parallel()
	const tip, marked git.Hash = "tip", "marked"
	patch := task.Patch{Ref: "refs/marked", Base: string(tip), Commit: string(marked)}
	for _, test := range []struct {
		name, does string
		fork       bool // the agent continues the conversation of another
		wish       RetryRequest
		heard      []string // by the attempts from the second on
		told       string   // to the last attempt
		untold     string
	}{
		{
			name: "its own patch", does: `1) paid 1; touch f1; well;; 2) paid 1; well;;`,
			wish:  RetryRequest{Feedback: "main has changed", From: map[task.ID]*task.Patch{"a1": &patch}},
			heard: []string{"s1 priorx files: both"}, told: "main has changed", untold: "the task",
		},
		{
			name: "refused at once", does: `1) paid 1; touch f1; well;; 2) fails overloaded;; 3) paid 1; well;;`,
			wish:  RetryRequest{Feedback: "main has changed", From: map[task.ID]*task.Patch{"a1": &patch}},
			heard: []string{"s1 priorx files: both", "s1 priorx files: both"}, told: "main has changed", untold: "the task",
		},
		{
			name: "refused after an edit", does: `1) paid 1; touch f1; well;; 2) paid 1; touch f2; fails overloaded;; 3) paid 1; well;;`,
			wish:  RetryRequest{Feedback: "main has changed", From: map[task.ID]*task.Patch{"a1": &patch}},
			heard: []string{"s1 priorx files: both", "s2 priorxx files: both f2"}, told: "You were interrupted", untold: "the task",
		},
		{
			name: "without a patch", does: `1) paid 1; well;; 2) paid 1; touch f2; well;;`,
			wish:  RetryRequest{Feedback: "main has changed"},
			heard: []string{"s1 priorx files:"}, told: "main has changed", untold: "the task",
		},
		{
			name: "anew", does: `1) paid 1; touch f1; well;; 2) paid 1; touch f2; well;;`,
			wish:  RetryRequest{Feedback: "main has changed", Fresh: true},
			heard: []string{anew}, told: "the task", untold: "You continue",
		},
		{
			name: "a fork", fork: true, does: `1) paid 1; touch f1; well;; 2) paid 1; well;;`,
			wish:  RetryRequest{Feedback: "main has changed", From: map[task.ID]*task.Patch{"a2": &patch}},
			heard: []string{"s1 priorxx files: both"}, told: "main has changed", untold: "the fork",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.hurry()
			r.spaces.works = map[git.Hash]map[string]string{marked: {"both": "<<<<<<<\n"}}
			e := r.start(r.speaks(test.does), sh(`while ! test -e "$RIG/go"; do sleep 0.01; done`))
			id := settled(e).Agent
			if test.fork {
				call := talks("the fork")
				call.Input = &task.ForkAgentInput{Parent: id, Prompt: "the fork"}
				if _, err := e.Start(call); err != nil {
					t.Fatal(err)
				}
				id = settled(e).Agent
				test.wish.From = map[task.ID]*task.Patch{id: &patch}
			}
			test.wish.Agents, test.wish.Onto = []task.ID{id}, tip
			if err := e.Retry(test.wish); err != nil {
				t.Fatal(err)
			}
			is(t, "retried", settled(e).Agent, id)
			r.touch("go")
			settled(e)
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			last := len(test.heard) + 1
			for i, want := range test.heard {
				is(t, "heard", r.heard(string(rune('2'+i))), want)
			}
			done := r.view().Agent(id).Result().Done()
			is(t, "attempts", done.Attempts, last)
			if p := done.Patch; p == nil || p.Base != string(tip) {
				t.Errorf("its patch is %+v, want one from the new base", p)
			}
			prompt := r.prompt(id, last)
			if !strings.Contains(prompt, test.told) || strings.Contains(prompt, test.untold) {
				t.Errorf("the last attempt is told %q, want %q and not %q", prompt, test.told, test.untold)
			}
		})
	}
}
