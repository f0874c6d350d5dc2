package landing

import (
	"slices"
	"strings"
	"testing"
	"time"

	"agentswarm/swarm/event"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree/git"
)

// TestCommit checks the author, the subject and the trailers of a commit.
func TestCommit(t *testing.T) {
	t.Parallel()
	user := &git.Person{Name: "Ada", Email: "ada@example.org"}
	prompt := &task.Call{Agent: "claude", Label: "web", Input: &task.TypedAgentInput{Prompt: "Rename Get\nand more"}}
	alternative := *prompt
	alternative.Group = "g"
	done := &task.Completed{Work: task.Work{Model: "claude-sonnet-4-5"}}
	ours := []string{"Swarm-Run: k3x9q2", "Swarm-Agent: a1", "Swarm-Base: b"}
	const with = "Co-authored-by: claude (claude-sonnet-4-5) <claude@swarm.localhost>"
	tests := []struct {
		name     string
		style    Style
		call     *task.Call
		resolved string
		verified string
		author   string
		subject  string
		trailers []string
	}{
		{"the user", Style{User: user}, prompt, "", "", "Ada", "web", append(slices.Clone(ours), with)},
		{"the agent", Style{User: user, Author: ByAgent}, prompt, "", "", "claude", "web", ours},
		{"nobody is configured", Style{}, prompt, "", "", "claude", "web", ours},
		{"an alternative", Style{User: user}, &alternative, "", "", "Ada", "Rename Get", append(slices.Clone(ours), with)},
		{"a plain command", Style{User: user}, &task.Call{Label: "web", Command: []string{"sed"}}, "", "", "Ada", "web", ours},
		{"a message", Style{User: user, Message: "Say it\n\nMore."}, prompt, "", "", "Ada", "Say it", append(slices.Clone(ours), with)},
		{
			"trailers", Style{User: user, Trailers: []string{"Refs: #1"}}, prompt, "text with a2", "", "Ada", "web",
			append(slices.Clone(ours), "Swarm-Resolved: text with a2", "Refs: #1", with),
		},
		{
			"verified", Style{User: user, Author: ByAgent}, prompt, "", "t 0123456789ab", "claude", "web",
			append(slices.Clone(ours), "Swarm-Verified: t 0123456789ab"),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := &store.Agent{ID: "a1", Call: tt.call, Status: done, Ended: time.Unix(7, 0)}
			title := tt.call.Label
			p, err := tt.style.Commit(Work{
				Run: "k3x9q2", Agent: a, Patch: &task.Patch{Base: "b", Commit: "c"}, Kind: "claude", Title: title, Resolved: tt.resolved,
				Verified: tt.verified,
			})
			if err != nil {
				t.Fatal(err)
			}
			if p.Author.Name != tt.author || !p.Author.When.Equal(a.Ended) {
				t.Errorf("author is %+v, want %s at the end of the work", p.Author, tt.author)
			}
			if p.Subject != tt.subject {
				t.Errorf("subject is %q, want %q", p.Subject, tt.subject)
			}
			if !slices.Equal(p.Trailers, tt.trailers) {
				t.Errorf("trailers are %q, want %q", p.Trailers, tt.trailers)
			}
		})
	}
}

func TestCheckTrailer(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"Refs: #1": true, "Refs:#1": true, "Signed-off-by: A <a@b>": true,
		"": false, "Refs": false, ": x": false, "Refs: ": false, "Two words: x": false, "A: b\nC: d": false,
	} {
		if err := CheckTrailer(text); (err == nil) != want {
			t.Errorf("CheckTrailer(%q) = %v, want it taken: %v", text, err, want)
		}
	}
}

// TestReviewTrailers holds that a commit names the reviews of its patch, and of no other
// attempt.
func TestReviewTrailers(t *testing.T) {
	t.Parallel()
	ada := &git.Person{Name: "Ada", Email: "ada@example.org"}
	accepted := &event.Reviewed{Agent: "a1", Attempt: 1, Verdict: task.Accepted}
	rejected := &event.Reviewed{Agent: "a1", Attempt: 1, Verdict: task.Rejected}
	for _, tt := range []struct {
		name      string
		user      *git.Person
		review    *event.Reviewed
		appraisal *event.Appraised
		commit    string
		want      []string
	}{
		{"nobody", ada, nil, nil, "c", nil},
		{"the user", ada, accepted, nil, "c", []string{"Swarm-Reviewed: accepted by Ada"}},
		{"a user without a name", nil, accepted, nil, "c", []string{"Swarm-Reviewed: accepted by the user"}},
		{"rejected", ada, rejected, nil, "c", nil},
		{"an agent", ada, nil, &event.Appraised{Agent: "a1", Pass: true, By: "a12"}, "c", []string{"Swarm-Reviewed: passed by a12"}},
		{"an agent that found faults", ada, nil, &event.Appraised{Agent: "a1", By: "a12"}, "c", nil},
		{"a check only", ada, nil, &event.Appraised{Agent: "a1", Pass: true}, "c", nil},
		{
			"both", ada, accepted, &event.Appraised{Agent: "a1", Pass: true, By: "a12"}, "c",
			[]string{"Swarm-Reviewed: accepted by Ada", "Swarm-Reviewed: passed by a12"},
		},
		{"an earlier attempt", ada, accepted, nil, "old", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := &store.Agent{
				ID: "a1", Call: &task.Call{Agent: "claude", Label: "web", Input: &task.TypedAgentInput{Prompt: "x"}},
				Status: &task.Completed{Work: task.Work{Patch: &task.Patch{Base: "b", Commit: "c"}}}, Review: tt.review, Appraisal: tt.appraisal,
			}
			p, err := Style{User: tt.user}.Commit(Work{
				Run: "k3x9q2", Agent: a, Patch: &task.Patch{Base: "b", Commit: tt.commit}, Kind: "claude", Title: "web",
			})
			if err != nil {
				t.Fatal(err)
			}
			got := slices.DeleteFunc(p.Trailers, func(line string) bool { return !strings.HasPrefix(line, "Swarm-Reviewed: ") })
			if !slices.Equal(got, tt.want) {
				t.Errorf("trailers = %q, want %q", got, tt.want)
			}
		})
	}
}
