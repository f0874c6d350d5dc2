package merge

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"agentswarm/worktree/git"
)

var errKilled = errors.New("killed by the test")

// killed lands until a step and dies there; it returns the intent, if one
// was journaled by then.
func (f *fixture) killed(req LandRequest, step string) *Intent {
	f.Helper()
	var in *Intent
	req.Journal = func(i Intent) error { in = &i; return nil }
	req.Step = func(name string) error {
		if name == step {
			return errKilled
		}
		return nil
	}
	if _, err := Land(f.Context(), req); !errors.Is(err, errKilled) {
		f.Fatalf("Land killed at %s: %v", step, err)
	}
	return in
}

func (f *fixture) settle(in Intent) *Settled {
	f.Helper()
	got, err := Settle(f.Context(), SettleRequest{
		Repo: f.repo, Intent: in, LockFile: filepath.Join(f.home, "lock"),
	})
	f.must(err)
	return got
}

// TestSettle: a landing that dies at any step is ended by the next command,
// forward or back, and the user's side is the same.
func TestSettle(t *testing.T) {
	t.Parallel()
	tests := []struct {
		step    string
		journal bool // an intent was journaled
		want    bool // the landing happened
	}{
		{"checked", false, false},
		{"published", false, false},
		{"journaled", true, false},
		{"followed", true, true},
		{"swapped", true, true},
	}
	for _, tt := range tests {
		t.Run(tt.step, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			base := f.ground()
			to := f.work(base)
			f.dirt()
			mine, disk := f.mine(), f.onDisk(touches)
			in := f.killed(f.landing(base, to), tt.step)
			if (in != nil) != tt.journal {
				t.Fatalf("intent %+v, want one: %v", in, tt.journal)
			}
			f.git("gc", "-q", "--prune=now")
			if in != nil {
				got := f.settle(*in)
				if got.Happened != tt.want || len(got.Left) > 0 {
					t.Errorf("settled %+v, want happened %v and nothing left", got, tt.want)
				}
				if again := f.settle(*in); again.Happened != tt.want {
					t.Errorf("settled again %+v, want the same", again)
				}
			}
			if tt.want {
				f.wantAt(to)
			} else {
				f.wantAt(base)
				if got := f.onDisk(touches); got != disk {
					t.Errorf("files are\n%s\nwant\n%s", got, disk)
				}
			}
			if got := f.mine(); got != mine {
				t.Errorf("the user's side changed from\n%s\nto\n%s", mine, got)
			}
			if !tt.want {
				// What was left out can be done now, with the same names.
				if _, err := Land(t.Context(), f.landing(base, to)); err != nil {
					t.Errorf("landing again: %v", err)
				}
				f.wantAt(to)
			}
		})
	}
}

// TestSettleAfterTheUser: what the user did since stays.
func TestSettleAfterTheUser(t *testing.T) {
	t.Parallel()
	t.Run("went on from the landing", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		base := f.ground()
		to := f.work(base)
		in := f.killed(f.landing(base, to), "swapped")
		next := f.commit(map[string]string{"z": "1\n"})
		if got := f.settle(*in); !got.Happened {
			t.Errorf("settled %+v, want happened", got)
		}
		f.wantAt(next)
	})
	t.Run("went elsewhere", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		base := f.ground()
		to := f.work(base)
		in := f.killed(f.landing(base, to), "journaled")
		next := f.commit(map[string]string{"z": "1\n"})
		if got := f.settle(*in); got.Happened {
			t.Errorf("settled %+v, want not happened", got)
		}
		f.wantAt(next)
	})
	t.Run("undid and went on", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		base := f.ground()
		to := f.work(base)
		_, err := Land(t.Context(), f.landing(base, to))
		f.must(err)
		undo := Intent{Ref: "refs/heads/main", Old: to, New: base, Checkouts: []string{f.dir}}
		if got := f.settle(undo); got.Happened {
			t.Errorf("an undo that never began: %+v, want not happened", got)
		}
		f.commit(map[string]string{"z": "1\n"})
		if got := f.settle(undo); got.Happened {
			t.Errorf("an undo that never began, and a commit: %+v, want not happened", got)
		}
		f.git("reset", "-q", "--hard", string(base))
		f.commit(map[string]string{"z": "1\n"})
		if got := f.settle(undo); !got.Happened {
			t.Errorf("an undo, and a commit: %+v, want happened", got)
		}
	})
	t.Run("switched away", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		base := f.ground()
		to := f.work(base)
		in := f.killed(f.landing(base, to), "followed")
		f.git("checkout", "-q", "-f", "-b", "other")
		if got := f.settle(*in); got.Happened {
			t.Errorf("settled %+v, want not happened: no checkout has the files", got)
		}
		f.wantAt(base)
	})
}

// TestSettleATornMove: git died while it wrote files. Files that are known
// go back, one that nobody knows is left and named.
func TestSettleATornMove(t *testing.T) {
	t.Parallel()
	for _, torn := range []bool{false, true} {
		f := newFixture(t)
		base := f.ground()
		to := f.work(base)
		f.dirt()
		mine, disk := f.mine(), f.onDisk(touches)
		in := f.killed(f.landing(base, to), "journaled")
		f.write(map[string]string{"a": "x:2\n", "d": "folder to file\n", "e/new": "new\n", "b": ""})
		var want []string
		lock := filepath.Join(f.dir, ".git", "index.lock")
		if torn {
			f.must(os.WriteFile(filepath.Join(f.dir, "a"), []byte("half"), 0o644))
			f.must(os.WriteFile(lock, nil, 0o644))
			want = []string{"a"}
		}
		got := f.settle(*in)
		var left []string
		for _, l := range got.Left {
			left = append(left, l.Paths...)
		}
		if got.Happened || !slices.Equal(left, want) {
			t.Errorf("settled %+v, want not happened and %q left", got, want)
		}
		if torn {
			if got.Left[0].Doing != "another git command (index.lock)" {
				t.Errorf("left %+v, want the lock to be named", got.Left)
			}
			f.must(os.Remove(lock))
			f.write(map[string]string{"a": "1\n"})
		}
		f.wantAt(base)
		if got := f.onDisk(touches); got != disk {
			t.Errorf("files are\n%s\nwant\n%s", got, disk)
		}
		if got := f.mine(); got != mine {
			t.Errorf("the user's side changed from\n%s\nto\n%s", mine, got)
		}
	}
}

// TestUndoKilled: undo is a move like any other.
func TestUndoKilled(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"journaled", "followed", "swapped"} {
		f := newFixture(t)
		base := f.ground()
		to := f.work(base)
		f.dirt()
		mine := f.mine()
		_, err := Land(t.Context(), f.landing(base, to))
		f.must(err)
		var in Intent
		_, err = Undo(t.Context(), UndoRequest{
			Repo: f.repo, Ref: "refs/heads/main", Old: base, New: to,
			LockFile: filepath.Join(f.home, "lock"),
			Journal:  func(i Intent) error { in = i; return nil },
			Step: func(name string) error {
				if name == step {
					return errKilled
				}
				return nil
			},
		})
		if !errors.Is(err, errKilled) {
			t.Fatalf("Undo killed at %s: %v", step, err)
		}
		want := map[bool]git.Hash{true: base, false: to}
		got := f.settle(in)
		if got.Happened != (step != "journaled") {
			t.Errorf("undo killed at %s settled as %+v", step, got)
		}
		f.wantAt(want[got.Happened])
		if got := f.mine(); got != mine {
			t.Errorf("the user's side changed from\n%s\nto\n%s", mine, got)
		}
	}
}
