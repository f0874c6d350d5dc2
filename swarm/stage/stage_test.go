package stage

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestParts(t *testing.T) {
	t.Parallel()
	var names []string
	for _, p := range Parts() {
		names = append(names, p.Name)
		if p.Words == "" || p.Reads == (p.Name == Implementer) {
			t.Errorf("%+v: it has no words, or the implementer alone does not write", p)
		}
	}
	if want := []string{Planner, Implementer, Reviewer}; !slices.Equal(names, want) {
		t.Errorf("Parts = %v, want %v", names, want)
	}
	if !json.Valid(Verdict()) {
		t.Errorf("Verdict = %s", Verdict())
	}
	for _, test := range []struct {
		name   string
		roster []string
		want   bool
	}{{Implementer, names, true}, {Reviewer, names, false}, {Implementer, names[:2], false}, {"build", names, false}} {
		if got := Awaits(test.name, test.roster); got != test.want {
			t.Errorf("Awaits(%s, %v) = %t", test.name, test.roster, got)
		}
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	for give, most := range map[string][2]int{
		"": {0, 0}, "word": {1, 1}, "make the parser accept tabs": {6, 8}, "日本語": {3, 3}, "🙂": {2, 2},
		"12345678": {4, 4}, "if (a == b) { return x }": {7, 11}, "привет": {3, 3},
		// A text like a key has few letters to a token.
		strings.Repeat("abcdefghij", 10): {45, 50}, "9f86d081884c7d659a2feaa0c55ad015": {12, 16},
	} {
		if got := Tokens(give); got < most[0] || got > most[1] {
			t.Errorf("Tokens(%q) = %d, want %d to %d", give, got, most[0], most[1])
		}
	}
}

// texts are such as no prompt should grow with.
func texts() map[string]string {
	return map[string]string{
		"words": strings.Repeat("make the parser accept tabs. ", 20_000), "lines": strings.Repeat("a\n", 100_000),
		"a digest": strings.Repeat("9f86D081", 50_000), "faces": strings.Repeat("🙂", 50_000), "accents": strings.Repeat("é\u0301", 50_000),
		"no UTF-8": strings.Repeat("a\xff\xfe", 50_000), "marks": strings.Repeat("…{}", 50_000), "short": "x",
	}
}

func TestCuts(t *testing.T) {
	t.Parallel()
	for name, text := range texts() {
		for _, most := range []int{4, 10, 64, 1500} {
			for cut, got := range map[string]string{"Head": Head(text, most), "Tail": Tail(text, most), "Middle": Middle(text, most)} {
				n := Tokens(got)
				if n > most || !utf8.ValidString(got) || strings.Contains(name, "short") != (got == text) {
					t.Errorf("%s of %s to %d has %d tokens: %.40q", cut, name, most, n, got)
				}
				if name != "short" && n < most/3 {
					t.Errorf("%s of %s to %d leaves only %d tokens", cut, name, most, n)
				}
			}
		}
	}
	if got := Middle("first/"+strings.Repeat("folder/", 200)+"last.go", 20); !strings.HasPrefix(got, "first/") || !strings.HasSuffix(got, "/last.go") {
		t.Errorf("Middle = %s", got)
	}
	if got := Head("aé🙂"+strings.Repeat("🙂", 9), 4); got != "aé🙂…" {
		t.Errorf("Head = %s", got)
	}
}

// TestAsk: the request to a reviewer is bounded for all inputs. It says where
// something was left out, and then the whole text is elsewhere.
func TestAsk(t *testing.T) {
	t.Parallel()
	small := Review{Task: " do it\n", Plan: "first a", Own: []string{"check errors"}, Change: "- a.go (added)\n", Paths: []string{"a.go"}}
	prompt, whole := small.Ask()
	want := "Review a change that another agent made. It lies in your workspace; you change nothing.\n\nThe task:\ndo it\n\n" +
		"The plan it followed:\nfirst a\n\n- a.go (added)\n\nFor you alone:\n- check errors"
	if prompt != want || whole != "" {
		t.Errorf("Ask() =\n%s\nand %q, want\n%s", prompt, whole, want)
	}
	for a, task := range texts() {
		for b, plan := range texts() {
			own := []string{task, plan}
			r := Review{Task: task + " END", Plan: plan + " END", Own: own, Change: strings.Repeat("- file ", 300), Paths: []string{"x\n- y"}}
			prompt, whole := r.Ask()
			if n := Tokens(prompt); n > Most {
				t.Errorf("%s and %s: %d tokens", a, b, n)
			}
			for _, part := range []string{strings.TrimSpace(r.Task), strings.TrimSpace(r.Plan), task, `- "x\n- y"`} {
				if !strings.Contains(whole, part) {
					t.Errorf("%s and %s: something is not in the whole", a, b)
				}
			}
			if !strings.Contains(prompt, "The task:\n"+task[:1]) && task[0] < 0x80 || !strings.Contains(prompt, "The plan it followed:") {
				t.Errorf("%s and %s: nothing is left of the task: %.400s", a, b, prompt)
			}
		}
	}
	// A name that is cut is whole elsewhere.
	long := strings.Repeat("folder/", 60) + "x.go"
	_, whole = Review{Task: "t", Change: "- " + Middle(long, 64), Paths: []string{long}}.Ask()
	if !strings.Contains(whole, long) {
		t.Errorf("whole = %s", whole)
	}
	if got := Whole("f.md"); !strings.Contains(got, " f.md,") || !strings.Contains(got, cutMark) {
		t.Errorf("Whole = %s", got)
	}
}

func FuzzAsk(f *testing.F) {
	f.Add("task", "plan", "own", "change", "path")
	f.Add("\xff", "", "\n", "🙂", "\x00")
	f.Fuzz(func(t *testing.T, task, plan, own, change, path string) {
		r := Review{Task: task, Plan: plan, Own: []string{own}, Change: Head(change, 700), Paths: []string{path}}
		prompt, whole := r.Ask()
		if n := Tokens(prompt); n > Most {
			t.Errorf("%d tokens", n)
		}
		if whole == "" && utf8.ValidString(task) && !strings.Contains(prompt, strings.TrimSpace(task)) {
			t.Error("the task is cut, and nowhere whole")
		}
	})
}
