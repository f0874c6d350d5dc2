package landing

import (
	"testing"

	"agentswarm/swarm/task"
	"agentswarm/worktree/git"
)

func TestFindOverlap(t *testing.T) {
	t.Parallel()
	changed := func(id task.ID, paths ...string) Changed {
		c := Changed{Agent: id}
		for _, p := range paths {
			c.Changes = append(c.Changes, git.Change{Path: p})
		}
		return c
	}
	for _, tt := range []struct {
		name string
		give []Changed
		want *Overlap
	}{
		{"none", nil, nil},
		{"apart", []Changed{changed("a1", "a", "b"), changed("a2", "c")}, nil},
		{"the same agent", []Changed{changed("a1", "a"), changed("a1", "a")}, nil},
		{"one file", []Changed{changed("a1", "a", "b"), changed("a2", "c"), changed("a3", "b")}, &Overlap{"a1", "a3", "b"}},
	} {
		got := FindOverlap(tt.give)
		if (got == nil) != (tt.want == nil) || got != nil && *got != *tt.want {
			t.Errorf("%s: FindOverlap = %v, want %v", tt.name, got, tt.want)
		}
	}
}
