package landing

import (
	"strings"
	"testing"

	"agentswarm/merge"
	"agentswarm/swarm/event"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree/git"
)

// TestFindJoined: only patches that the branch has count, each once. An undo takes back
// the last landing, if the branch is where that left it.
func TestFindJoined(t *testing.T) {
	t.Parallel()
	lines := [][]string{{"base", "c1", "c2"}, {"base", "d1", "d2"}, {"base", "c1", "mine", "e2"}}
	last := func(commit string, agents ...task.ID) *store.Landing {
		return &store.Landing{Intended: event.Intended{New: commit, Agents: agents}}
	}
	for _, tt := range []struct {
		name   string
		landed string // agent and commit, in order
		tip    git.Hash
		last   *store.Landing
		want   string // landed; left; undoes
	}{
		{"as it left it", "a1:c1 a2:c2", "c2", last("c2", "a1", "a2"), "a1:c1 a2:c2;;a1 a2"},
		{"reset between", "a1:c1 a1:d1 a2:d2", "d2", last("d2", "a1", "a2"), "a1:d1 a2:d2;;a1 a2"},
		{"a commit between", "a1:c1 a2:e2", "e2", last("e2", "a2"), "a1:c1 a2:e2;;a2"},
		{"a commit since", "a1:c1", "mine", last("c1", "a1"), "a1:c1;;"},
		{"reset since", "a1:c1 a2:c2", "c1", last("c2", "a1", "a2"), "a1:c1;a2;"},
		{"deleted since", "a1:c1 a2:c2", "", last("c2", "a1", "a2"), ";a1 a2;"},
		{"it continues another", "a2:c2", "c2", last("c2", "a1", "a2"), "a2:c2;;a1 a2"},
		{"no landing stands", "a1:c1", "c1", nil, "a1:c1;;"},
	} {
		r := JoinedRequest{Tip: tt.tip, Last: tt.last, Contains: within(lines)}
		for word := range strings.FieldsSeq(tt.landed) {
			id, commit, _ := strings.Cut(word, ":")
			r.Landed = append(r.Landed, merge.Landed{ID: id, Commit: git.Hash(commit)})
		}
		j, err := FindJoined(r)
		var landed []string
		for _, l := range j.Landed {
			landed = append(landed, l.ID+":"+string(l.Commit))
		}
		got := strings.Join([]string{strings.Join(landed, " "), strings.Join(j.Left, " "), strings.Join(j.Undoes, " ")}, ";")
		if err != nil || got != tt.want {
			t.Errorf("%s: %q, %v; want %q", tt.name, got, err, tt.want)
		}
	}
}
