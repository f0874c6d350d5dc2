// Package campaign decides how much work a test does.
//
// The gate (.ci/run) runs every test with a fixed seed and few rounds, so that
// two runs of the same tree do the same work. A campaign (.ci/campaign) runs
// the same tests with new seeds and many rounds. The package does not run
// campaigns and measures nothing.
package campaign

import (
	"fmt"
	"os"
	"strconv"
	"testing"
)

// Variable is the environment variable that makes a test process part of a
// campaign. Its value is the seed: a decimal number.
const Variable = "SWARM_CAMPAIGN"

// Seed returns the seed of a test: 1 in the gate, the campaign's own seed in a
// campaign. The test's log names it, so that a failure can be repeated.
func Seed(t testing.TB) uint64 {
	t.Helper()
	seed, running, err := parse(os.Getenv(Variable))
	if err != nil {
		t.Fatal(err)
	}
	if running {
		t.Logf("repeat with %s=%d", Variable, seed)
	}
	return seed
}

// Rounds returns the number of rounds of a test: gate in the gate, full in a
// campaign.
func Rounds(t testing.TB, gate, full int) int {
	t.Helper()
	_, running, err := parse(os.Getenv(Variable))
	if err != nil {
		t.Fatal(err)
	}
	if running {
		return full
	}
	return gate
}

// Running reports whether the test is part of a campaign.
func Running(t testing.TB) bool {
	t.Helper()
	return Rounds(t, 0, 1) == 1
}

// Only skips a test that has no place in the gate: its outcome depends on the
// load of the machine, or it takes minutes. The reason names its twin there.
func Only(t testing.TB, twin string) {
	t.Helper()
	if _, running, err := parse(os.Getenv(Variable)); err != nil {
		t.Fatal(err)
	} else if !running {
		t.Skip("part of .ci/campaign; in the gate: " + twin)
	}
}

// parse reads the value of Variable. An empty value is the gate.
func parse(value string) (seed uint64, running bool, err error) {
	if value == "" {
		return 1, false, nil
	}
	if seed, err = strconv.ParseUint(value, 10, 64); err != nil {
		return 0, false, fmt.Errorf("%s=%q: want a decimal number", Variable, value)
	}
	return seed, true, nil
}
