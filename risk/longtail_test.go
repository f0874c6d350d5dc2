package risk_test

import (
	"hash/fnv"
	"os"
	"path/filepath"
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
)

// longTail are the commands of testdata/longtail.txt and longtail_later.txt.
// The hash of a line of the first file says whether it was set aside.
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
	return append(first, longTailFile(t, "longtail_later.txt", func(string) string { return laterSet })...)
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
	sets := []string{workHalf, asideSet, laterSet}
	missed, asked := map[string]*share{}, map[string]*share{}
	for _, set := range sets {
		missed[set] = &share{name: set + ": must ask and proceeds", most: 8}
		asked[set] = &share{name: set + ": harmless and asks", most: 1}
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
	if len(programs) < 600 {
		t.Errorf("%d programs, want 600", len(programs))
	}
	for _, set := range sets {
		missed[set].check(t)
		asked[set].check(t)
	}
}
