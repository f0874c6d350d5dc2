package queue

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// ahead lands some of the patches for their verdicts only, and returns these.
func (s *scripted) ahead(t *testing.T, some []Patch) []Tried {
	t.Helper()
	if _, err := Land(t.Context(), Request{Patches: some, Slots: 1, Gate: s, Ahead: true, Tried: s.tried()}); err != nil {
		t.Fatal(err)
	}
	s.before = map[string]int{}
	for set, runs := range s.runs {
		s.before[set] = len(runs)
	}
	return s.tried()
}

// tried are the trials so far.
func (s *scripted) tried() []Tried {
	all := make([]Tried, len(s.trials))
	for i, trial := range s.trials {
		all[i] = Tried{trial.Set, s.verdicts[i]}
	}
	return all
}

// TestAheadDoesNotDecide: whichever patches were tried ahead, in any number of portions,
// the same patches land and are refused, and no verdict is made again.
func TestAheadDoesNotDecide(t *testing.T) {
	t.Parallel()
	fewer, more := 0, 0
	eachScene(t, 150, 5000, func(seed int, random *rand.Rand, gate *scripted, list []Patch, want *Outcome) {
		plain := len(gate.trials)
		gate.trials, gate.verdicts, gate.runs, gate.earlier = nil, nil, map[string][]bool{}, map[string]bool{}
		come := map[string]bool{}
		for range 1 + random.IntN(3) {
			var some []Patch
			for _, p := range list {
				if come[p.ID] = come[p.ID] || random.IntN(3) > 0; come[p.ID] {
					some = append(some, p)
				}
			}
			gate.ahead(t, some)
		}
		before := len(gate.trials)
		slots := []int{1, 2, 8}[random.IntN(3)]
		got, err := Land(t.Context(), Request{Patches: list, Slots: slots, Gate: gate, Tried: gate.tried()})
		if err != nil {
			t.Fatal(err)
		}
		sameOutcome(t, seed, got, want)
		check(t, gate, list, got)
		for set, runs := range gate.runs {
			passed := slices.Index(runs, true)
			if passed >= 0 && passed < len(runs)-1 || len(runs) > runsToRefuse {
				t.Fatalf("seed %d: the set %q has the verdicts %v", seed, strings.ReplaceAll(set, "\x00", " "), runs)
			}
		}
		if slots == 1 {
			fewer, more = fewer+len(gate.trials)-before, more+plain
		}
	})
	if 2*fewer > more {
		t.Errorf("%d trials after those ahead, and %d without any: want at most half", fewer, more)
	}
}

// TestAhead: a landing for its verdicts verifies the branch first, and confirms no
// refusal. The next one tries only the sets that are new.
func TestAhead(t *testing.T) {
	t.Parallel()
	gate := &scripted{bad: set("a2"), clashes: [][]string{{"a1", "a4"}}, earlier: map[string]bool{}, runs: map[string][]bool{}}
	texts := func() string {
		var words []string
		for _, trial := range gate.trials {
			words = append(words, strings.Join(trial.Set, "+"))
		}
		gate.trials, gate.verdicts = nil, nil
		return strings.Join(words, " ")
	}
	list := patches(5)
	tried := gate.ahead(t, list[:4])
	if got, want := texts(), " a1+a2+a3+a4 a1+a2 a1 a2 a2 a3+a4 a1+a3+a4 a1+a3 a1+a3+a4"; got != want {
		t.Errorf("ahead of a landing the trials are %q, want %q", got, want)
	}
	out, err := Land(t.Context(), Request{Patches: list, Slots: 1, Gate: gate, Tried: tried})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := kinds(out), "a2 failed, a4 interaction"; got != want || len(out.Landed) != 3 {
		t.Errorf("landed %v, refused %q, want %q", out.Landed, got, want)
	}
	if got, want := texts(), "a1+a2+a3+a4+a5 a5 a1+a3+a4+a5 a1+a3+a5 a1+a3+a5+a2"; got != want {
		t.Errorf("after that the trials are %q, want %q", got, want)
	}

	// A patch that fails while the machine is busy lands if it passes after that.
	busy := &scripted{bad: set("a2"), earlier: map[string]bool{}, runs: map[string][]bool{}}
	tried = busy.ahead(t, list)
	busy.bad = nil
	if out, err = Land(t.Context(), Request{Patches: list, Slots: 1, Gate: busy, Tried: tried}); err != nil {
		t.Fatal(err)
	}
	if len(out.Landed) != len(list) {
		t.Errorf("after failures ahead only %v landed, and refused are %s", out.Landed, kinds(out))
	}

	broken := &scripted{broken: true, earlier: map[string]bool{}, runs: map[string][]bool{}}
	broken.ahead(t, list)
	if len(broken.trials) != 2 || len(broken.trials[1].Set) > 0 {
		t.Errorf("on a branch that fails the trials are %v, want two of the branch", broken.trials)
	}
}
