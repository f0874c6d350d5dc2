package queue

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"agentswarm/internal/testing/campaign"
)

// scripted is a gate whose verdicts are a function of the set: a set fails if it
// holds a bad patch, or all patches of a clash.
type scripted struct {
	bad     map[string]bool
	clashes [][]string
	text    []Conflict
	builds  map[string]string       // patches that merge only after another
	broken  bool                    // the branch itself fails
	flakes  func(n int) bool        // the nth trial fails although it should pass
	flaky   func(set []string) bool // a trial of the set fails although it should pass
	names   float64                 // the odds that an output names a bad patch
	random  *rand.Rand
	// earlier are keys of sets that passed in an earlier landing. With them the
	// gate keeps the verdicts of this landing, as the gate of package landing
	// does.
	earlier map[string]bool
	runs    map[string][]bool
	before  map[string]int // so many of the runs were ahead of the landing
	// screen is the quick check; nil: there is none.
	screen  func(set []string) bool
	hangs   map[string]bool // bad patches that hang
	screens int             // trials of the screen

	trials   []Trial
	verdicts []bool
	widest   int
}

func (s *scripted) Fit(_ context.Context, set []string) ([]string, error) {
	var fit []string
	for _, id := range set {
		meets := slices.ContainsFunc(s.text, func(c Conflict) bool {
			return c.First == id && slices.Contains(fit, c.Second) || c.Second == id && slices.Contains(fit, c.First)
		})
		below := s.builds[id]
		if !meets && (below == "" || slices.Contains(fit, below)) {
			fit = append(fit, id)
		}
	}
	return fit, nil
}

func (s *scripted) passes(set []string) bool {
	if s.broken || slices.ContainsFunc(set, func(id string) bool { return s.bad[id] }) {
		return false
	}
	return !slices.ContainsFunc(s.clashes, func(clash []string) bool {
		return !slices.ContainsFunc(clash, func(id string) bool { return !slices.Contains(set, id) })
	})
}

func (s *scripted) Verify(_ context.Context, trials []Trial) ([]Verdict, error) {
	s.widest = max(s.widest, len(trials))
	out := make([]Verdict, len(trials))
	for i, t := range trials {
		if t.Screen {
			s.screens++
			out[i].Passed = s.screen(t.Set)
			continue
		}
		out[i].Hung = slices.ContainsFunc(t.Set, func(id string) bool { return s.hangs[id] })
		if s.earlier[key(t.Set)] && !t.Fresh {
			out[i] = Verdict{Passed: true, Earlier: true}
			continue
		}
		runs, ahead := s.runs[key(t.Set)], s.before[key(t.Set)]
		if t.Confirms && !slices.Contains(runs, true) {
			ahead = 0
			runs = runs[s.before[key(t.Set)]:]
		}
		if s.earlier != nil && len(runs) >= t.Run {
			out[i].Passed, out[i].Ahead = runs[t.Run-1], t.Run <= ahead
			continue
		}
		out[i].Passed = s.passes(t.Set) && (s.flakes == nil || !s.flakes(len(s.trials))) && (s.flaky == nil || !s.flaky(t.Set))
		s.trials, s.verdicts = append(s.trials, t), append(s.verdicts, out[i].Passed)
		if s.earlier != nil {
			s.runs[key(t.Set)] = append(s.runs[key(t.Set)], out[i].Passed)
		}
	}
	return out, nil
}

func (s *scripted) Suspects(t Trial) []string {
	var named []string
	for _, id := range t.Set {
		if s.bad[id] && s.names > 0 && (s.names >= 1 || s.random.Float64() < s.names) {
			named = append(named, id)
		}
	}
	return named
}

// wide keeps the trials of each round in a line.
type wide struct {
	*scripted
	rounds []string
}

func (w *wide) Verify(ctx context.Context, trials []Trial) ([]Verdict, error) {
	var words []string
	for _, t := range trials {
		word := strings.Join(t.Set, "+")
		if t.Run > 1 {
			word += " again"
		}
		words = append(words, word)
	}
	w.rounds = append(w.rounds, strings.Join(words, ", "))
	return w.scripted.Verify(ctx, trials)
}

