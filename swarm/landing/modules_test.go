package landing

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// TestLinked: a patch that adds a submodule whose commit does not exist is left
// out. An interrupted look is an error, and a patch that is gone is left to the
// merge.
func TestLinked(t *testing.T) {
	t.Parallel()
	g := newFixture(t, map[string]string{"f": "1\n"})
	nobody := strings.Repeat("1", len(g.base))
	plain := g.git("commit-tree", "-p", string(g.base), "-m", "plain", string(g.base)+"^{tree}")
	g.git("update-index", "--add", "--cacheinfo", "160000,"+nobody+",sub")
	linked := g.git("commit-tree", "-p", string(g.base), "-m", "linked", g.git("write-tree"))
	agent := func(id task.ID, commit string) *store.Agent {
		patch := &task.Patch{Base: string(g.base), Commit: commit}
		return &store.Agent{ID: id, Status: &task.Completed{Work: task.Work{Patch: patch}}}
	}
	r := ModulesRequest{
		Repo: g.q.Repo(), Stores: filepath.Join(g.dir, "stores"),
		Agents: []*store.Agent{agent("a1", plain), agent("a2", linked), agent("a3", nobody)},
	}
	may, not, err := Linked(t.Context(), r)
	if err != nil || len(may) != 2 || may[0].ID != "a1" || may[1].ID != "a3" {
		t.Errorf("Linked lets %v land, %v", may, err)
	}
	if len(not) != 1 || not[0].Agent.ID != "a2" || len(not[0].Missing) != 1 || not[0].Missing[0].Path != "sub" {
		t.Errorf("Linked leaves out %v", not)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := Linked(ctx, r); !errors.Is(err, context.Canceled) {
		t.Errorf("an interrupted look gives %v", err)
	}
}
