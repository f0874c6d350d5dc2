package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"

	"agentswarm/internal/testing/campaign"
	"agentswarm/swarm/event"
)

// queueKilling is a landing with a check that is killed again and again.
type queueKilling struct {
	*fixture
	old, new string   // the trees of the branch on either side
	flags    []string // of the merge
}

// TestKilledQueue kills a merge with a check at random steps. The branch is where it
// was, or at the tree that passed. Every second merge moves it as patches pass. The next
// merge continues from the verdicts: no tree is verified again, and nothing is left.
func TestKilledQueue(t *testing.T) {
	t.Parallel()
	k := &queueKilling{fixture: newFixture(t)}
	k.ends(0, "run", "--each", "pkg/*", "--", "sh", "-c",
		`case $SWARM_ITEM in pkg/p1) echo bad;; *) echo good;; esac > "$SWARM_ITEM/f.txt"`)
	k.old = k.git("rev-parse", "HEAD^{tree}")
	k.ends(7, "merge", "--verify", check(0))
	k.new = k.git("rev-parse", "HEAD^{tree}")
	k.ends(0, "undo")
	dice := rand.New(rand.NewPCG(campaign.Seed(t), 0))
	kills := 0
	for n := 1; kills < campaign.Rounds(t, 6, 200); n++ {
		k.flags = nil
		if n%2 == 0 {
			k.flags = []string{"--as-they-pass"}
		}
		for k.killed(strconv.Itoa(1+dice.IntN(40)), check(n)) {
			kills++
		}
		k.about = fmt.Sprintf("after %d kills: ", kills)
		if got := k.git("rev-parse", "HEAD^{tree}"); got != k.new {
			k.failf("the branch is at the tree %s, want %s", got, k.new)
		}
		k.clean()
		k.ends(0, "undo")
	}
	k.verifiedOnce(1)
}

// check is the text of a check. A verdict on it does not count for another
// check.
func check(n int) string { return fmt.Sprintf("! grep -q bad pkg/*/f.txt # %d", n) }

// killed kills a merge at a step. It reports false if the merge came to its end
// before that.
func (k *queueKilling) killed(step, check string) bool {
	k.t.Helper()
	happened := filepath.Join(k.dir, "happened")
	defer os.Remove(happened)
	s := k.swarm([]string{faultVar + "=kill:" + step + ":" + happened}, slices.Concat([]string{"merge", "--slots", "1", "--verify", check}, k.flags)...)
	at, err := os.ReadFile(happened)
	k.about = fmt.Sprintf("killed at step %s, %s: ", step, at)
	switch {
	case err != nil && s.code != 7:
		k.failf("it ended with %d: %s", s.code, s.stderr)
	case err != nil:
		return false
	case s.code != 128+int(syscall.SIGKILL):
		k.failf("it ended with %d: %s", s.code, s.stderr)
	}
	if got := k.git("rev-parse", "HEAD^{tree}"); got != k.old && got != k.new {
		k.failf("the branch is at the tree %s, neither %s nor %s", got, k.old, k.new)
	}
	return true
}

// clean fails if anything of a verification is left.
func (k *queueKilling) clean() {
	k.t.Helper()
	left, _ := filepath.Glob(filepath.Join(k.state, "*", "trees", "*", "landing.*"))
	if refs := k.captures("for-each-ref", "refs/swarm/*/verify"); len(left) > 0 || refs != "" {
		k.failf("left are %q, %s", left, refs)
	}
	if dirt := k.git("status", "--porcelain"); dirt != "" {
		k.failf("the checkout is not clean:\n%s", dirt)
	}
}

// verifiedOnce fails if a landing verified a tree again. A refused patch has two
// verdicts, and a set of several patches that fails has at most so many.
func (k *queueKilling) verifiedOnce(sets int) {
	k.t.Helper()
	type of struct {
		tree, command string
		passed        bool
	}
	seen := map[of]int{}
	for _, r := range k.records() {
		switch e := r.Event.(type) {
		case *event.Refused:
			clear(seen) // the landing has ended
		case *event.Intended:
			if !e.More {
				clear(seen)
			}
		case *event.Verified:
			v, most := of{e.Tree, e.Command, e.Passed}, 2
			if len(e.Agents) > 1 {
				most = sets
			}
			if seen[v]++; seen[v] > most || seen[v] > 1 && e.Passed {
				k.failf("record %d verifies %v of %q once more", r.N, e.Agents, e.Command)
			}
		}
	}
}

// TestKilledAhead kills a run at random steps while it checks patches ahead of its merge.
// The run is resumed, and a merge continues from the verdicts: the branch is at the tree
// that passed, no tree is verified again, and nothing is left.
func TestKilledAhead(t *testing.T) {
	t.Parallel()
	k := &queueKilling{fixture: newFixture(t)}
	k.old = k.git("rev-parse", "HEAD^{tree}")
	dice := rand.New(rand.NewPCG(campaign.Seed(t), 1))
	pair := `! { grep -q pair pkg/p0/f.txt && grep -q pair pkg/p1/f.txt; } # %d`
	run := []string{"run", "-j", "1", "--each", "pkg/*", "--merge", "--verify", "", "--", "sh", "-c",
		`case $SWARM_ITEM in pkg/p[01]) echo pair;; *) echo good;; esac > "$SWARM_ITEM/f.txt"`}
	for n := range 1 + campaign.Rounds(t, 2, 100) {
		check := fmt.Sprintf(pair, n)
		run[7] = check
		if n == 0 { // it tells the tree
			k.ends(7, run...)
			k.new = k.git("rev-parse", "HEAD^{tree}")
			k.ends(0, "undo")
			continue
		}
		happened := filepath.Join(k.dir, "happened")
		s := k.swarm([]string{faultVar + "=kill:" + strconv.Itoa(20+dice.IntN(80)) + ":" + happened}, run...)
		at, err := os.ReadFile(happened)
		k.about = fmt.Sprintf("round %d, killed at step %s: ", n, at)
		if err == nil {
			k.must(os.Remove(happened))
			if got := k.git("rev-parse", "HEAD^{tree}"); s.code != 128+int(syscall.SIGKILL) || got != k.old && got != k.new {
				k.failf("it ended with %d and the tree %s: %s", s.code, got, s.stderr)
			}
			k.ends(0, "resume")
			if k.git("rev-parse", "HEAD^{tree}") == k.old {
				k.ends(7, "merge", "--slots", "1", "--verify", check)
			}
		} else if s.code != 7 {
			k.failf("it ended with %d: %s", s.code, s.stderr)
		}
		if got := k.git("rev-parse", "HEAD^{tree}"); got != k.new {
			k.failf("the branch is at the tree %s, want %s", got, k.new)
		}
		k.clean()
		k.ends(0, "undo")
	}
	k.verifiedOnce(3)
}
