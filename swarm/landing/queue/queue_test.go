package queue

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"agentswarm/internal/testing/campaign"
)

func set(ids ...string) map[string]bool {
	out := map[string]bool{}
	for _, id := range ids {
		out[id] = true
	}
	return out
}

func TestLand(t *testing.T) {
	t.Parallel()
	needs := patches(4)
	needs[0].Needs, needs[1].Needs = []string{"a3"}, []string{"a1"}
	built := map[string]string{"a1": "a3", "a2": "a1"}
	for _, tt := range []struct {
		name    string
		gate    scripted
		patches []Patch
		landed  string
		refused string
	}{
		{"all pass", scripted{}, patches(3), "a1 a2 a3", ""},
		{"none", scripted{}, nil, "", ""},
		{"one fails", scripted{bad: set("a2")}, patches(3), "a1 a3", "a2 failed"},
		{"alone and fails", scripted{bad: set("a1")}, patches(1), "", "a1 failed"},
		{"all fail", scripted{bad: set("a1", "a2", "a3")}, patches(3), "", "a1 failed, a2 failed, a3 failed"},
		{"a pair", scripted{clashes: [][]string{{"a4", "a2"}}}, patches(5), "a1 a2 a3 a5", "a4 interaction"},
		{"a pair of which one fails", scripted{bad: set("a2"), clashes: [][]string{{"a2", "a4"}}}, patches(5), "a1 a3 a4 a5", "a2 failed"},
		{"three together", scripted{clashes: [][]string{{"a1", "a3", "a4"}}}, patches(5), "a1 a2 a3 a5", "a4 interaction"},
		{"text", scripted{text: []Conflict{{"a1", "a3"}}}, patches(3), "a1 a2", "a3 text"},
		{"text with one that fails", scripted{bad: set("a1"), text: []Conflict{{"a1", "a3"}}}, patches(3), "a2 a3", "a1 failed"},
		{"text twice", scripted{bad: set("a3"), text: []Conflict{{"a1", "a3"}}}, patches(3), "a1 a2", "a3 text"},
		{"needs", scripted{}, needs, "a3 a1 a2 a4", ""},
		{"one that others need", scripted{bad: set("a3")}, needs, "a4 a1 a2", "a3 failed"},
		{"the last of a chain", scripted{bad: set("a2")}, needs, "a3 a4 a1", "a2 interaction"},
		{"built on one that fails", scripted{bad: set("a3"), builds: built}, needs, "a4", "a3 failed, a1 dependency, a2 dependency"},
		{"built on one with a conflict", scripted{text: []Conflict{{"a4", "a3"}}, builds: built}, needs[:3], "a3 a1 a2", ""},
		{"built on one that fails later", scripted{bad: set("a1"), builds: built}, needs, "a3 a4", "a1 interaction, a2 dependency"},
		{"one that needs a later one and fails with it", scripted{clashes: [][]string{{"a1", "a3"}}}, needs, "a3 a4 a2", "a1 interaction"},
	} {
		for _, slots := range []int{1, 2, 3, 8} {
			gate := tt.gate
			out := land(t, &gate, tt.patches, slots)
			if got := strings.Join(out.Landed, " "); got != tt.landed || kinds(out) != tt.refused {
				t.Errorf("%s, %d slots: landed %q, refused %q, want %q, %q", tt.name, slots, got, kinds(out), tt.landed, tt.refused)
			}
			if len(out.Flaky) > 0 || len(out.BranchFails) > 0 {
				t.Errorf("%s: flaky %v, the branch %v", tt.name, out.Flaky, out.BranchFails)
			}
		}
	}
}

// TestBranchFails: a branch that fails twice blames no patch. If it failed only
// once, that was a flake.
func TestBranchFails(t *testing.T) {
	t.Parallel()
	for _, slots := range []int{1, 4} {
		out := land(t, &scripted{broken: true}, patches(20), slots)
		if len(out.BranchFails) != 2 {
			t.Errorf("%d slots: the branch failed in %v", slots, out.BranchFails)
		}
		gate := &scripted{bad: set("a3")}
		gate.flakes = func(n int) bool { return len(gate.trials) == n && n == 1 } // the branch is the second trial
		if out := land(t, gate, patches(20), slots); kinds(out) != "a3 failed" || len(out.Flaky) != 1 {
			t.Errorf("%d slots: refused %q, flaky %v", slots, kinds(out), out.Flaky)
		}
	}
}

