package checkout

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"agentswarm/internal/testing/campaign"
)

// killVariable has the test binary carry out one transaction and kill itself at
// a step: "branch 17 OLD NEW DIR". "files" is an apply, "recover" a recovery.
const killVariable = "CHECKOUT_TEST_KILL"

func TestMain(m *testing.M) {
	if order := os.Getenv(killVariable); order != "" {
		killMyself(order)
	}
	os.Exit(run(m))
}

// run runs the tests, and removes the templates of newGround.
func run(m *testing.M) int {
	var err error
	if templateFolder, err = os.MkdirTemp("", "checkout"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(templateFolder)
	return m.Run()
}

// chosen returns the indexes of the steps at which a test stops a transaction:
// in a campaign all. In the gate it is each sixth, and the first of each kind.
func chosen(t *testing.T, steps []string) []int {
	t.Helper()
	every := campaign.Rounds(t, 6, 1)
	seen := map[string]bool{}
	var all []int
	for n, step := range steps {
		if kind := kindOf(step); n%every == 0 || !seen[kind] {
			seen[kind] = true
			all = append(all, n)
		}
	}
	return all
}

// kindOf is a step without the path that it is about.
func kindOf(step string) string {
	step = strings.TrimPrefix(step, "checkout ")
	for _, kind := range []string{"make folder", "set aside", "put in place", "take out", "put back"} {
		if strings.HasPrefix(step, kind+" ") {
			return kind
		}
	}
	return step
}

// killMyself does not return. The exit code is 0 where the step was not reached.
func killMyself(order string) {
	words := strings.SplitN(order, " ", 5)
	at, err := strconv.Atoi(words[1])
	if err != nil {
		os.Exit(3)
	}
	g := groundIn(nil, words[4])
	_, _ = fmt.Sscanf(words[2]+" "+words[3], "%s %s", &g.old, &g.new)
	n := 0
	step := func(string) error {
		if n++; n == at {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
		return nil
	}
	if words[0] == "recover" {
		_, err = g.tryRecover(step)
	} else {
		err = g.transact(context.Background(), move{index: words[0] == "branch", step: step})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// scene is a ground with the states that a transaction may end in.
type scene struct {
	*fixture
	index    bool
	old, new string
	steps    []string
}

// scenes are made once: a ground of each kind of dirt, for a merge or an apply.
func scenes(t *testing.T, index bool, files int) []*scene {
	t.Helper()
	var all []*scene
	for _, kind := range []string{"clean", "dirty", "staged"} {
		all = append(all, sceneOf(t, kind, index, files))
	}
	return all
}

// sceneOf makes the scene of one kind of dirt.
func sceneOf(t *testing.T, kind string, index bool, files int) *scene {
	t.Helper()
	g := newFixture(t, files)
	g.dirty(kind)
	s := &scene{fixture: g, index: index, old: g.snapshot()}
	done := g.copyTo(t)
	g.must(done.transact(t.Context(), move{index: index, step: func(name string) error {
		s.steps = append(s.steps, name)
		return nil
	}}))
	s.new = done.snapshot()
	if left := done.leftovers(); len(left) > 0 || s.new == s.old {
		t.Fatalf("%s: left %q, old and new are the same: %v", kind, left, s.new == s.old)
	}
	return s
}

// inOrder fails unless the next command finds a whole checkout, old or new, and
// nothing else. It returns the snapshot of the checkout.
func (s *scene) inOrder(g *fixture, about string) (now string) {
	g.Helper()
	ended := g.recover()
	now = g.snapshot()
	for _, o := range ended {
		if len(o.Kept) > 0 {
			g.Errorf("%s: kept %+v, and nobody changed anything", about, o.Kept)
		}
		if o.Begun && o.Happened != (now == s.new) {
			g.Errorf("%s: it says happened: %v, and the checkout is another", about, o.Happened)
		}
	}
	if now != s.old && now != s.new {
		g.Errorf("%s: the checkout is\n%s\nneither\n%s\nnor\n%s", about, now, s.old, s.new)
	}
	if left := g.leftovers(); len(left) > 0 {
		g.Errorf("%s: left %q", about, left)
	}
	if again := g.recover(); len(again) > 0 {
		g.Errorf("%s: recovered again: %+v", about, again)
	}
	return now
}

// TestKillAtEveryStep kills a merge, and an apply, before each write: the next
// command completes it or rolls it back.
func TestKillAtEveryStep(t *testing.T) {
	t.Parallel()
	files := campaign.Rounds(t, 16, 300)
	for _, op := range []string{"branch", "files"} {
		t.Run(op, func(t *testing.T) {
			t.Parallel()
			all := scenes(t, op == "branch", files)
			for i, n := range chosen(t, all[0].steps) {
				s, step := all[i%len(all)], all[0].steps[n]
				t.Run(fmt.Sprint(n+1), func(t *testing.T) {
					t.Parallel()
					g := s.copyTo(t)
					cmd := exec.Command(os.Args[0])
					cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d %s %s %s", killVariable, op, n+1, g.old, g.new, g.dir))
					out, err := cmd.CombinedOutput()
					if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || !status.Signaled() {
						t.Fatalf("killed at %s: %v: %s", step, err, out)
					}
					s.inOrder(g, "killed at "+step)
				})
			}
		})
	}
}

// TestFailAtEveryStep makes each write of a merge, and of an apply, fail. All
// that had not begun is old, and the error names the cause.
func TestFailAtEveryStep(t *testing.T) {
	t.Parallel()
	files := campaign.Rounds(t, 16, 300)
	causes := []error{syscall.ENOSPC, syscall.EIO, syscall.EROFS}
	for _, op := range []string{"branch", "files"} {
		t.Run(op, func(t *testing.T) {
			t.Parallel()
			all := scenes(t, op == "branch", files)
			for i, n := range chosen(t, all[0].steps) {
				s, step := all[i%len(all)], all[0].steps[n]
				for k, cause := range causes {
					if k != i/len(all)%len(causes) && campaign.Rounds(t, 1, 2) == 1 {
						continue
					}
					t.Run(fmt.Sprint(n+1, cause), func(t *testing.T) {
						t.Parallel()
						s.fail(t, n+1, step, cause)
					})
				}
			}
		})
	}
}

// fail has the write at a step fail.
func (s *scene) fail(t *testing.T, at int, step string, cause error) {
	t.Helper()
	g := s.copyTo(t)
	n := 0
	err := g.transact(t.Context(), move{index: s.index, step: func(string) error {
		if n++; n == at {
			return cause
		}
		return nil
	}})
	var open *OpenError
	switch {
	case err == nil:
		if g.git("rev-parse", "HEAD") == string(g.old) && s.index {
			t.Errorf("%s fails, and the transaction does not say so", step)
		}
	case !errors.Is(err, cause):
		t.Errorf("%s fails: %v, want the cause in the error", step, err)
	case !errors.As(err, &open):
		if now := g.snapshot(); now != s.old {
			t.Errorf("%s fails: the checkout is\n%s\nwant\n%s", step, now, s.old)
		}
	}
	if s.inOrder(g, step+" fails") == s.old {
		if err := g.transact(t.Context(), move{index: s.index}); err != nil {
			t.Errorf("after %s failed: %v, want the next one to succeed", step, err)
		}
		s.inOrder(g, "made again after "+step+" failed")
	}
}

// TestKillTheRecovery kills the command that follows a kill, at each of its
// writes: the one after it puts the checkout in order. In some the user changed a
// file between the two, so that the recovery goes back.
func TestKillTheRecovery(t *testing.T) {
	t.Parallel()
	files := campaign.Rounds(t, 16, 60)
	for _, tt := range []struct {
		op, at  string
		changed bool
	}{
		{"branch", "put in place bit", false}, {"branch", "move the branch", true},
		{"branch", "install the index", false}, {"files", "record the end", true},
	} {
		t.Run(fmt.Sprint(tt.op, " ", tt.at, " ", tt.changed), func(t *testing.T) {
			t.Parallel()
			s := sceneOf(t, "dirty", tt.op == "branch", files)
			died := s.copyTo(t)
			died.killed(tt.op, tt.at)
			if tt.changed {
				died.write(map[string]string{"bit": "the user's\n"})
			}
			var steps []string
			first := died.copyTo(t)
			_, err := first.tryRecover(func(name string) error {
				steps = append(steps, name)
				return nil
			})
			first.must(err)
			want := first.snapshot()
			for _, n := range chosen(t, steps) {
				step := steps[n]
				t.Run(fmt.Sprint(n+1), func(t *testing.T) {
					t.Parallel()
					g := died.copyTo(t)
					cmd := exec.Command(os.Args[0])
					cmd.Env = append(os.Environ(), fmt.Sprintf("%s=recover %d %s %s %s", killVariable, n+1, g.old, g.new, g.dir))
					out, err := cmd.CombinedOutput()
					if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || !status.Signaled() {
						t.Fatalf("killed at %s: %v: %s", step, err, out)
					}
					g.recover()
					if now := g.snapshot(); now != want {
						t.Errorf("killed at %s: the checkout is\n%s\nwant\n%s", step, now, want)
					}
					if left := g.leftovers(); len(left) > 0 {
						t.Errorf("killed at %s: left %q", step, left)
					}
				})
			}
		})
	}
}
