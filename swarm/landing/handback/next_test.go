package handback

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"agentswarm/merge"
	"agentswarm/swarm/event"
	"agentswarm/swarm/landing/lander"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// TestReceiver: the author, then a neutral agent, then the person. A resolution that undoes
// the other side goes to the person at once.
func TestReceiver(t *testing.T) {
	t.Parallel()
	prompt := func() *task.Call { return &task.Call{Input: &task.TypedAgentInput{Prompt: "do it"}} }
	left := &task.Completed{Work: task.Work{Patch: &task.Patch{Commit: "c"}}}
	to := func(to string, after int) *event.RetryAsked {
		return &event.RetryAsked{After: after, HandedBack: &event.HandedBack{To: to}}
	}
	for _, tt := range []struct {
		name, kind string
		give       store.Agent
		want       string
	}{
		{"the first time", "text", store.Agent{Attempt: 1, Status: left}, event.ToAuthor},
		{"it takes lines back by itself", "undoes", store.Agent{Attempt: 1, Status: left}, event.ToAuthor},
		{"after a retry of a person", "text", store.Agent{Attempt: 2, Status: left, Retry: &event.RetryAsked{After: 1}}, event.ToAuthor},
		{"after the author", "text", store.Agent{Attempt: 2, Status: left, Retry: to(event.ToAuthor, 1)}, event.ToNeutral},
		{"after the author, and the check fails", "failed", store.Agent{Attempt: 2, Status: left, Retry: to(event.ToAuthor, 1)}, event.ToNeutral},
		{"after the author, who undoes the other side", "undoes", store.Agent{Attempt: 2, Status: left, Retry: to(event.ToAuthor, 1)}, ""},
		{"after the author, who failed", "undoes", store.Agent{Attempt: 2, Status: &task.Failed{}, Retry: to(event.ToAuthor, 1)}, event.ToNeutral},
		{"after the neutral agent", "text", store.Agent{Attempt: 3, Status: left, Retry: to(event.ToNeutral, 2)}, ""},
		{"a copy of a person", "text", store.Agent{Attempt: 1, Status: left, Copy: 1}, ""},
		{"in the shared workspace", "text", store.Agent{Attempt: 1, Status: left, Call: &task.Call{Shared: true, Input: prompt().Input}}, ""},
		{"a command without a prompt", "text", store.Agent{Attempt: 1, Status: left, Call: &task.Call{Command: []string{"make"}, Input: &task.TypedAgentInput{}}}, ""},
	} {
		if tt.give.Call == nil {
			tt.give.Call = prompt()
		}
		if got := receiver(&tt.give, tt.kind); got != tt.want {
			t.Errorf("%s: receiver = %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestLeftOut: conflicts of text and refusals by the check are handed back.
// Conflicts of submodules, stale patches, and patches that wait for another patch
// are not.
func TestLeftOut(t *testing.T) {
	t.Parallel()
	r := &lander.Report{
		View: store.Fold(store.Identity{}, nil),
		Outcome: &merge.Outcome{
			Conflicts: []merge.Conflict{{ID: "a1", With: []string{"a9"}}, {ID: "a2", Modules: make([]merge.ModuleConflict, 1)}},
			Undoing:   []merge.Undoing{{ID: "a3", With: []string{"a9"}}},
		},
		Queue: &lander.QueueReport{Refused: []event.Refusal{
			{Agent: "a4", Kind: "failed"}, {Agent: "a5", Kind: "interaction", On: []task.ID{"a9"}}, {Agent: "a6", Kind: "dependency", Needs: []task.ID{"a5"}},
		}},
	}
	var got []string
	for _, l := range leftOut(r) {
		got = append(got, fmt.Sprintf("%s %s %v", l.agent, l.kind, l.with))
	}
	if want := "a1 text [a9]; a4 failed []; a5 interaction [a9]; a3 undoes [a9]"; strings.Join(got, "; ") != want {
		t.Errorf("leftOut = %q, want %q", strings.Join(got, "; "), want)
	}
	if got := waiting(r); len(got) != 1 || got[0] != "a6" {
		t.Errorf("waiting = %v, want a6", got)
	}
}

// TestBrief: the text of each kind names the problem and has its evidence.
func TestBrief(t *testing.T) {
	t.Parallel()
	other := []Other{{ID: "a1", Title: "web", Task: "Rename\nGet", Diff: "+Lookup"}}
	for _, tt := range []struct {
		name string
		give Brief
		want []string
	}{
		{"a conflict", Brief{Branch: "main", Kind: "text", Marked: []string{"f"}, Plain: []string{"logo.png"}, Hunks: []Hunk{{"f", "ours\ntheirs\n"}}, Others: other}, []string{
			"Your changes could not be merged into the branch main.", "Remove every conflict marker.", "): f\n", "without markers: logo.png", "\nf:\nours\ntheirs\n",
			"The other side is a1 (web). Its task was: Rename Get\nIt changed:\n+Lookup\n",
		}},
		{"a check", Brief{Branch: "main", Kind: "failed", Command: "make test", Output: "f:3: broken"}, []string{"The check passes on the branch, and fails with these changes: make test", "f:3: broken"}},
		{"an interaction", Brief{Branch: "main", Kind: "interaction", Command: "make", Others: other}, []string{"The check passes with the other patches", "The other side is a1"}},
		{"lines taken back", Brief{Branch: "main", Kind: "undoes", Lines: []event.TakenBack{{Path: "f", Line: 2, Text: "x"}}}, []string{"They take these lines back", "  f:2: -x\n"}},
		{"to a neutral agent", Brief{Branch: "main", Kind: "text", Neutral: true, Author: "a3", Failed: "left markers"}, []string{
			"a3 did the task above", "You have written neither side.", "The attempt before this one: left markers.",
		}},
	} {
		text := tt.give.Text()
		for _, want := range append(tt.want, "Keep all that the other side did") {
			if !strings.Contains(text, want) {
				t.Errorf("%s: the brief lacks %q:\n%s", tt.name, want, text)
			}
		}
	}
}

// TestBriefIsShort: whatever was read for it, a brief has at most 1,500 tokens of three
// bytes, and keeps the rule.
func TestBriefIsShort(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("жx\xff ", 5000)
	paths := make([]string, 300)
	lines := make([]event.TakenBack, 20)
	for i := range paths {
		paths[i] = fmt.Sprintf("some/folder/%d/%s", i, long[:300])
	}
	for i := range lines {
		lines[i] = event.TakenBack{Path: paths[i], Line: 1, Text: long}
	}
	var hunks []Hunk
	var others []Other
	for range 50 {
		hunks = append(hunks, Hunk{paths[0], strings.Repeat("x\n", 400)})
		others = append(others, Other{ID: "a1", Title: long, Task: long, Diff: long})
	}
	for _, kind := range []string{"text", "failed", "interaction", "undoes"} {
		b := Brief{
			Branch: "main", Kind: kind, Neutral: true, Author: "a3", Marked: paths, Plain: paths, Hunks: hunks, Others: others,
			Command: long, Output: long, Lines: lines, More: 1000, Failed: long,
		}
		text := b.Text()
		if len(text) > 3*1500 || !utf8.ValidString(text) || !strings.Contains(text, "Keep all that the other side did") {
			t.Errorf("%s: the brief has %d bytes, valid %t; want at most 4500 with the rule:\n%s", kind, len(text), utf8.ValidString(text), text)
		}
	}
}
