package git

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// publishAll has the remote-tracking branch of the user's be at HEAD.
func (h *hiding) publishAll() { h.Helper(); h.git("update-ref", "refs/remotes/origin/main", "HEAD") }

// pinned are the commits that are pinned.
func (h *hiding) pinned() []Hash {
	h.Helper()
	pins, err := h.repo.own.pins()
	h.ok(err)
	return standing(pins)
}

// TestPins: a published base is pinned and not copied. A single pin is enough for a
// branch. A pin is removed with the last run that needs it.
func TestPins(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"--object-format=sha256"}, {"--ref-format=reftable"}} {
		t.Run(strings.Join(args, ""), func(t *testing.T) {
			t.Parallel()
			if !initKnows(t, args) {
				t.Skipf("this git knows no %s", args)
			}
			h := newHiding(t, args...)
			h.publishAll()
			first := h.base
			h.pin("aaaaaa", first)
			if got := h.pinned(); !slices.Equal(got, []Hash{first}) || h.kept(keptMark) != 0 {
				t.Errorf("pinned are %v, and %d packs are kept, want %s and none", got, h.kept(keptMark), first)
			}
			a := h.capture("aaaaaa", 1, first, h.repo.Landed())
			second := h.commit("b", "second\n")
			h.publishAll()
			h.pin("bbbbbb", second)
			if got := h.pinned(); !slices.Equal(got, []Hash{second}) {
				t.Errorf("pinned are %v, want %s alone", got, second)
			}
			b := h.capture("bbbbbb", 1, second, nil)
			h.invisible(a, b)
			// The user drops all of it.
			h.git("checkout", "-q", "--orphan", "other")
			h.git("commit", "-q", "-m", "other")
			h.git("branch", "-q", "-D", "main")
			h.git("update-ref", "-d", "refs/remotes/origin/main")
			h.git("worktree", "prune", "--expire=now")
			h.housekeeping()
			h.git("fsck", "--strict", "--no-dangling")
			h.again()
			h.shown("aaaaaa", 1, a)
			h.shown("bbbbbb", 1, b)
			h.drop(time.Now(), "bbbbbb")
			if got := h.pinned(); !slices.Equal(got, []Hash{first}) {
				t.Errorf("pinned are %v, want %s", got, first)
			}
			h.housekeeping()
			h.shown("aaaaaa", 1, a)
			h.drop(time.Now(), "aaaaaa")
			h.nothingLeft(a, b, first, second)
			h.git("fsck", "--strict", "--no-dangling")
		})
	}
}

// initKnows reports whether this git can make a repository with options.
func initKnows(t *testing.T, args []string) bool {
	t.Helper()
	_, err := New(os.Environ()).Run(t.Context(), Cmd{
		Args: append(append([]string{"init", "-q", "--template="}, args...), filepath.Join(t.TempDir(), "r")),
	})
	return err == nil
}

// TestYoungCommitsAreCopied holds that commits which the user may amend do not become
// visible pins: they are copied, and the published commit below them is pinned.
func TestYoungCommitsAreCopied(t *testing.T) {
	t.Parallel()
	h := newHiding(t)
	h.publishAll()
	published := h.base
	h.commit("b", "second\n")
	h.base = h.commit("b", "third\n")
	h.pin("aaaaaa", h.base)
	if got := h.pinned(); !slices.Equal(got, []Hash{published}) {
		t.Errorf("pinned are %v, want %s", got, published)
	}
	c := h.capture("aaaaaa", 1, h.base, h.repo.Landed())
	h.git("reset", "-q", "--hard", string(published))
	h.commit("b", "another\n")
	h.housekeeping()
	h.invisible(c, h.base)
	h.again()
	h.shown("aaaaaa", 1, c)
}

// TestLongHistoryIsPinned holds that a long history without a remote is not copied whole,
// and that large objects are not copied.
func TestLongHistoryIsPinned(t *testing.T) {
	t.Parallel()
	h := newHiding(t)
	var in strings.Builder
	for i := range youngCommits + 10 {
		fmt.Fprintf(&in, "commit refs/heads/main\ncommitter U <u@example.com> %d +0000\ndata 1\nm", i+1)
		if i == 0 {
			fmt.Fprintf(&in, "\nfrom %s", h.base)
		}
		fmt.Fprintf(&in, "\nM 100644 inline f\ndata <<E\n%d\nE\n\n", i)
	}
	h.fastImport(in.String())
	h.pin("aaaaaa", Hash(h.git("rev-parse", "main")))
	if got, want := h.pinned(), []Hash{Hash(h.git("rev-parse", "main~"+fmt.Sprint(youngCommits)))}; !slices.Equal(got, want) {
		t.Errorf("pinned are %v, want %v", got, want)
	}
	h.git("reset", "-q", "--hard")
	noise := make([]byte, youngBytes+1)
	state := uint64(1)
	for i := range noise {
		state = state*6364136223846793005 + 1442695040888963407
		noise[i] = byte(state >> 56)
	}
	large := h.commit("large", string(noise))
	h.pin("bbbbbb", large)
	if got := h.pinned(); !slices.Equal(got, []Hash{large}) {
		t.Errorf("pinned are %v, want %s", got, large)
	}
	h.git("reset", "-q", "--hard", "HEAD~5")
	h.housekeeping()
	h.again()
	h.git("rev-list", "--objects", "--quiet", string(large))
	// Its pin shows, so that a run begins upon a commit that shows. It is copied for that run.
	h.pin("cccccc", large)
}

