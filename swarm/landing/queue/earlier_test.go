package queue

import (
	"strings"
	"testing"
)

// TestEarlier: patches land on a pass of an earlier landing, and none is refused on
// it. The helper check demands a pass of this landing for the set of each refusal.
func TestEarlier(t *testing.T) {
	t.Parallel()
	chain := patches(3)
	chain[2].Needs = []string{"a1"}
	for _, tt := range []struct {
		name    string
		gate    scripted
		patches []Patch
		earlier []string // sets that passed
		landed  string
		refused string
		broken  bool // the branch fails
		trials  int  // that ran, with one slot
	}{
		{"all passed", scripted{broken: true}, patches(3), []string{"a1 a2 a3"}, "a1 a2 a3", "", false, 0},
		{"the branch passed, and the machine has broken", scripted{broken: true}, patches(3), []string{""}, "", "", true, 3},
		{
			"a group passed, and the machine has broken",
			scripted{broken: true}, patches(3), []string{"", "a1 a2"}, "", "", true, 3,
		},
		{
			"the branch passed, and one is bad",
			scripted{bad: set("a2")}, patches(2), []string{""}, "a1", "a2 failed", false, 5,
		},
		{
			"the rest passed, and one is bad",
			scripted{bad: set("a3")}, patches(3), []string{"", "a1 a2", "a1", "a2"}, "a1 a2", "a3 failed", false, 4,
		},
		{
			"what a bad patch needs passed",
			scripted{bad: set("a3")}, chain, []string{"", "a1", "a1 a2"}, "a1 a2", "a3 interaction", false, 5,
		},
		{
			"what a bad patch needs passed, and fails now",
			scripted{bad: set("a1", "a3")}, chain, []string{"", "a1", "a1 a2"}, "a2", "a1 failed, a3 interaction", false, 10,
		},
		{
			"each of a pair passed",
			scripted{clashes: [][]string{{"a1", "a2"}}}, patches(2), []string{"", "a1", "a2"}, "a1", "a2 interaction", false, 6,
		},
		{
			"the rest passed beside a conflict of text",
			scripted{text: []Conflict{{"a1", "a3"}}}, patches(3), []string{"a1 a2"}, "a1 a2", "a3 text", false, 0,
		},
	} {
		for _, slots := range []int{1, 2, 8} {
			gate := tt.gate
			gate.earlier = map[string]bool{}
			for _, ids := range tt.earlier {
				gate.earlier[key(strings.Fields(ids))] = true
			}
			out := land(t, &gate, tt.patches, slots)
			if got := strings.Join(out.Landed, " "); got != tt.landed || kinds(out) != tt.refused {
				t.Errorf("%s, %d slots: landed %q, refused %q, want %q, %q", tt.name, slots, got, kinds(out), tt.landed, tt.refused)
			}
			if got := len(out.BranchFails) > 0; got != tt.broken {
				t.Errorf("%s, %d slots: the branch fails: %v, want %v", tt.name, slots, got, tt.broken)
			}
			if slots == 1 && len(gate.trials) != tt.trials {
				t.Errorf("%s: %d trials ran, want %d: %v", tt.name, len(gate.trials), tt.trials, gate.trials)
			}
		}
	}
}
