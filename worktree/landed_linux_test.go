package worktree

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"agentswarm/worktree/workspace"
)

// TestCapturesLeaveFewPacks holds that many captures at once leave a pack or two
// in the user's repository, and all that they captured.
func TestCapturesLeaveFewPacks(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	base := f.commit("a", "a\n", "d/b", "b\n")
	f.open()
	f.private(workspace.Overlay)
	const n = 50
	packs := func() int {
		all, err := filepath.Glob(filepath.Join(f.repo.CommonDir, "objects", "pack", "*.idx"))
		must(t, err)
		return len(all)
	}
	before := packs()
	requests := make([]CaptureRequest, n)
	for i := range requests {
		w := f.lease(base)
		f.write(w.Files(), "d/mine", fmt.Sprintln(i))
		requests[i] = f.captureRequest(w)
	}
	captured, errs := make([]*Capture, n), make([]error, n)
	var all sync.WaitGroup
	for i := range requests {
		all.Go(func() { captured[i], errs[i] = f.trees.Capture(t.Context(), requests[i]) })
	}
	all.Wait()
	must(t, errs...)
	must(t, f.trees.Close())
	if got := packs() - before; got > 2 {
		t.Errorf("%d captures left %d packs", n, got)
	}
	for i, c := range captured {
		if got := f.show(c.Commit, "d/mine"); got != fmt.Sprintln(i) {
			t.Errorf("capture %d holds %q", i, got)
		}
		if got := f.git("rev-parse", c.Ref); got != string(c.Commit) {
			t.Errorf("%s is %s, want %s", c.Ref, got, c.Commit)
		}
	}
	f.git("fsck", "--strict")
}
