package campaign

import "testing"

func TestParse(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		give    string
		seed    uint64
		running bool
		bad     bool
	}{
		{give: "", seed: 1},
		{give: "7", seed: 7, running: true},
		{give: "0", seed: 0, running: true},
		{give: "yes", bad: true},
		{give: "-1", bad: true},
	} {
		seed, running, err := parse(tc.give)
		if seed != tc.seed || running != tc.running || (err != nil) != tc.bad {
			t.Errorf("parse(%q) = %d, %t, %v; want %d, %t, error %t", tc.give, seed, running, err, tc.seed, tc.running, tc.bad)
		}
	}
}

// TestSeedAndRounds: the gate always does the same work, a campaign more.
func TestSeedAndRounds(t *testing.T) {
	t.Setenv(Variable, "")
	if seed, rounds := Seed(t), Rounds(t, 2, 50); seed != 1 || rounds != 2 {
		t.Errorf("in the gate the seed is %d and there are %d rounds, want 1 and 2", seed, rounds)
	}
	t.Setenv(Variable, "9")
	if seed, rounds := Seed(t), Rounds(t, 2, 50); seed != 9 || rounds != 50 {
		t.Errorf("in a campaign the seed is %d and there are %d rounds, want 9 and 50", seed, rounds)
	}
}

func TestOnly(t *testing.T) {
	t.Setenv(Variable, "")
	ran := false
	t.Run("gate", func(t *testing.T) {
		Only(t, "TestParse")
		ran = true
	})
	if ran {
		t.Error("a test of a campaign ran in the gate")
	}
	t.Setenv(Variable, "3")
	t.Run("campaign", func(t *testing.T) {
		Only(t, "TestParse")
		ran = true
	})
	if !ran {
		t.Error("a campaign left its test out")
	}
}
