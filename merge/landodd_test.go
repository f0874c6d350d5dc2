package merge

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestLandSparse: a sparse checkout stays as sparse as it is.
func TestLandSparse(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	base := f.ground()
	to := f.work(base)
	f.git("sparse-checkout", "set", "--cone", "mine")
	f.dirt()
	mine := f.mine()
	_, err := Land(t.Context(), f.landing(base, to))
	f.must(err)
	f.wantAt(to)
	f.wantGone(filepath.Join(f.dir, "e"))
	if got := f.mine(); got != mine {
		t.Errorf("the user's side changed from\n%s\nto\n%s", mine, got)
	}
}

// TestLandFilters: files are written as the user's git would write them, and
// no hook runs.
func TestLandFilters(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.git("config", "core.autocrlf", "true")
	f.git("config", "filter.up.smudge", "tr a-z A-Z")
	f.git("config", "filter.up.clean", "tr A-Z a-z")
	f.git("config", "core.hooksPath", f.home)
	f.open()
	f.write(map[string]string{".gitattributes": "*.up filter=up\n", "a": "1\n", "x.up": "ONE\n"})
	f.git("add", "-A")
	f.git("commit", "-q", "-m", "base")
	f.git("checkout", "-q", "-f", "HEAD", "--", ".")
	base := f.head()
	to := f.commitPlain(base, map[string]string{"a": "2\n", "x.up": "two\n"})
	hook := "x:#!/bin/sh\ntouch '" + f.home + "/hooked'\n"
	f.writeIn(f.home, map[string]string{
		"post-checkout": hook, "post-index-change": hook, "reference-transaction": hook,
	})
	_, err := Land(t.Context(), f.landing(base, to))
	f.must(err)
	f.wantGone(filepath.Join(f.home, "hooked"))
	f.wantAt(to)
	if got := f.git("status", "--porcelain"); got != "" {
		t.Errorf("status is %q, want clean", got)
	}
	for name, want := range map[string]string{"a": "2\r\n", "x.up": "TWO\r\n"} {
		if text, err := os.ReadFile(filepath.Join(f.dir, name)); err != nil || string(text) != want {
			t.Errorf("%s is %q, %v; want %q", name, text, err, want)
		}
	}
}

// TestLandSubmodule: a submodule that moves is only pointed at.
func TestLandSubmodule(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	first := f.ground()
	base := f.commitPlain(first, map[string]string{"sub": "160000," + string(first)})
	f.git("reset", "-q", "--hard", string(base))
	to := f.commitPlain(base, map[string]string{"sub": "160000," + string(base), "a": "2\n"})
	_, err := Land(t.Context(), f.landing(base, to))
	f.must(err)
	f.wantAt(to)
}

// TestLandInsideASubmodule: git lists such a checkout by its git dir.
func TestLandInsideASubmodule(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.ground()
	super := newFixture(t)
	super.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", f.dir, "sub")
	super.commit(nil)
	super.dir = filepath.Join(super.dir, "sub")
	super.git("config", "user.name", "A User")
	super.git("config", "user.email", "user@example.com")
	super.open()
	to := super.work(super.head())
	landing, err := Land(t.Context(), super.landing(super.head(), to))
	f.must(err)
	if !slices.Equal(landing.Moved, []string{super.dir}) {
		t.Errorf("moved %q, want %q", landing.Moved, super.dir)
	}
	super.wantAt(to)
}

// TestLandSha256: object names of the other length.
func TestLandSha256(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "--object-format=sha256")
	base := f.ground()
	to := f.work(base)
	_, err := Land(t.Context(), f.landing(base, to))
	f.must(err)
	f.wantAt(to)
}

// TestLandNotBorn: a checkout may stand on a branch that is not there yet.
func TestLandNotBorn(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	base := f.ground()
	to := f.work(base)
	f.git("checkout", "-q", "--orphan", "unborn")
	f.git("rm", "-q", "-r", "-f", ".")
	f.write(map[string]string{"untracked": "mine\n"})
	req := f.landing("", to)
	req.Ref, req.Have = "refs/heads/unborn", nil
	_, err := Land(t.Context(), req)
	f.must(err)
	f.wantAt(to)
	if got := f.git("status", "--porcelain"); got != "?? untracked" {
		t.Errorf("status is %q, want only what was there", got)
	}
}

// TestLandTwoOnOneBranch: all checkouts on the branch follow, or none.
func TestLandTwoOnOneBranch(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	base := f.ground()
	to := f.work(base)
	other := filepath.Join(t.TempDir(), "linked")
	f.git("worktree", "add", "-q", "--force", other, "main")
	f.writeIn(other, map[string]string{"a": "mine\n"})
	before := f.all()
	var dirty *DirtyError
	if _, err := Land(t.Context(), f.landing(base, to)); !errors.As(err, &dirty) {
		t.Errorf("Land: %v, want a DirtyError: one of the two is dirty", err)
	}
	if f.all() != before {
		t.Error("the other moved")
	}
	f.writeIn(other, map[string]string{"a": "1\n"})
	landing, err := Land(t.Context(), f.landing(base, to))
	f.must(err)
	if len(landing.Moved) != 2 {
		t.Errorf("moved %q, want both", landing.Moved)
	}
	f.wantAt(to)
	if got := f.gitIn(other, nil, "status", "--porcelain"); got != "" {
		t.Errorf("status of the other is %q, want clean", got)
	}
}

// TestLandDirtyInBetween: a file that changes after the check is kept.
func TestLandDirtyInBetween(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	base := f.ground()
	to := f.work(base)
	req := f.landing(base, to)
	req.Journal = func(Intent) error {
		f.write(map[string]string{"a": "mine\n"})
		return nil
	}
	var dirty *DirtyError
	if _, err := Land(t.Context(), req); !errors.As(err, &dirty) {
		t.Errorf("Land: %v, want a DirtyError", err)
	}
	if got := f.git("status", "--porcelain"); got != " M a" || f.head() != base {
		t.Errorf("status is %q at %s, want only the user's change", got, f.head().Short())
	}
}
