package git

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// hiding is a repository whose refs of ours are elsewhere.
type hiding struct {
	*fixture
	state  string
	repo   *Repo
	frozen *Frozen
	base   Hash
}

func newHiding(t *testing.T, initArgs ...string) *hiding {
	t.Helper()
	g := newFixture(t, initArgs...)
	h := &hiding{fixture: g, state: filepath.Join(g.home, "state"), base: g.commit("a", "a\n", "deep/b", "b\n")}
	h.again()
	f, err := h.repo.Freeze(t.Context(), filepath.Join(g.home, "frozen"))
	g.ok(err)
	h.frozen = f
	return h
}

// again is a new process that looks at the repository.
func (h *hiding) again() {
	h.Helper()
	h.repo = h.fixture.repo()
	h.repo.HideRefs(filepath.Join(h.state, "refs.git"))
	if h.frozen != nil {
		h.frozen = h.repo.Thaw(h.frozen.Dir)
	}
}

// pin holds a base, as the start of a run does.
func (h *hiding) pin(run string, at Hash) {
	h.Helper()
	h.ok(h.repo.UpdateRefs(h.Context(), "m", RefUpdate{Ref: OwnRefs + run + "/base", New: at}))
}

// capture publishes a commit as an agent's capture, packed by git or in process.
func (h *hiding) capture(run string, n int, base Hash, landed *Landed) Hash {
	h.Helper()
	q, err := h.frozen.Quarantine(filepath.Join(h.TempDir(), "objects"))
	h.ok(err)
	ref := fmt.Sprintf("%s%s/a/a1/%d", OwnRefs, run, n)
	p := PublishRequest{Have: []Hash{base}, Message: "m", Plain: true, Landed: landed}
	if landed == nil || !q.CanPack() {
		c := h.newCommit(q, base, "n", fmt.Sprintf("only here %s %d\n", run, n))
		p.Refs = []RefUpdate{{Ref: ref, New: c}}
		h.ok(q.Gather(h.Context(), c, base))
	} else {
		pack, err := q.Pack()
		h.ok(err)
		blob, err := pack.Blob(fmt.Appendf(nil, "only here %s %d\n", run, n))
		h.ok(err)
		tree, err := pack.Tree([]TreeEntry{{Name: "n", Mode: "100644", ID: blob}})
		h.ok(err)
		c, err := pack.Commit(CommitRequest{
			Tree: tree, Parents: []Hash{base}, Message: "m\n", Author: Swarm(time.Unix(1, 0)), Committer: Swarm(time.Unix(1, 0)),
		})
		h.ok(err, pack.Close())
		p.Refs, p.Pack = []RefUpdate{{Ref: ref, New: c}}, pack
	}
	h.ok(q.Publish(h.Context(), p))
	if p.Pack != nil {
		h.ok(p.Pack.Discard())
	}
	h.ok(q.Discard())
	return p.Refs[0].New
}

// shown sees that a ref of ours leads to a whole history, with the text of its capture.
func (h *hiding) shown(run string, n int, want Hash) {
	h.Helper()
	ref := fmt.Sprintf("%s%s/a/a1/%d", OwnRefs, run, n)
	at, err := h.repo.Ref(h.Context(), ref)
	if err != nil || at != want {
		h.Fatalf("%s = %s, %v, want %s", ref, at, err, want)
	}
	h.git("rev-list", "--objects", "--quiet", string(at))
	if got, want := h.git("cat-file", "blob", string(at)+":n"), fmt.Sprintf("only here %s %d", run, n); got != want {
		h.Errorf("%s holds %q, want %q", ref, got, want)
	}
}

