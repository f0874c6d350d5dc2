package compare

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"agentswarm/swarm/landing/queue"
)

// Scenario describes landings whose details are drawn at random.
type Scenario struct {
	Patches int     // how many there are
	Bad     float64 // the share of patches that fail alone
	Pairs   int     // pairs that fail only together
	Flaky   float64 // the share of runs that fail by chance
	Named   float64 // the share of bad patches that the output of a failed run names
}

// world is a landing with its truth. It is the [queue.Gate] of the landing.
type world struct {
	ids    []string
	bad    map[string]bool
	pairs  [][2]string
	flaky  float64
	named  map[string]bool // bad patches that outputs name
	random *rand.Rand      // of the flakes

	trials, rounds int
}

// newWorld draws a landing. Equal seeds give equal landings.
func newWorld(s Scenario, seed uint64) *world {
	random := rand.New(rand.NewPCG(seed, 1))
	w := &world{bad: map[string]bool{}, named: map[string]bool{}, flaky: s.Flaky, random: rand.New(rand.NewPCG(seed, 2))}
	for i := range s.Patches {
		id := fmt.Sprintf("a%d", i+1)
		w.ids = append(w.ids, id)
		if random.Float64() < s.Bad {
			w.bad[id] = true
			w.named[id] = random.Float64() < s.Named
		}
	}
	good := slices.DeleteFunc(slices.Clone(w.ids), func(id string) bool { return w.bad[id] })
	random.Shuffle(len(good), func(i, j int) { good[i], good[j] = good[j], good[i] })
	for i := 0; i < s.Pairs && 2*i+1 < len(good); i++ {
		w.pairs = append(w.pairs, [2]string{good[2*i], good[2*i+1]})
	}
	return w
}

// passes reports whether the tree of a set is good.
func (w *world) passes(set []string) bool {
	if slices.ContainsFunc(set, func(id string) bool { return w.bad[id] }) {
		return false
	}
	return !slices.ContainsFunc(w.pairs, func(p [2]string) bool {
		return slices.Contains(set, p[0]) && slices.Contains(set, p[1])
	})
}

// run runs the check on some sets at the same time.
func (w *world) run(sets ...[]string) []bool {
	w.rounds++
	w.trials += len(sets)
	out := make([]bool, len(sets))
	for i, set := range sets {
		flake := w.random.Float64() < w.flaky
		out[i] = w.passes(set) && !flake
	}
	return out
}

// Fit implements [queue.Gate]: all patches merge.
func (w *world) Fit(_ context.Context, set []string) ([]string, error) { return set, nil }

// Verify implements [queue.Gate].
func (w *world) Verify(_ context.Context, trials []queue.Trial) ([]queue.Verdict, error) {
	sets := make([][]string, len(trials))
	for i, t := range trials {
		sets[i] = t.Set
	}
	out := make([]queue.Verdict, len(trials))
	for i, passed := range w.run(sets...) {
		out[i].Passed = passed
	}
	return out, nil
}

// Suspects implements [queue.Gate].
func (w *world) Suspects(failed queue.Trial) []string {
	return slices.DeleteFunc(slices.Clone(failed.Set), func(id string) bool { return !w.named[id] })
}

// Result is the outcome of a landing by a way to land, or the sum over several.
type Result struct {
	Landings      int
	Verifications int // runs of the check
	Rounds        int // runs after each other: the time in runs of the check
	Good          int // patches that could land: neither bad nor the second of a pair
	Landed        int // patches that landed
	Innocent      int // refused patches with which the result would have passed
	Broken        int // landings whose result does not pass
}

func (r *Result) add(o Result) {
	r.Landings += o.Landings
	r.Verifications += o.Verifications
	r.Rounds += o.Rounds
	r.Good += o.Good
	r.Landed += o.Landed
	r.Innocent += o.Innocent
	r.Broken += o.Broken
}

// result judges the landed patches by the truth.
func (w *world) result(landed []string) Result {
	r := Result{
		Landings: 1, Verifications: w.trials, Rounds: w.rounds, Landed: len(landed),
		Good: len(w.ids) - len(w.bad) - len(w.pairs),
	}
	if !w.passes(landed) {
		r.Broken = 1
		return r
	}
	for _, id := range w.ids {
		if !slices.Contains(landed, id) && w.passes(append(slices.Clone(landed), id)) {
			r.Innocent++
		}
	}
	return r
}

// key is the same for equal sets in the same order.
func key(set []string) string { return strings.Join(set, " ") }
