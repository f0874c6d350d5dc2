package landing

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"agentswarm/swarm/landing/queue"
	"agentswarm/swarm/proc"
)

// slowCheck is a check that never ends on patches before the branch itself has passed.
type slowCheck struct {
	branch []error // of its runs in turn; nil: it passes, errFails: it fails
	begun  chan struct{}
	passes bool // the patches pass as soon as the branch has begun

	mu    sync.Mutex // guards the fields below
	known chan struct{}
	ran   []string
	runs  int
}

var errFails = errors.New("it fails")

func (s *slowCheck) check(ctx context.Context, c Candidate) (Verdict, error) {
	s.mu.Lock()
	s.ran = append(s.ran, named(c.Set))
	if len(c.Set) == 0 {
		if s.runs++; s.runs == 1 {
			close(s.begun)
		}
		err := s.branch[s.runs-1]
		if err == nil {
			close(s.known)
		}
		s.mu.Unlock()
		switch {
		case err == nil:
			return Verdict{Passed: true}, nil
		case errors.Is(err, errFails):
			return Verdict{}, nil
		case errors.Is(err, errUntimed):
			<-ctx.Done()
			return Verdict{}, context.Cause(ctx)
		default:
			return Verdict{}, err
		}
	}
	s.mu.Unlock()
	begun := s.begun
	if !s.passes {
		begun = nil
	}
	select {
	case <-begun:
		return Verdict{Passed: true}, nil
	case <-s.known:
		return Verdict{Hung: true, Code: lateCode}, nil
	case <-ctx.Done():
		return Verdict{}, context.Cause(ctx)
	}
}

// overdue is closed at once until the branch has passed.
func (s *slowCheck) overdue(Candidate) <-chan struct{} {
	select {
	case <-s.known:
		return nil
	default:
		closed := make(chan struct{})
		close(closed)
		return closed
	}
}

// TestGateTimes: a check that is overdue has the branch itself verified, whether or not two
// checks may run at the same time. So it ends, or the landing does.
func TestGateTimes(t *testing.T) {
	t.Parallel()
	g := newFixture(t, map[string]string{"f": "1\n"})
	g.patch("a1", map[string]string{"a": "x\n"})
	none := &NoVerdictError{Reason: "it hangs"}
	for _, tt := range []struct {
		name    string
		branch  []error
		passes  bool
		alone   bool
		slots   int
		ran     string // sorted
		landed  int
		refused string
		fails   int // runs of the branch
		err     error
	}{
		{"alone", []error{nil}, false, true, 1, "a1 a1 a1 a1 branch", 0, "a1", 0, nil},
		{"beside", []error{nil}, false, false, 1, "a1 a1 a1 branch", 0, "a1", 0, nil},
		{"in the same round", []error{nil}, false, false, 2, "a1 a1 a1 branch", 0, "a1", 0, nil},
		{"the branch flakes", []error{errFails, nil}, false, false, 1, "a1 a1 a1 branch branch", 0, "a1", 0, nil},
		{"the branch flakes, alone", []error{errFails, nil}, false, true, 1, "a1 a1 a1 a1 branch branch", 0, "a1", 0, nil},
		{"the branch flakes in the same round", []error{errFails, nil}, false, false, 2, "a1 a1 a1 branch branch", 0, "a1", 0, nil},
		{"the branch fails", []error{errFails, errFails}, false, false, 1, "a1 branch branch", 0, "", 2, nil},
		{"the branch fails, alone", []error{errFails, errFails}, false, true, 1, "a1 branch branch", 0, "", 2, nil},
		{"the branch hangs", []error{none}, false, false, 1, "a1 branch", 0, "", 0, none},
		{"the branch hangs, alone", []error{none}, false, true, 1, "a1 branch", 0, "", 0, none},
		{"the branch hangs in the same round", []error{none}, false, false, 2, "a1 branch", 0, "", 0, none},
		{"it passes meanwhile", []error{errUntimed}, true, false, 1, "a1 branch", 1, "", 0, nil},
	} {
		c := &slowCheck{branch: tt.branch, begun: make(chan struct{}), known: make(chan struct{}), passes: tt.passes}
		gate := g.gate(&checker{})
		var slow []string
		gate.Check, gate.Overdue, gate.Alone = c.check, c.overdue, tt.alone
		gate.Slow = func(c Candidate, _ time.Time) { slow = append(slow, named(c.Set)) }
		out, err := queue.Land(t.Context(), queue.Request{Patches: []queue.Patch{{ID: "a1"}}, Slots: tt.slots, Gate: gate})
		if !errors.Is(err, tt.err) {
			t.Errorf("%s: Land = %v, want %v", tt.name, err, tt.err)
		}
		slices.Sort(c.ran)
		if got := strings.Join(c.ran, " "); got != tt.ran && tt.slots == 1 {
			t.Errorf("%s: the check ran on %s, want %s", tt.name, got, tt.ran)
		}
		if tt.slots == 1 && !slices.Contains(slow, "a1") {
			t.Errorf("%s: slow checks %v, want a1", tt.name, slow)
		}
		if err != nil {
			continue
		}
		var refused []string
		for _, r := range out.Refused {
			refused = append(refused, r.ID)
		}
		if len(out.Landed) != tt.landed || strings.Join(refused, " ") != tt.refused || len(out.BranchFails) != tt.fails {
			t.Errorf("%s: landed %v, refused %v, the branch failed in %v", tt.name, out.Landed, refused, out.BranchFails)
		}
	}
}

// TestResult: the words for a check that failed tell its time limit from a kill.
func TestResult(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		give Verdict
		want string
	}{
		{Verdict{Passed: true}, "passed"},
		{Verdict{Code: 1}, "failed"},
		{Verdict{Hung: true, Code: CodeOf(true, proc.Exit{Code: killedCode})}, "failed: it reached its time limit"},
		{Verdict{Hung: true, Code: CodeOf(false, proc.Exit{Code: killedCode})}, "failed: it was killed, as for want of memory"},
		{Verdict{Ended: true}, "ended: the check fails on the branch itself"},
	} {
		if got := tt.give.Result(); got != tt.want {
			t.Errorf("Result of %+v = %q, want %q", tt.give, got, tt.want)
		}
	}
}
