package manifest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"agentswarm/swarm/schema"
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
// it longer than what a reviewer should read.
func TestTextIsBounded(t *testing.T) {
	t.Parallel()
	var changes []git.Outline
	for i := range 5000 {
		o := git.Outline{Change: git.Change{Path: fmt.Sprint(i, strings.Repeat("é", 1000)), Status: 'M'}, Added: 1 << 40}
		for n := range 60 {
			o.Spans = append(o.Spans, git.Span{First: n * 1_000_000, Lines: 1000})
		}
		changes = append(changes, o)
	}
	m := &Manifest{Files: Files(changes)}
	for range 2 {
		m.Steps = append(m.Steps, Step{
			Name: "verify", Command: strings.Repeat("go test ", 1000), Code: 1,
			Tail: Tail(strings.Repeat("x", 5000) + "\n" + strings.Repeat("y\u001b[2J\n", 5000)),
		})
	}
	text := Prompt(strings.Repeat("task ", 10_000), m)
	if len(text) > 24_000 || !strings.Contains(text, "and 4960 more") {
		t.Errorf("it has %d bytes", len(text))
	}
	if strings.Contains(text, "\u001b") {
		t.Error("it steers a terminal")
	}
	// A change of three files, with the longest evidence, is small.
	m.Files, m.Steps = Files([]git.Outline{
		{Change: git.Change{Path: "swarm/a.go", Status: 'M'}, Spans: changes[0].Spans}, {Change: git.Change{Path: "swarm/b.go", Status: 'A'}}, {Change: git.Change{Path: "swarm/c_test.go", Status: 'A'}},
	}), m.Steps[:1]
	if n := len(Prompt("make the parser accept tabs", m)) + len(Reviewer) + len(Schema()); n > 1500*4 {
		t.Errorf("a reviewer of three files is told %d bytes, and %d are 1,500 tokens", n, 1500*4)
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
	s, err := schema.Compile(Schema())
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