// fastImport imports commits.
func (h *hiding) fastImport(text string) {
	h.Helper()
	_, err := h.repo.Run(h.Context(), Cmd{Args: []string{"fast-import", "--quiet"}, Stdin: strings.NewReader(text), Writes: true})
	h.ok(err)
}

// TestPinsHeal holds that a pin which the user removed is made again with the next
// capture, and that a damaged object that no run needs is not in the way.
func TestPinsHeal(t *testing.T) {
	t.Parallel()
	h := newHiding(t)
	h.publishAll()
	h.write("damaged", "x\n")
	id := h.git("hash-object", "-w", "damaged")
	path := filepath.Join(h.root, ".git", "objects", id[:2], id[2:])
	h.ok(os.Chmod(path, 0o600), os.WriteFile(path, []byte("nonsense"), 0o600), os.Remove(filepath.Join(h.root, "damaged")))
	h.pin("aaaaaa", h.base)
	h.ok(os.Remove(path))
	a := h.capture("aaaaaa", 1, h.base, h.repo.Landed())
	pins, err := h.repo.own.pins()
	h.ok(err)
	h.git("worktree", "remove", "--force", "--force", filepath.Join(pins[0].dir, "no files"))
	if got := h.pinned(); len(got) > 0 {
		t.Fatalf("pinned are %v after the user removed the pin", got)
	}
	b := h.capture("aaaaaa", 2, h.base, h.repo.Landed())
	h.git("update-ref", "-d", "refs/remotes/origin/main")
	h.git("commit", "-q", "--amend", "-m", "another")
	h.housekeeping()
	h.shown("aaaaaa", 1, a)
	h.shown("aaaaaa", 2, b)
	// A base that is lost for good is not in the way of others.
	h.ok(h.repo.own.removePin(pins[0].dir))
	h.housekeeping()
	h.again()
	next := Hash(h.git("rev-parse", "HEAD"))
	h.pin("bbbbbb", next)
	c := h.capture("bbbbbb", 1, next, h.repo.Landed())
	h.git("commit", "-q", "--amend", "-m", "third")
	h.housekeeping()
	h.shown("bbbbbb", 1, c)
}

// TestDamagedHistoryIsPinned holds that a run can begin upon a commit whose history has
// lost an object, and that a commit which is not there is refused.
func TestDamagedHistoryIsPinned(t *testing.T) {
	t.Parallel()
	h := newHiding(t)
	lost := h.git("rev-parse", "HEAD:a")
	next := h.commit("a", "another\n")
	h.ok(os.Remove(filepath.Join(h.root, ".git", "objects", lost[:2], lost[2:])))
	h.pin("aaaaaa", next)
	if got := h.pinned(); !slices.Equal(got, []Hash{next}) {
		t.Errorf("pinned are %v, want %s", got, next)
	}
	none := Hash(strings.Repeat("1", h.repo.hexLen()))
	err := h.repo.UpdateRefs(t.Context(), "m", RefUpdate{Ref: OwnRefs + "bbbbbb/base", New: none})
	if err == nil || slices.Contains(h.pinned(), none) {
		t.Errorf("a missing commit is held: %v, %v", err, h.pinned())
	}
}

// TestTwoStates: runs of a state folder do not release those of another.
func TestTwoStates(t *testing.T) {
	t.Parallel()
	h := newHiding(t)
	h.publishAll()
	h.pin("aaaaaa", h.base)
	c := h.capture("aaaaaa", 1, h.base, nil)
	other := h.fixture.repo()
	other.HideRefs(filepath.Join(h.home, "another state", "refs.git"))
	h.ok(other.UpdateRefs(t.Context(), "m", RefUpdate{Ref: OwnRefs + "zzzzzz/base", New: h.base}))
	refs, err := other.RefsUnder(t.Context(), OwnRefs)
	if _, mine := refs[OwnRefs+"zzzzzz/base"]; err != nil || !mine || len(refs) != 1 {
		t.Errorf("another state sees %v, %v", refs, err)
	}
	h.ok(other.UpdateRefs(t.Context(), "m", RefUpdate{Ref: OwnRefs + "zzzzzz/base", Old: h.base}))
	h.ok(other.ReleasePacks(t.Context(), ReleaseRequest{Runs: []string{"zzzzzz"}, Now: time.Now()}))
	h.git("update-ref", "-d", "refs/remotes/origin/main")
	h.git("commit", "-q", "--amend", "-m", "another")
	h.housekeeping()
	h.again()
	h.shown("aaaaaa", 1, c)
}
