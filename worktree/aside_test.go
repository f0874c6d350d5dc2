package worktree

import (
	"slices"
	"testing"

	"agentswarm/worktree/workspace"
)

// TestCaptureAside: a capture that is told of a file put aside omits it, and
// the file stays, unless it was changed.
func TestCaptureAside(t *testing.T) {
	t.Parallel()
	eachOf(t, inGate(t, workspace.Overlay, workspace.Linked), func(t *testing.T, b workspace.Backend) {
		f := fixtureOn(t, b)
		base := f.commit("b.md", "theirs")
		f.open()
		w := f.lease(base)
		ours := &workspace.Aside{Name: "b.md", Text: []byte("ours")}
		for _, want := range []string{"b-2.md", "b-3.md"} {
			if name, err := w.PutAside(ours.Name, ours.Text); err != nil || name != want {
				t.Fatalf("PutAside = %q, %v, want %s", name, err, want)
			}
		}
		given := func(r *CaptureRequest) { r.Aside, r.Live = ours, true }
		if c := f.part(w, "1", given); c.Changed {
			t.Errorf("what was put aside is captured: %v", c.Files)
		}
		f.write(f.at(w), "b.md", "ours", "b-3.md", "mine", "new", "n")
		c := f.part(w, "2", given)
		if got := f.files(c.Tree); !slices.Equal(got, []string{"100644 b-3.md", "100644 b.md", "100644 new"}) {
			t.Errorf("captured is %q", got)
		}
		if got := f.show(c.Tree, "b.md"); got != "ours" {
			t.Errorf("the workspace's own file is captured as %q", got)
		}
		if all := f.part(w, "3", func(*CaptureRequest) {}); len(f.files(all.Tree)) != 4 {
			t.Errorf("what was put aside is gone: %q", f.files(all.Tree))
		}
	})
}