// TestGoals: three bad patches of a hundred are found exactly, within the number
// of trials and rounds that the design promises.
func TestGoals(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		slots  int
		names  float64
		trials int // at most; 0: not bounded
		rounds int
	}{{1, 0, 40, 0}, {8, 0, 0, 8}, {1, 1, 20, 0}, {8, 1, 0, 6}} {
		for seed := range campaign.Rounds(t, 25, 1000) {
			random := rand.New(rand.NewPCG(campaign.Seed(t), uint64(seed)))
			list, gate := patches(100), &scripted{bad: map[string]bool{}, names: tt.names, random: random}
			for len(gate.bad) < 3 {
				gate.bad[list[random.IntN(len(list))].ID] = true
			}
			out := land(t, gate, list, tt.slots)
			for _, r := range out.Refused {
				if !gate.bad[r.ID] || r.Kind != Failed {
					t.Errorf("seed %d: %s is refused as %s", seed, r.ID, r.Kind)
				}
			}
			if len(out.Refused) != 3 || tt.trials > 0 && out.Trials > tt.trials || tt.rounds > 0 && out.Rounds > tt.rounds {
				t.Errorf("seed %d, %d slots, names %v: %d refused, %d trials, %d rounds; want 3, at most %d and %d",
					seed, tt.slots, tt.names, len(out.Refused), out.Trials, out.Rounds, tt.trials, tt.rounds)
			}
		}
	}
}

// scene is a random landing.
func scene(random *rand.Rand) (*scripted, []Patch) {
	list := patches(1 + random.IntN(30))
	pick := func() string { return list[random.IntN(len(list))].ID }
	gate := &scripted{bad: map[string]bool{}, random: random}
	for range random.IntN(5) {
		gate.bad[pick()] = true
	}
	for range random.IntN(3) {
		if a, b := pick(), pick(); a != b {
			gate.clashes = append(gate.clashes, []string{a, b})
		}
	}
	for range random.IntN(3) {
		if a, b := pick(), pick(); a != b {
			gate.text = append(gate.text, Conflict{a, b})
		}
	}
	for i := range list {
		if at := random.IntN(4 * len(list)); at < i {
			list[i].Needs = []string{list[at].ID}
		}
		list[i].Odds = []float64{0, CheckedOdds, DoubtedOdds}[random.IntN(3)]
	}
	return gate, Order(list, gate.text)
}

// TestSlotsDoNotDecide: for deterministic verdicts any number of slots, any odds
// and any suspects give the same patches in the same order.
func TestSlotsDoNotDecide(t *testing.T) {
	t.Parallel()
	eachScene(t, 150, 5000, func(seed int, random *rand.Rand, gate *scripted, list []Patch, want *Outcome) {
		for _, slots := range []int{2, 3, 8, 40} {
			gate.names = []float64{0, 0.5, 1}[random.IntN(3)]
			for i := range list {
				list[i].Odds = random.Float64() / 2
			}
			got := land(t, gate, list, slots)
			sameOutcome(t, seed, got, want)
		}
	})
}

// TestOneFlakeRefusesNobody: whichever single trial fails by chance, no good
// patch is refused, and the flake is named.
func TestOneFlakeRefusesNobody(t *testing.T) {
	t.Parallel()
	for _, slots := range []int{1, 4} {
		for at := 0; ; at++ {
			flaked := false
			gate := &scripted{bad: set("a4", "a17"), clashes: [][]string{{"a8", "a20"}}}
			gate.flakes = func(n int) bool {
				flaked = flaked || n == at
				return n == at
			}
			out := land(t, gate, patches(30), slots)
			if kinds(out) != "a4 failed, a17 failed, a20 interaction" {
				t.Errorf("%d slots, trial %d fails by chance: refused %q", slots, at, kinds(out))
			}
			if !flaked {
				break
			}
		}
	}
}

// TestManyFlakes: with two flakes in a hundred trials the rules of [check] hold,
// and only a patch whose own two trials failed is refused.
func TestManyFlakes(t *testing.T) {
	t.Parallel()
	for seed := range campaign.Rounds(t, 30, 1000) {
		random := rand.New(rand.NewPCG(campaign.Seed(t), uint64(seed)))
		gate, list := scene(random)
		gate.flakes = func(int) bool { return random.Float64() < 0.02 }
		land(t, gate, list, 1+random.IntN(8))
	}
}

func TestOrder(t *testing.T) {
	t.Parallel()
	needs := patches(3)
	needs[0].Needs = []string{"a2"}
	for _, tt := range []struct {
		name      string
		patches   []Patch
		conflicts []Conflict
		want      string
	}{
		{"none", patches(3), nil, "a1 a2 a3"},
		{"the earlier of two", patches(3), []Conflict{{"a3", "a1"}}, "a1 a2 a3"},
		{"a star", patches(4), []Conflict{{"a1", "a2"}, {"a1", "a3"}, {"a1", "a4"}}, "a2 a3 a4 a1"},
		{"a chain", patches(5), []Conflict{{"a1", "a2"}, {"a2", "a3"}, {"a3", "a4"}}, "a1 a3 a5 a2 a4"},
		{"needs", needs, nil, "a2 a1 a3"},
		{"unknown ids", patches(2), []Conflict{{"a1", "b"}, {"b", "c"}}, "a1 a2"},
	} {
		var got []string
		for _, p := range Order(tt.patches, tt.conflicts) {
			got = append(got, p.ID)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: Order = %v, want %s", tt.name, got, tt.want)
		}
	}
}

