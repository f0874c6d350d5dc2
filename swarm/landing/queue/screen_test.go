package queue

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestScreenDoesNotDecide: whatever the screen says about sets, the same patches land and
// the same are refused for the same reasons as without it.
func TestScreenDoesNotDecide(t *testing.T) {
	t.Parallel()
	eachScene(t, 150, 5000, func(seed int, random *rand.Rand, gate *scripted, list []Patch, want *Outcome) {
		wrong := []float64{0, 0.3, 1}[random.IntN(3)]
		said := map[string]bool{}
		gate.screen = func(set []string) bool {
			k := key(set)
			if _, known := said[k]; !known {
				said[k] = gate.passes(set) != (random.Float64() < wrong)
			}
			return said[k]
		}
		for _, slots := range []int{1, 3, 8} {
			got := land(t, gate, list, slots)
			sameOutcome(t, seed, got, want)
		}
	})
}

// TestScreen: the screen saves runs of the check, and a screen that fails on the branch
// itself is not used.
func TestScreen(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		screen func(g *scripted, set []string) bool
		fails  bool // the screen fails on the branch
		runs   int  // of the check at most, with a single slot
	}{
		{"right", func(g *scripted, set []string) bool { return g.passes(set) }, false, 12},
		{"passes all", func(*scripted, []string) bool { return true }, false, 40},
		{"fails always", func(*scripted, []string) bool { return false }, true, 40},
	} {
		for _, slots := range []int{1, 4} {
			gate := &scripted{bad: set("a7", "a33", "a60")}
			gate.screen = func(set []string) bool { return tt.screen(gate, set) }
			out := land(t, gate, patches(100), slots)
			if kinds(out) != "a7 failed, a33 failed, a60 failed" || out.ScreenFails != tt.fails {
				t.Errorf("%s: %q is refused, the screen fails: %v", tt.name, kinds(out), out.ScreenFails)
			}
			if slots == 1 && len(gate.trials) > tt.runs {
				t.Errorf("%s: the check ran %d times, want at most %d", tt.name, len(gate.trials), tt.runs)
			}
		}
	}
}

// TestHanging: after a group that hung, each of its patches is tried alone. The second
// run of a patch that hung is the only one of its round.
func TestHanging(t *testing.T) {
	t.Parallel()
	for _, slots := range []int{1, 4} {
		gate := &scripted{bad: set("a3"), hangs: set("a3")}
		rounds := &wide{scripted: gate}
		out, err := Land(t.Context(), Request{Patches: patches(30), Slots: slots, Gate: rounds})
		if err != nil {
			t.Fatal(err)
		}
		if kinds(out) != "a3 failed" || len(out.Landed) != 29 {
			t.Errorf("%d slots: %q is refused, %d landed", slots, kinds(out), len(out.Landed))
		}
		hung := 0
		for _, trial := range gate.trials {
			if len(trial.Set) > 1 && slices.Contains(trial.Set, "a3") {
				hung++
			}
		}
		if hung > 2 {
			t.Errorf("%d slots: %d groups hung, want the whole and one more at most", slots, hung)
		}
		for _, round := range rounds.rounds {
			if strings.Contains(round, "a3 again") && round != "a3 again" {
				t.Errorf("%d slots: the second run of a3 was one of %q", slots, round)
			}
		}
	}
}
