package worktree

import (
	"os"
	"testing"
	"time"

	"agentswarm/worktree/git"
	"agentswarm/worktree/workspace"
)

// TestFileTimes: a path has different times in workspaces of commits in which it
// has different content. A changed file is later than those that are as they were,
// and the same content has the same time again.
func TestFileTimes(t *testing.T) {
	t.Parallel()
	for _, kind := range []workspace.Backend{workspace.Overlay, workspace.Copied} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			first := f.commit("data", "good\n", "same", "same\n", "d/data", "good\n")
			bad := f.commit("data", "evil\n")
			worse := f.commit("data", "worse", "d/new", "evil\n")
			again := f.commit("data", "evil\n", "d/new", "gone\n")
			whole := f.commit("data", "worst", ".gitattributes", "*.x text\n") // no layer of another base
			f.open()
			if kind == workspace.Overlay {
				f.private(kind)
			} else {
				f.kind = kind
			}
			times := map[git.Hash]map[string]time.Time{}
			for _, commit := range []git.Hash{first, bad, worse, again, whole} {
				w := f.lease(commit)
				times[commit] = map[string]time.Time{}
				for _, path := range []string{"data", "same", "d/data"} {
					file, there := w.Find(path)
					at, err := os.Lstat(file)
					must(t, err)
					if !there {
						t.Fatalf("no %s in a workspace of %s", path, commit.Short())
					}
					times[commit][path] = at.ModTime()
				}
			}
			for _, tt := range []struct {
				name  string
				a, b  time.Time
				equal bool
			}{
				{"other content", times[first]["data"], times[bad]["data"], false},
				{"other content in two layers", times[bad]["data"], times[worse]["data"], false},
				{"other content in two whole bases", times[first]["data"], times[whole]["data"], false},
				{"other content in a layer and a whole base", times[bad]["data"], times[whole]["data"], false},
				{"the same content in two layers", times[bad]["data"], times[again]["data"], true},
				{"an unchanged file", times[first]["same"], times[worse]["same"], true},
				{"two files of a whole base", times[first]["data"], times[first]["d/data"], true},
			} {
				if tt.a.Equal(tt.b) != tt.equal {
					t.Errorf("%s: the times are %v and %v", tt.name, tt.a, tt.b)
				}
			}
			if !times[bad]["data"].After(times[bad]["same"]) {
				t.Errorf("a changed file is from %v, an unchanged one from %v", times[bad]["data"], times[bad]["same"])
			}
		})
	}
}