func TestInvalid(t *testing.T) {
	t.Parallel()
	for _, r := range []Request{
		{Patches: patches(1), Gate: &scripted{}},
		{Patches: []Patch{{ID: "a"}, {ID: "a"}}, Slots: 1, Gate: &scripted{}},
		{Patches: []Patch{{}}, Slots: 1, Gate: &scripted{}},
	} {
		if out, err := Land(t.Context(), r); err == nil {
			t.Errorf("Land(%+v) = %+v, want an error", r, out)
		}
	}
	_, err := Land(t.Context(), Request{Patches: patches(3), Slots: 1, Gate: &dead{}})
	if !errors.Is(err, errDead) {
		t.Errorf("a gate without a verdict gives %v", err)
	}
}

var errDead = errors.New("the disk is full")

// dead is a gate that gives no verdicts.
type dead struct{ scripted }

func (*dead) Verify(context.Context, []Trial) ([]Verdict, error) {
	return nil, fmt.Errorf("verify: %w", errDead)
}

// TestJoined: each reported set has passed and begins with the set before, and the
// last has all landed patches. The patches and refusals equal those of a landing
// without reports.
func TestJoined(t *testing.T) {
	t.Parallel()
	eachScene(t, 100, 2000, func(seed int, random *rand.Rand, gate *scripted, list []Patch, want *Outcome) {
		gate.trials, gate.verdicts = nil, nil
		var tip []string
		told := 0
		out, err := Land(t.Context(), Request{Patches: list, Slots: 1 + random.IntN(5), Gate: gate, Joined: func(_ context.Context, set []string) error {
			passed := false
			for i, trial := range gate.trials {
				passed = passed || gate.verdicts[i] && key(trial.Set) == key(set)
			}
			if told++; !passed || len(set) <= len(tip) || !slices.Equal(set[:len(tip)], tip) {
				t.Errorf("seed %d: %v joined after %v, passed: %v", seed, set, tip, passed)
			}
			tip = set
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(tip, out.Landed) {
			t.Errorf("seed %d: %v joined last, %v landed", seed, tip, out.Landed)
		}
		sameOutcome(t, seed, out, want)
	})
	stop := errors.New("the branch moved")
	for _, gate := range []*scripted{{}, {bad: set("a2")}} {
		_, err := Land(t.Context(), Request{Patches: patches(3), Slots: 1, Gate: gate, Joined: func(context.Context, []string) error { return stop }})
		if !errors.Is(err, stop) {
			t.Errorf("a set that does not join gives %v", err)
		}
	}
}

// TestJoinedOnEarlier: a set does not join on a pass of an earlier landing. It could not
// be taken back if the machine is at fault.
func TestJoinedOnEarlier(t *testing.T) {
	t.Parallel()
	gate := &scripted{broken: true, earlier: map[string]bool{key([]string{"a1", "a2"}): true}, runs: map[string][]bool{}}
	out, err := Land(t.Context(), Request{Patches: patches(2), Slots: 1, Gate: gate, Joined: func(_ context.Context, set []string) error {
		t.Errorf("%v joined", set)
		return nil
	}})
	if err != nil || len(out.BranchFails) != 2 {
		t.Errorf("Land = %+v, %v, want that the branch fails", out, err)
	}
}

// TestResize: slots that change after each round decide nothing either, and no round is
// wider than they allow.
func TestResize(t *testing.T) {
	t.Parallel()
	eachScene(t, 100, 2000, func(seed int, random *rand.Rand, gate *scripted, list []Patch, want *Outcome) {
		gate.trials, gate.verdicts = nil, nil
		rounds, slots := &wide{scripted: gate}, 1
		allowed := []int{1}
		got, err := Land(t.Context(), Request{Patches: list, Slots: 1, Gate: rounds, Resize: func() int {
			slots = random.IntN(9)
			allowed = append(allowed, max(1, slots))
			return slots
		}})
		if err != nil {
			t.Fatal(err)
		}
		check(t, gate, list, got)
		sameOutcome(t, seed, got, want)
		for i, round := range rounds.rounds {
			if n := strings.Count(round, ",") + 1; n > allowed[i] {
				t.Errorf("seed %d: round %d has %d trials, want at most %d", seed, i, n, allowed[i])
			}
		}
	})
}

// TestTwoFlakesRefuseNobody: a good patch whose own two trials both fail by chance passes
// on all landed patches, and lands. A patch that needs it lands after it.
func TestTwoFlakesRefuseNobody(t *testing.T) {
	t.Parallel()
	for _, slots := range []int{1, 2, 8} {
		list := patches(9)
		list[8].Needs = []string{"a2"}
		gate := &scripted{bad: set("a5"), builds: map[string]string{"a9": "a2"}}
		gate.flaky = func(set []string) bool { return key(set) == "a2" || len(set) == 4 || len(set) == 2 }
		out := land(t, gate, list, slots)
		if kinds(out) != "a5 failed" || len(out.Landed) != 8 {
			t.Errorf("%d slots: landed %v, refused %q", slots, out.Landed, kinds(out))
		}
	}
}