func patches(n int) []Patch {
	out := make([]Patch, n)
	for i := range out {
		out[i].ID = fmt.Sprintf("a%d", i+1)
	}
	return out
}

// land runs a landing and checks the rules that hold for each.
func land(t *testing.T, s *scripted, list []Patch, slots int) *Outcome {
	t.Helper()
	s.trials, s.verdicts, s.runs = nil, nil, map[string][]bool{}
	out, err := Land(t.Context(), Request{Patches: list, Slots: slots, Gate: s, Screen: s.screen != nil})
	if err != nil {
		t.Fatal(err)
	}
	check(t, s, list, out)
	if s.widest > slots {
		t.Errorf("%d trials at the same time, want at most %d", s.widest, slots)
	}
	return out
}

func check(t *testing.T, s *scripted, list []Patch, out *Outcome) {
	t.Helper()
	passed, failed := map[string]int{}, map[string]int{}
	for i, trial := range s.trials {
		if k := key(trial.Set); s.verdicts[i] {
			passed[k]++
		} else {
			failed[k]++
		}
		most := trial.Run
		if trial.Confirms {
			most += s.before[key(trial.Set)]
		}
		if k := key(trial.Set); passed[k]+failed[k] > most {
			t.Errorf("run %d of %v is trial %d of it", trial.Run, trial.Set, passed[k]+failed[k])
		}
	}
	if len(out.BranchFails) > 0 {
		if len(out.Landed)+len(out.Refused) > 0 {
			t.Errorf("the branch fails, and %v landed, %v are refused", out.Landed, out.Refused)
		}
		return
	}
	if len(out.Landed) > 0 && passed[key(out.Landed)] == 0 && !s.earlier[key(out.Landed)] {
		t.Errorf("the tip %v did not pass", out.Landed)
	}
	if got := len(out.Landed) + len(out.Refused); got != len(list) {
		t.Errorf("%d patches landed and %d were refused of %d", len(out.Landed), len(out.Refused), len(list))
	}
	for _, r := range out.Refused {
		if r.Kind == Text || r.Kind == Dependency {
			continue
		}
		if (r.Kind == Failed) != (len(r.On) == 0) {
			t.Errorf("%s is refused as %s on %v", r.ID, r.Kind, r.On)
		}
		k := key(append(slices.Clone(r.On), r.ID))
		if passed[key(r.On)] == 0 || failed[k] < 2 {
			t.Errorf("%s is refused after %d failed trials; the tree without it passed %d times", r.ID, failed[k], passed[key(r.On)])
		}
	}
}

// kinds are the refusals in a line.
// eachScene runs a test on random scenes: so many in the gate, and in a campaign. want is
// the outcome with a single slot.
func eachScene(t *testing.T, gate, rounds int, test func(seed int, random *rand.Rand, gate *scripted, list []Patch, want *Outcome)) {
	t.Helper()
	for seed := range campaign.Rounds(t, gate, rounds) {
		random := rand.New(rand.NewPCG(campaign.Seed(t), uint64(seed)))
		scripted, list := scene(random)
		test(seed, random, scripted, list, land(t, scripted, list, 1))
	}
}

// sameOutcome checks that two landings landed and refused the same patches.
func sameOutcome(t *testing.T, seed int, got, want *Outcome) {
	t.Helper()
	if !slices.Equal(got.Landed, want.Landed) || kinds(got) != kinds(want) {
		t.Fatalf("seed %d: landed %v, refused %q; want %v, %q", seed, got.Landed, kinds(got), want.Landed, kinds(want))
	}
}

func kinds(out *Outcome) string {
	words := make([]string, 0, len(out.Refused))
	for _, r := range out.Refused {
		words = append(words, r.ID+" "+string(r.Kind))
	}
	return strings.Join(words, ", ")
}
