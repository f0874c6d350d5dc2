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
	held    bool // it was set aside while the grammar was written
}

// longTail are the commands of testdata/longtail.txt. The hash of a line says
// whether it was set aside.
func longTail(t testing.TB) []longTailCase {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "longtail.txt"))
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
		h := fnv.New32a()
		h.Write([]byte(line))
		all = append(all, longTailCase{command: command, asks: mark == "!", held: h.Sum32()%2 == 1})
	}
	return all
}

// TestLongTail holds how many commands of the long tail are judged wrongly, on
// the half that the grammar was written with and on the one set aside.
func TestLongTail(t *testing.T) {
	t.Parallel()
	rules, place := loadRules(t), corpusPlace(false, true)
	shares := map[bool][2]*share{
		false: {{name: "work half: must ask and proceeds", most: 8}, {name: "work half: harmless and asks", most: 1}},
		true:  {{name: "half set aside: must ask and proceeds", most: 8}, {name: "half set aside: harmless and asks", most: 1}},
	}
	programs := map[string]bool{}
	for _, c := range longTail(t) {
		got := rules.Classify(&risk.Shell{Text: c.command}, place)
		programs[strings.Fields(c.command)[0]] = true
		s := shares[c.held]
		wrong := c.asks == (got.Tier == risk.Safe)
		if c.asks {
			s[0].count(wrong)
		} else {
			s[1].count(wrong)
		}
		if wrong {
			t.Logf("%q = %s", c.command, found(got))
		}
	}
	if len(programs) < 200 {
		t.Errorf("%d programs, want 200", len(programs))
	}
	for _, half := range []bool{false, true} {
		shares[half][0].check(t)
		shares[half][1].check(t)
	}
}
