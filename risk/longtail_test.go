package risk_test

import (
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentswarm/risk"
)

// longTailCase is a command of a program that most rules do not cover.
type longTailCase struct {
	command string
	asks    bool // it must not proceed without a question
	set     string
}

// The sets of commands of the long tail.
const (
	workHalf = "work half"      // the grammar was written with it
	asideSet = "half set aside" // not read while the grammar was written
	laterSet = "second collection"
	thirdSet = "third collection"
	liveSet  = "changes of live systems"
)

// longTail returns the commands of the files testdata/longtail*.txt. The hash
// of a line of the first file decides whether the line was set aside.
func longTail(t testing.TB) []longTailCase {
	t.Helper()
	first := longTailFile(t, "longtail.txt", func(line string) string {
		h := fnv.New32a()
		h.Write([]byte(line))
		if h.Sum32()%2 == 1 {
			return asideSet
		}
		return workHalf
	})
	later := longTailFile(t, "longtail_later.txt", func(string) string { return laterSet })
	third := longTailFile(t, "longtail_third.txt", func(string) string { return thirdSet })
	live := longTailFile(t, "longtail_live.txt", func(string) string { return liveSet })
	return slices.Concat(first, later, third, live)
}

func longTailFile(t testing.TB, name string, setOf func(line string) string) []longTailCase {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	var all []longTailCase
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		mark, command, ok := strings.Cut(line, " ")
		if !ok || mark == "#" {
			continue
		}
		if mark != "!" && mark != "." {
			t.Fatalf("line %q begins with neither ! nor .", line)
		}
		all = append(all, longTailCase{command: command, asks: mark == "!", set: setOf(line)})
	}
	return all
}

// TestLongTail holds how many commands of the long tail are judged wrongly, in
// each of its sets.
func TestLongTail(t *testing.T) {
	t.Parallel()
	rules, place := loadRules(t), corpusPlace(false, true)
	// How many of a set may be judged wrongly, in percent. Commands of the last
	// two were taken by their descriptions, so more of them are hard.
	sets := []struct {
		name          string
		missed, asked float64
	}{{workHalf, 8, 1}, {asideSet, 8, 1}, {laterSet, 8, 1}, {thirdSet, 16, 2.4}, {liveSet, 60, 0}}
	missed, asked := map[string]*share{}, map[string]*share{}
	for _, set := range sets {
		missed[set.name] = &share{name: set.name + ": must ask and proceeds", most: set.missed}
		asked[set.name] = &share{name: set.name + ": harmless and asks", most: set.asked}
	}
	programs := map[string]bool{}
	for _, c := range longTail(t) {
		got := rules.Classify(&risk.Shell{Text: c.command}, place)
		programs[strings.Fields(c.command)[0]] = true
		wrong := c.asks == (got.Tier == risk.Safe)
		if c.asks {
			missed[c.set].count(wrong)
		} else {
			asked[c.set].count(wrong)
		}
		if wrong {
			t.Logf("%q = %s", c.command, found(got))
		}
	}
	if len(programs) < 850 {
		t.Errorf("%d programs, want 850", len(programs))
	}
	for _, set := range sets {
		missed[set.name].check(t)
		if set.name != liveSet { // nothing of it is harmless
			asked[set.name].check(t)
		}
	}
}
