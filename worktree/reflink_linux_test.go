package worktree

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"agentswarm/internal/testing/campaign"
	"agentswarm/worktree/baseline"
	"agentswarm/worktree/bases"
	"agentswarm/worktree/include"
	"agentswarm/worktree/precheck"
	"agentswarm/worktree/workspace"
)

// TestFileSystems runs the tests of clones on disks that clone.
func TestFileSystems(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"btrfs", "xfs"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			all := map[string]string{"^TestReflink": "TestReflinkLease"}
			if kind == "btrfs" || campaign.Rounds(t, 0, 1) == 1 {
				all["^TestOperations$/^reflink$"] = "TestOperations/reflink"
			}
			for tests, one := range all {
				out, err := onOwnDisk(t, kind, tests)
				if err != nil || !strings.Contains(out, "--- PASS: "+one+" ") {
					t.Errorf("%s: %v:\n%s", tests, err, failures(out))
				}
			}
		})
	}
}

// clones skips a test where the temporary folders are on a disk that does not
// clone.
func clones(t *testing.T, f *fixture) {
	t.Helper()
	if err := precheck.Refuses(workspace.Reflink, precheck.Surroundings{State: f.state}); err != nil {
		t.Skip(err)
	}
}

func TestReflinkLease(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"in place", "at the path of the checkout"} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			must(t, os.Symlink("/nowhere", filepath.Join(f.root, "ln")))
			f.script(filepath.Join(f.root, "run"), "1\n")
			base := f.commit("big", strings.Repeat("0123456789", 2<<20), "d/e/f", "f\n", "empty", "",
				`a b:c,d\e`, "o\n", ".gitignore", "m/\n", include.FileName, "m/\n")
			f.write(f.root, "m/x", "along\n")
			f.open()
			clones(t, f)
			f.private(workspace.Reflink)
			f.include(base)
			if at == "in place" {
				f.trees.At = ""
			}
			before := listing(t, f.repo.CommonDir)
			f.lease(base)
			w := f.lease(base)
			// Extents prove a clone. The free space of the disk does not, as
			// other processes write to the disk.
			kept := extentsOf(t, filepath.Join(w.Files(), "big"))
			if len(kept) == 0 || slices.ContainsFunc(kept, func(flags uint32) bool { return flags&extentShared == 0 }) {
				t.Errorf("a clone of 20 MB shares nothing: its extents are %#x", kept)
			}
			tree, err := f.repo.TreeOf(t.Context(), base)
			must(t, err)
			second := bases.WholeTime(tree).Unix()
			want := fmt.Sprintf("o\nalong\nf\n%d\n%d", second, second)
			got := f.inside(w, `
				test "$(git diff-files)" = ""; test "$(git status --porcelain)" = ""
				test -x run; test "$(readlink ln)" = /nowhere; cat 'a b:c,d\e' m/x d/e/f
				stat -c %Y big d/e/f; git mv d h; echo more >> big; git commit -qam x; git gc -q
			`)
			if got != want {
				t.Errorf("inside: %q", got)
			}
			// Where nothing keeps it from that, git notes the use of an object it has.
			if d := differ(before, listing(t, f.repo.CommonDir)); d != "" && w.At != "" {
				t.Errorf("the repository was touched:\n%s", d)
			}
			if text, err := os.ReadFile(filepath.Join(f.lease(base).Files(), "big")); err != nil || len(text) != 20<<20 {
				t.Errorf("a sibling has %d bytes, %v", len(text), err)
			}
			p, err := baseline.ReadPlaced(w.PlacedFile())
			if err != nil || !p.Included("m/x") {
				t.Errorf("placed: %v, %v", p, err)
			}
			must(t, f.trees.Drop(t.Context(), *w))
			f.clean(w)
		})
	}
}

// TestCloneFails holds that nothing is left where a file cannot be cloned.
func TestCloneFails(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	base := f.commit("a", "a\n")
	f.open()
	if precheck.Refuses(workspace.Reflink, precheck.Surroundings{State: f.state}) == nil {
		t.Skip("this disk clones")
	}
	f.private(workspace.Reflink)
	var errno syscall.Errno
	if _, err := f.trees.Lease(t.Context(), f.leaseRequest("a1.1", base)); !errors.As(err, &errno) {
		t.Errorf("Lease = %v, want what the kernel says", err)
	}
	for _, path := range []string{f.leaseRequest("a1.1", base).Saved, filepath.Join(f.trees.Dir, "a1.1")} {
		if _, err := os.Lstat(path); err == nil {
			t.Errorf("%s is left", path)
		}
	}
}