// invisible sees that the user's git shows nothing of ours.
func (h *hiding) invisible(ours ...Hash) {
	h.Helper()
	for _, args := range [][]string{
		{"log", "--all", "--format=%H %D"}, {"for-each-ref"}, {"show-ref"}, {"rev-list", "--all", "--reflog"}, {"ls-remote", "."},
	} {
		out := h.git(args...)
		for _, c := range ours {
			if strings.Contains(out, string(c)) || strings.Contains(out, OwnRefs) {
				h.Errorf("git %s shows a capture:\n%s", strings.Join(args, " "), out)
			}
		}
	}
	mirror := filepath.Join(h.TempDir(), "mirror.git")
	h.in(h.home, "init", "-q", "--bare", "--object-format="+h.repo.ObjectFormat, mirror)
	h.git("push", "-q", "--mirror", mirror)
	if refs := h.in(mirror, "for-each-ref"); strings.Contains(refs, OwnRefs) {
		h.Errorf("push --mirror brought %s", refs)
	}
}

// cleanings are commands of the user that remove objects git takes for garbage.
func cleanings() map[string][][]string {
	expire := []string{"reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all"}
	return map[string][][]string{
		"gc":             {expire, {"gc", "-q", "--prune=now", "--aggressive"}},
		"repack -adf":    {expire, {"repack", "-q", "-adf"}, {"prune", "--expire=now"}},
		"repack -Ad":     {expire, {"repack", "-q", "-Ad", "--unpack-unreachable=now"}, {"prune-packed", "-q"}},
		"prune":          {expire, {"prune", "--expire=now"}},
		"pack-refs":      {{"pack-refs", "--all", "--prune"}, expire, {"gc", "-q", "--prune=now"}},
		"midx":           {expire, {"multi-pack-index", "write"}, {"multi-pack-index", "repack"}, {"multi-pack-index", "expire"}, {"gc", "-q", "--prune=now"}},
		"keep in packs":  {expire, {"-c", "repack.packKeptObjects=true", "gc", "-q", "--prune=now"}},
		"loose objects":  {expire, {"maintenance", "run", "--task=loose-objects", "--task=incremental-repack"}, {"prune", "--expire=now"}},
		"worktree prune": {{"worktree", "prune"}, expire, {"gc", "-q", "--prune=now"}},
		// For newer versions of git.
		"reflog drop": {{"reflog", "drop", "--all"}, {"gc", "-q", "--prune=now"}},
	}
}

// knows reports whether this git has a command. It asks git about a command that came
// after 2.39.
func (h *hiding) knows(args []string) bool {
	if args[0]+" "+args[1] != "reflog drop" {
		return true
	}
	cmd := exec.Command("git", args[0], args[1], "-h")
	cmd.Dir = h.root
	out, _ := cmd.CombinedOutput() // usage is an error, too
	return strings.Contains(string(out), "usage: git "+args[0]+" "+args[1])
}

// TestHiddenCapturesSurvive holds that the user's git neither shows nor loses a capture or
// its base, also after the user dropped the base.
func TestHiddenCapturesSurvive(t *testing.T) {
	t.Parallel()
	for name, commands := range cleanings() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHiding(t)
			h.git("gc", "-q") // a pack of the user's
			older := h.base
			h.base = h.commit("a", "second\n") // loose objects
			h.pin("aaaaaa", h.base)
			landed := h.repo.Landed()
			got := []Hash{h.capture("aaaaaa", 1, h.base, nil), h.capture("aaaaaa", 2, h.base, landed)}
			got = append(got, h.capture("aaaaaa", 3, got[1], landed)) // upon another capture
			h.ok(landed.Gather())
			// The next run begins at a commit that the user drops, too.
			h.again()
			next := h.commit("c", "third\n")
			h.pin("bbbbbb", next)
			got = append(got, h.capture("bbbbbb", 4, next, nil))
			h.git("reset", "-q", "--hard", string(older))
			h.git("commit", "-q", "--amend", "-m", "another")
			for _, args := range commands {
				if h.knows(args) {
					h.git(args...)
				}
			}
			h.git("fsck", "--strict", "--no-dangling")
			h.invisible(append(got, h.base)...)
			h.again()
			for i, c := range got {
				h.shown([]string{"aaaaaa", "aaaaaa", "aaaaaa", "bbbbbb"}[i], i+1, c)
			}
			h.git("checkout", "-q", "-b", "landed", string(got[2])) // it lands
			h.git("fsck", "--strict", "--no-dangling")
		})
	}
}

