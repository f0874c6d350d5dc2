package git

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// kept counts the .keep files that hold a text.
func (h *hiding) kept(text string) (n int) {
	h.Helper()
	files, err := filepath.Glob(filepath.Join(globEscape(filepath.Join(h.repo.CommonDir, "objects", "pack")), "*.keep"))
	h.ok(err)
	for _, f := range files {
		got, err := os.ReadFile(f)
		h.ok(err)
		if strings.Contains(string(got), text) {
			n++
		}
	}
	return n
}

// deleteRefs deletes the refs of a run.
func (h *hiding) deleteRefs(run string) {
	h.Helper()
	refs, err := h.repo.RefsUnder(h.Context(), OwnRefs+run+"/")
	h.ok(err)
	for ref, at := range refs {
		h.ok(h.repo.UpdateRefs(h.Context(), "m", RefUpdate{Ref: ref, Old: at}))
	}
}

// drop deletes the refs of runs, as gc does, and says so at a time.
func (h *hiding) drop(now time.Time, runs ...string) {
	h.Helper()
	for _, run := range runs {
		h.deleteRefs(run)
	}
	h.ok(h.repo.ReleasePacks(h.Context(), ReleaseRequest{Runs: runs, Now: now}))
}

// nothingLeft sees that no mark of ours is in the repository, and that housekeeping takes
// these commits.
func (h *hiding) nothingLeft(commits ...Hash) {
	h.Helper()
	if n := h.kept(keptMark); n != 0 {
		h.Errorf("%d packs are kept", n)
	}
	if _, err := os.Lstat(filepath.Join(h.repo.CommonDir, "worktrees")); err == nil {
		h.Errorf("left are worktrees:\n%s", h.git("worktree", "list"))
	}
	h.housekeeping()
	for _, c := range commits {
		if has, err := h.repo.HasCommit(h.Context(), c); err != nil || has {
			h.Errorf("the commit %s is there for ever: %v", c, err)
		}
	}
}

// TestReleasePacks holds that packs of a run that is gone are released, those that
// others need are not, and in the end none is left.
func TestReleasePacks(t *testing.T) {
	t.Parallel()
	h := newHiding(t)
	h.git("gc", "-q")
	user, err := filepath.Glob(filepath.Join(globEscape(filepath.Join(h.root, ".git", "objects", "pack")), "*.pack"))
	h.ok(err, os.WriteFile(strings.TrimSuffix(user[0], ".pack")+".keep", []byte("mine\n"), 0o600))
	h.pin("aaaaaa", h.base)
	a := h.capture("aaaaaa", 1, h.base, nil)
	h.pin("bbbbbb", h.base)
	b := h.capture("bbbbbb", 1, h.base, h.repo.Landed())
	// A run upon the capture of another run.
	h.again()
	h.pin("cccccc", a)
	c := h.capture("cccccc", 1, a, nil)
	h.deleteRefs("aaaaaa")
	h.drop(time.Now()) // another gc may see a capture whose ref is not there yet
	if n := h.kept(" aaaaaa"); n != 2 {
		t.Errorf("%d packs of a young run without refs are kept, want those of its base and its capture", n)
	}
	h.drop(time.Now(), "aaaaaa")
	if n := h.kept(" aaaaaa"); n != 0 {
		t.Errorf("%d packs of a run that is gone are kept", n)
	}
	h.git("commit", "-q", "--amend", "-m", "another")
	h.housekeeping()
	h.shown("bbbbbb", 1, b)
	h.shown("cccccc", 1, c)
	h.drop(time.Now(), "bbbbbb", "cccccc")
	if n := h.kept("mine"); n != 1 {
		t.Errorf("%d packs of the user are kept, want 1", n)
	}
	h.nothingLeft(b, c)
	// A run after that begins anew.
	h.again()
	now := Hash(h.git("rev-parse", "HEAD"))
	h.pin("dddddd", now)
	d := h.capture("dddddd", 1, now, nil)
	h.git("commit", "-q", "--amend", "-m", "third")
	h.housekeeping()
	h.shown("dddddd", 1, d)
}

// TestReleaseOldRun holds that a run which was killed before it had a ref holds its base
// for a day.
func TestReleaseOldRun(t *testing.T) {
	t.Parallel()
	h := newHiding(t)
	h.ok(h.repo.own.hold(t.Context(), "aaaaaa", h.base))
	h.git("commit", "-q", "--amend", "-m", "another")
	h.drop(time.Now())
	h.housekeeping()
	h.git("rev-list", "--objects", string(h.base))
	h.drop(time.Now().Add(2 * keepAge))
	h.nothingLeft(h.base)
}

// TestJoinMany holds that many runs do not leave many packs, and that each capture goes
// with its run.
func TestJoinMany(t *testing.T) {
	t.Parallel()
	h := newHiding(t)
	var got []Hash
	const many = 8
	for i := range 2*many + 2 {
		run := fmt.Sprintf("run%03d", i)
		h.base = h.commit("a", fmt.Sprint(i))
		h.pin(run, h.base)
		got = append(got, h.capture(run, 1, h.base, h.repo.Landed()))
	}
	h.ok(h.repo.own.locked(func() error { return h.repo.own.joinMany(t.Context(), many) }))
	if n := h.kept(keptMark); n > many {
		t.Errorf("%d packs are kept, want %d at most", n, many)
	}
	h.git("reset", "-q", "--hard", "HEAD~10")
	h.git("commit", "-q", "--amend", "-m", "another")
	h.housekeeping()
	h.again()
	for i, c := range got {
		h.shown(fmt.Sprintf("run%03d", i), 1, c)
	}
	// All runs but two go, long after.
	var gone []string
	for i := range got {
		if i%9 != 7 {
			gone = append(gone, fmt.Sprintf("run%03d", i))
		}
	}
	h.drop(time.Now().Add(2*keepAge), gone...)
	h.housekeeping()
	for i, c := range got {
		has, err := h.repo.HasCommit(t.Context(), c)
		if want := i%9 == 7; err != nil || has != want {
			t.Errorf("capture %d is there: %v, %v, want %v", i, has, err, want)
		}
	}
	h.shown("run007", 1, got[7])
	h.shown("run016", 1, got[16])
}
