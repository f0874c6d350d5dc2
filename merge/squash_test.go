package merge

import (
	"testing"

	"agentswarm/worktree/git"
)

// TestSquash: a single commit of all patches that land, with the trailers of each
// once. Its message leaves out the patches that conflict.
func TestSquash(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	base := f.commit(map[string]string{"a": "1\n", "b": "1\n"})
	patches := []Patch{
		f.patch("a1", base, map[string]string{"a": "2\n"}),
		f.patch("a2", base, map[string]string{"b": "2\n"}),
		f.patch("a3", base, map[string]string{"a": "3\n"}),
	}
	tests := []struct {
		name string
		give Squash
		want string
	}{
		{
			"by its patches", Squash{},
			lines("robot (m1)", "change by a1", "", "* change by a1", "* change by a2", "",
				"Swarm-Run: k3x9q2", "Swarm-Agent: a1", "Swarm-Agent: a2", "", ""),
		},
		{
			"as it was said", Squash{Subject: "all", Body: "why", Author: committer, Trailers: []string{"Refs: #1"}},
			lines("A User", "all", "", "why", "", "Refs: #1", "Swarm-Run: k3x9q2", "Swarm-Agent: a1", "Swarm-Agent: a2", "", ""),
		},
	}
	for _, tt := range tests {
		out, err := Merge(t.Context(), f.q, Request{Onto: base, Patches: patches, Committer: committer, Squash: &tt.give})
		f.must(err)
		if len(out.Landed) != 2 || len(out.Conflicts) != 1 || out.Landed[0].Commit != out.Commit || out.Landed[1].Commit != out.Commit {
			t.Fatalf("%s: outcome is %+v, want two in one commit and a conflict", tt.name, out)
		}
		got, err := f.q.Run(t.Context(), git.Cmd{Args: []string{"log", "--format=%an%n%B", string(base) + ".." + string(out.Commit)}})
		f.must(err)
		if string(got)+"\n" != tt.want && string(got) != tt.want {
			t.Errorf("%s: log is\n%q\nwant\n%q", tt.name, got, tt.want)
		}
		if each := f.merge(base, patches...); each.Tree != out.Tree {
			t.Errorf("%s: the tree is another than that of a commit for each", tt.name)
		}
	}
}