// TestHiddenFormats holds the same for other formats of a repository.
func TestHiddenFormats(t *testing.T) {
	t.Parallel()
	h := newHiding(t, "--object-format=sha256")
	h.pin("aaaaaa", h.base)
	c := h.capture("aaaaaa", 1, h.base, h.repo.Landed())
	h.git("commit", "-q", "--amend", "-m", "another")
	h.housekeeping()
	h.invisible(c)
	h.again()
	h.shown("aaaaaa", 1, c)
}

// TestHiddenElsewhere holds the same where the state is on another file system.
func TestHiddenElsewhere(t *testing.T) {
	t.Parallel()
	state, err := os.MkdirTemp("/dev/shm", "swarm-state-")
	if err != nil {
		t.Skipf("no other file system: %v", err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(state); err != nil {
			t.Error(err)
		}
	})
	h := newHiding(t)
	h.state = state
	h.again()
	h.pin("aaaaaa", h.base)
	next := h.commit("c", "another base\n")
	h.pin("bbbbbb", next)
	c, d := h.capture("aaaaaa", 1, h.base, h.repo.Landed()), h.capture("bbbbbb", 1, next, nil)
	h.git("reset", "-q", "--hard", "HEAD^")
	h.git("commit", "-q", "--amend", "-m", "another")
	h.housekeeping()
	h.again()
	h.shown("aaaaaa", 1, c)
	h.shown("bbbbbb", 1, d)
}

// TestEarlierRefs holds that refs which an older version made in the repository are
// read, and go with their run.
func TestEarlierRefs(t *testing.T) {
	t.Parallel()
	h := newHiding(t)
	const ref, base = OwnRefs + "aaaaaa/a/a1/1", OwnRefs + "aaaaaa/base"
	h.git("update-ref", base, string(h.base))
	c := Hash(h.git("commit-tree", "-p", "HEAD", "-m", "x", "HEAD^{tree}"))
	h.git("update-ref", ref, string(c))
	ctx := t.Context()
	if at, err := h.repo.Ref(ctx, ref); err != nil || at != c || h.repo.NoRef(ref) {
		t.Errorf("Ref = %s, %v; NoRef = %v", at, err, h.repo.NoRef(ref))
	}
	if at, err := h.repo.Commit(ctx, ref+"^"); err != nil || at != h.base {
		t.Errorf("Commit = %s, %v", at, err)
	}
	var moved *RefMovedError
	if err := h.repo.UpdateRefs(ctx, "m", RefUpdate{Ref: ref, New: h.base}); !errors.As(err, &moved) {
		t.Errorf("the ref is made again: %v", err)
	}
	second := h.capture("aaaaaa", 2, h.base, nil)
	all, err := h.repo.RefsUnder(ctx, OwnRefs+"aaaaaa/")
	if err != nil || len(all) != 3 || all[ref] != c || all[OwnRefs+"aaaaaa/a/a1/2"] != second {
		t.Errorf("RefsUnder = %v, %v", all, err)
	}
	if at, err := h.repo.Commit(ctx, OwnRefs+"aaaaaa/a/a1/2^"); err != nil || at != h.base {
		t.Errorf("Commit = %s, %v", at, err)
	}
	var gone []RefUpdate
	for name, at := range all {
		gone = append(gone, RefUpdate{Ref: name, Old: at})
	}
	h.ok(h.repo.UpdateRefs(ctx, "m", gone...))
	if all, err := h.repo.RefsUnder(ctx, OwnRefs); err != nil || len(all) > 0 {
		t.Errorf("left are %v, %v", all, err)
	}
	if out := h.git("for-each-ref", OwnRefs); out != "" {
		t.Errorf("left are %s", out)
	}
}
