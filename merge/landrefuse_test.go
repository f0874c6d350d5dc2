package merge

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
)

// TestLandRefusesDirt: where a file of the user would be lost, nothing moves.
func TestLandRefusesDirt(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		make func(f *fixture)
		want []string
	}{
		{"changed", func(f *fixture) { f.write(map[string]string{"a": "mine\n"}) }, []string{"a"}},
		{"mode changed", func(f *fixture) { f.write(map[string]string{"a": "x:1\n"}) }, []string{"a"}},
		{"deleted", func(f *fixture) { f.write(map[string]string{"b": "", "d/x": ""}) }, []string{"b", "d/x"}},
		{"staged", func(f *fixture) { f.write(map[string]string{"a": "mine\n"}); f.git("add", "a") }, []string{"a"}},
		{
			"staged and taken back on disk",
			func(f *fixture) {
				f.write(map[string]string{"a": "mine\n"})
				f.git("add", "a")
				f.write(map[string]string{"a": "1\n"})
			},
			[]string{"a"},
		},
		{"removed from the index", func(f *fixture) { f.git("rm", "-q", "--cached", "b") }, []string{"b"}},
		{"link changed", func(f *fixture) { f.write(map[string]string{"link": "l:mine"}) }, []string{"link"}},
		{"untracked in the way", func(f *fixture) { f.write(map[string]string{"e/new": "mine\n"}) }, []string{"e/new"}},
		{
			"ignored in the way",
			func(f *fixture) {
				f.write(map[string]string{".git/info/exclude": "/e/\n", "e/new": "mine\n"})
			},
			[]string{"e/new"},
		},
		{"file where a folder comes", func(f *fixture) { f.write(map[string]string{"e": "mine\n"}) }, []string{"e"}},
		{"link where a folder comes", func(f *fixture) { f.write(map[string]string{"e": "l:mine"}) }, []string{"e"}},
		{"folder where a file comes", func(f *fixture) { f.write(map[string]string{"d/mine": "mine\n"}) }, []string{"d/mine"}},
		{"ignored file there", func(f *fixture) { f.write(map[string]string{"d/ignored": "mine\n"}) }, []string{"d/ignored"}},
		{
			"assumed unchanged",
			func(f *fixture) {
				f.git("update-index", "--assume-unchanged", "a")
				f.write(map[string]string{"a": "mine\n"})
			},
			[]string{"a"},
		},
		{
			"staged below a new file",
			func(f *fixture) { f.write(map[string]string{"e/new/x": "mine\n"}); f.git("add", "e") },
			[]string{"e/new/x"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			base := f.ground()
			to := f.work(base)
			f.dirt()
			tt.make(f)
			before := f.all()
			req := f.landing(base, to)
			req.Journal = func(Intent) error { t.Error("an intent was journaled"); return nil }
			_, err := Land(t.Context(), req)
			var dirty *DirtyError
			if !errors.As(err, &dirty) {
				t.Fatalf("Land: %v, want a DirtyError", err)
			}
			if dirty.Dir != f.dir || !slices.Equal(dirty.Paths, tt.want) {
				t.Errorf("dirty in %s: %q, want in %s: %q", dirty.Dir, dirty.Paths, f.dir, tt.want)
			}
			if after := f.all(); after != before {
				t.Errorf("something moved: from\n%s\nto\n%s", before, after)
			}
		})
	}
}

// TestLandRefusesBusy: a checkout in the middle of something is named.
func TestLandRefusesBusy(t *testing.T) {
	t.Parallel()
	// conflicting makes two branches that cannot be merged.
	conflicting := func(f *fixture) {
		f.git("checkout", "-q", "-b", "other")
		f.commit(map[string]string{"mine/changed": "other\n"})
		f.git("checkout", "-q", "main")
	}
	fail := func(f *fixture, args ...string) {
		f.git("-c", "alias.try=!git "+strings.Join(args, " ")+" >/dev/null 2>&1 || true", "try")
	}
	tests := []struct {
		name string
		make func(f *fixture)
		want string
	}{
		{"merge", func(f *fixture) { fail(f, "merge", "other") }, "a merge"},
		{"cherry-pick", func(f *fixture) { fail(f, "cherry-pick", "other") }, "a cherry-pick"},
		{"revert", func(f *fixture) { fail(f, "revert", "main~1") }, "a revert"},
		{"rebase", func(f *fixture) { fail(f, "rebase", "other") }, "a rebase"},
		{"rebase with apply", func(f *fixture) { fail(f, "rebase", "--apply", "other") }, "a rebase"},
		{"bisect", func(f *fixture) { fail(f, "bisect", "start", "main", "main~2") }, "a bisect"},
		{
			"another git", func(f *fixture) { f.write(map[string]string{".git/index.lock": " "}) },
			"another git command (index.lock)",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.ground()
			conflicting(f)
			f.commit(map[string]string{"mine/changed": "ours\n"})
			base := f.commit(map[string]string{"mine/changed": "ours again\n"})
			to := f.work(base)
			tt.make(f)
			refs := f.git("for-each-ref")
			disk := f.onDisk(func(string) bool { return true })
			_, err := Land(t.Context(), f.landing(base, to))
			var busy *BusyError
			if !errors.As(err, &busy) || busy.Doing != tt.want || busy.Dir != f.dir {
				t.Errorf("Land: %v, want a BusyError of %s", err, tt.want)
			}
			if f.git("for-each-ref") != refs || f.onDisk(func(string) bool { return true }) != disk {
				t.Error("something moved")
			}
		})
	}
}

// TestLandLosesTheSwap: another process moves the branch in the last instant.
func TestLandLosesTheSwap(t *testing.T) {
	t.Parallel()
	t.Run("from elsewhere", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		base := f.ground()
		to := f.work(base)
		other := f.side(base, map[string]string{"mine/changed": "1\n", "z": "1\n"})
		f.dirt()
		disk, mine := f.onDisk(touches), f.mine()
		req := f.landing(base, to)
		req.Step = func(name string) error {
			if name == "checkout move the branch" {
				f.git("update-ref", "refs/heads/main", string(other))
			}
			return nil
		}
		_, err := Land(t.Context(), req)
		var moved *MovedError
		if !errors.As(err, &moved) || moved.Want != base || moved.Have != other {
			t.Errorf("Land: %v, want a MovedError", err)
		}
		if got := f.onDisk(touches); f.head() != other || got != disk {
			t.Errorf("the files did not move back: they are\n%s\nand were\n%s", got, disk)
		}
		if got := f.mine(); got != mine {
			t.Errorf("the user's side changed from\n%s\nto\n%s", mine, got)
		}
	})
	t.Run("before anything", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		base := f.ground()
		to := f.work(base)
		f.commit(map[string]string{"z": "1\n"})
		before := f.all()
		var moved *MovedError
		if _, err := Land(t.Context(), f.landing(base, to)); !errors.As(err, &moved) {
			t.Errorf("Land: %v, want a MovedError", err)
		}
		if f.all() != before {
			t.Error("something moved")
		}
	})
}

// TestLandWaitsItsTurn: two landings on the same branch do not mix, and a wait
// ends with the context.
func TestLandWaitsItsTurn(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	base := f.ground()
	to := f.work(base)
	req := f.landing(base, to)
	stopped := errors.New("stopped by the test")
	req.Step = func(name string) error {
		if name != "publish" {
			return nil
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(stopped)
		if _, err := Land(ctx, f.landing(base, to)); !errors.Is(err, stopped) {
			t.Errorf("a second landing: %v, want it to wait", err)
		}
		return nil
	}
	if _, err := Land(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	f.wantAt(to)
}
