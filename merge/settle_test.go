package merge

import (
	"errors"
	"slices"
	"testing"

	"agentswarm/worktree/git"
	"agentswarm/worktree/git/checkout"
)

func (f *fixture) settle(in Intent) *Settled {
	f.Helper()
	got, err := Settle(f.Context(), SettleRequest{Repo: f.repo, Intent: in, Record: f.record("1")})
	f.must(err)
	return got
}

// intended lands and returns the intent that was journaled. The record of the
// landing is there until it is forgotten.
func (f *fixture) intended(req LandRequest) Intent {
	f.Helper()
	var in Intent
	req.Journal = func(i Intent) error { in = i; return nil }
	_, err := Land(f.Context(), req)
	f.must(err)
	return in
}

// TestSettleByRecord: a landing whose outcome was not journaled is known by its
// record, wherever the user moved the branch since.
func TestSettleByRecord(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	base := f.ground()
	to := f.work(base)
	in := f.intended(f.landing(base, to))
	f.git("reset", "-q", "--hard", string(base))
	if got := f.settle(in); !got.Happened {
		t.Errorf("settled %+v, want happened", got)
	}
	f.must(checkout.Forget(f.record("1").Records, "1"))
	if got := f.settle(in); got.Happened {
		t.Errorf("settled without a record as %+v, want not happened: the branch is at its old commit", got)
	}
}

// TestSettleApply: the files of an apply whose outcome was not journaled are
// known, and it can be taken out again.
func TestSettleApply(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	base := f.ground()
	req := f.applying(base, f.work(base))
	before := f.onDisk(touches)
	applied, err := Apply(t.Context(), req)
	f.must(err)
	got := f.settle(Intent{})
	if !got.Happened || !slices.Equal(got.Files, applied.Files) {
		t.Errorf("settled %+v, want happened with %+v", got, applied.Files)
	}
	f.must(Unapply(t.Context(), UnapplyRequest{
		Repo: f.repo, File: req.File, Journal: req.Journal, Record: f.record("2"),
		Applied: Applied{Dir: f.dir, Files: got.Files},
	}))
	if after := f.onDisk(touches); after != before {
		t.Errorf("files are\n%s\nwant\n%s", after, before)
	}
}

// TestSettleByBranch: without a record the branch tells the outcome of a move.
func TestSettleByBranch(t *testing.T) {
	t.Parallel()
	start := func(t *testing.T) (f *fixture, base, to git.Hash, in Intent) {
		f = newFixture(t)
		base = f.ground()
		to = f.work(base)
		in = f.intended(f.landing(base, to))
		f.must(checkout.Forget(f.record("1").Records, "1"))
		return f, base, to, in
	}
	want := func(t *testing.T, f *fixture, in Intent, happened bool) {
		t.Helper()
		if got := f.settle(in); got.Happened != happened {
			t.Errorf("settled %+v, want happened: %v", got, happened)
		}
	}
	t.Run("went on from the landing", func(t *testing.T) {
		t.Parallel()
		f, _, _, in := start(t)
		f.commit(map[string]string{"z": "1\n"})
		want(t, f, in, true)
	})
	t.Run("went elsewhere", func(t *testing.T) {
		t.Parallel()
		f, base, _, in := start(t)
		f.git("reset", "-q", "--hard", string(base))
		f.commit(map[string]string{"z": "1\n"})
		want(t, f, in, false)
	})
	t.Run("undid and went on", func(t *testing.T) {
		t.Parallel()
		f, base, to, _ := start(t)
		undo := Intent{Ref: "refs/heads/main", Old: to, New: base, Checkouts: []string{f.dir}}
		want(t, f, undo, false)
		f.commit(map[string]string{"z": "1\n"})
		want(t, f, undo, false)
		f.git("reset", "-q", "--hard", string(base))
		f.commit(map[string]string{"z": "1\n"})
		want(t, f, undo, true)
	})
}

// TestLandFails: a landing that fails at any step is all old, and can be made
// again.
func TestLandFails(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"publish", "checkout write the new files", "checkout put in place a", "checkout move the branch"} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			base := f.ground()
			to := f.work(base)
			f.dirt()
			mine, disk := f.mine(), f.onDisk(touches)
			failed := errors.New("failed by the test")
			req := f.landing(base, to)
			req.Step = func(name string) error {
				if name == step {
					return failed
				}
				return nil
			}
			if _, err := Land(t.Context(), req); !errors.Is(err, failed) {
				t.Fatalf("Land: %v, want the error of the step", err)
			}
			f.wantAt(base)
			if got := f.onDisk(touches); got != disk {
				t.Errorf("files are\n%s\nwant\n%s", got, disk)
			}
			if got := f.mine(); got != mine {
				t.Errorf("the user's side changed from\n%s\nto\n%s", mine, got)
			}
			_, err := Land(t.Context(), f.landing(base, to))
			f.must(err)
			f.wantAt(to)
		})
	}
}
