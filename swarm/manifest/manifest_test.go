package manifest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"agentswarm/swarm/schema"
	"agentswarm/swarm/stage"
	"agentswarm/worktree/git"
)

func TestText(t *testing.T) {
	t.Parallel()
	m := &Manifest{
		Files: Files([]git.Outline{
			{Change: git.Change{Path: "a.go", Status: 'M'}, Added: 4, Deleted: 1, Spans: []git.Span{{First: 3, Lines: 3}, {First: 9, Lines: 1}, {First: 20, Lines: 0}}},
			{Change: git.Change{Path: "b\n- c", Status: 'A'}, Added: 2, Spans: []git.Span{{First: 1, Lines: 2}}},
			{Change: git.Change{Path: "d.png", Status: 'D'}, Binary: true},
		}),
		Steps: []Step{
			{Name: "setup", Command: "make\n  deps", OK: true},
			{Name: "verify", Command: "go test", Code: 2, Tail: "FAIL x\n\nFAIL"},
		},
	}
	want := `Changed files: 3, +6 -1 lines
- a.go (changed, +4 -1; lines 3-5, 9, behind 20)
- "b\n- c" (added, +2 -0)
- d.png (deleted, binary)

Run by the harness on this work:
- setup: make deps: ok
- verify: go test: failed, exit status 2
    FAIL x
    FAIL
`
	if got := m.Text(); got != want {
		t.Errorf("Text() =\n%s\nwant\n%s", got, want)
	}
	if got := (&Manifest{}).Text(); !strings.Contains(got, "Changed files: 0") || !strings.Contains(got, "nothing: no file changed") {
		t.Errorf("Text() of nothing = %s", got)
	}
}

// TestTextIsBounded: neither many files, nor long names, nor long outputs make
// the text too long for a reviewer.
func TestTextIsBounded(t *testing.T) {
	t.Parallel()
	m := &Manifest{Files: Files(extreme("é", 5000)), Steps: extremeSteps()}
	text := m.Text()
	if len(text) > 24_000 || !strings.Contains(text, "and 4960 more") {
		t.Errorf("it has %d bytes", len(text))
	}
	if strings.Contains(text, "\u001b") {
		t.Error("it steers a terminal")
	}
}

// extreme are changes of files with the longest names, made of a letter, and
// many changed places each.
func extreme(letter string, n int) (changes []git.Outline) {
	name := strings.Repeat(letter, 255/len(letter))
	for i := range n {
		o := git.Outline{Change: git.Change{Path: fmt.Sprint(strings.Repeat(name+"/", 15), i, name), Status: 'M'}, Added: 1 << 40, Deleted: 1 << 40}
		for n := range 60 {
			o.Spans = append(o.Spans, git.Span{First: 1 + n*1_000_000, Lines: 1000})
		}
		changes = append(changes, o)
	}
	return changes
}

// extremeSteps are a setup and a check that printed whatever files hold.
func extremeSteps() []Step {
	long := strings.Repeat("go test 🙂 ", 1000)
	return []Step{
		{Name: "setup", Command: long, OK: true},
		{Name: "verify", Command: long, OK: true, Tail: Tail(strings.Repeat("9f86d081 🙂 {}();\u001b[2J\n", 5000))},
	}
}

// TestReviewIsShort: all that a reviewer of three files is told of its part has
// at most so many tokens, whatever is in the files, the task, the plan, the
// names and the outputs.
func TestReviewIsShort(t *testing.T) {
	t.Parallel()
	// The engine asks for an answer by a schema in so many words.
	const form = "Answer with one JSON object and nothing around it. It must match this JSON Schema, " +
		"which is also in the file that $SWARM_SCHEMA names:\n\n"
	for _, letter := range []string{"a", "é", "🙂", "\n", "\xff", "日", "{", "Z9"} {
		m := &Manifest{Files: Files(extreme(letter, 3)), Steps: extremeSteps()}
		for _, size := range []int{1, 100, 5_000, 1_000_000} {
			long := strings.Repeat(letter, size)
			r := stage.Review{Task: "do " + long, Plan: long, Own: []string{long, long}, Change: m.Text()}
			for _, f := range m.Files {
				r.Paths = append(r.Paths, f.Path)
			}
			prompt, whole := r.Ask()
			all := stage.Reviewing + form + string(stage.Verdict()) + prompt + stage.Whole("swarm-brief-20.md")
			if n := stage.Tokens(all); n > stage.Most {
				t.Errorf("%d times %q: a reviewer of three files is told %d tokens:\n%s", size, letter, n, all)
			}
			for _, f := range m.Files {
				if !strings.Contains(whole, stage.Line(f.Path)) {
					t.Errorf("%d times %q: a name is nowhere whole", size, letter)
				}
			}
		}
	}
}

func TestTail(t *testing.T) {
	t.Parallel()
	var lines []string
	for i := range 20 {
		lines = append(lines, fmt.Sprint("line ", i))
	}
	got := Tail(strings.Join(lines, "\n") + "\n\n")
	if !strings.HasPrefix(got, "line 8\n") || !strings.HasSuffix(got, "\nline 19") {
		t.Errorf("Tail = %q", got)
	}
	if got := Tail("a\x00b\xffc\r\n"); got != "ab\uFFFDc" {
		t.Errorf("Tail = %q", got)
	}
	if got := Tail(strings.Repeat("é", MaxTail)); len(got) > MaxTail+len("…") || !strings.HasPrefix(got, "…é") {
		t.Errorf("Tail of one long line has %d bytes: %.20q", len(got), got)
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	s, err := schema.Compile(stage.Verdict())
	if err != nil {
		t.Fatal(err)
	}
	if s == nil {
		t.Fatal("no schema")
	}
	for give, want := range map[string]string{
		`{"pass":true,"problems":[]}`:                                   "true []",
		`{"pass":false,"problems":[]}`:                                  "false []",
		`{"pass":true,"problems":[{"path":"a","problem":"b"}]}`:         "false [a: b]",
		`{"pass":false,"problems":[{"problem":"b"},{"problem":"c c"}]}`: "false [b c c]",
	} {
		v, err := Read(json.RawMessage(give))
		if got := fmt.Sprint(v.Pass, " ", v.Problems); err != nil || got != want {
			t.Errorf("Read(%s) = %s, %v, want %s", give, got, err, want)
		}
	}
	if _, err := Read(json.RawMessage(`[]`)); err == nil {
		t.Error("a list is a verdict")
	}
}
