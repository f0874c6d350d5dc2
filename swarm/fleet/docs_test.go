package fleet

import (
	"cmp"
	"fmt"
	"os"
	"strings"
	"testing"

	"agentswarm/swarm/script"
)

// example is a runnable block of a page, with its case.
type example struct {
	line int
	code string
	lib  string // the block above it
}

// examples are the blocks ```js run of a page. A block ```js lib above such a
// block is its library.
func examples(page string) []example {
	var out []example
	var block *strings.Builder
	var kind, lib string
	begin := 0
	for n, line := range strings.Split(page, "\n") {
		switch {
		case block == nil && strings.HasPrefix(line, "```"):
			kind, block, begin = strings.TrimPrefix(line, "```"), &strings.Builder{}, n+1
		case block == nil:
		case line == "```":
			switch kind {
			case "js lib":
				lib = block.String()
			case "js run":
				out = append(out, example{line: begin, code: block.String(), lib: lib})
				lib = ""
			}
			block = nil
		default:
			block.WriteString(line + "\n")
		}
	}
	return out
}

// anything answers whatever an example asks for.
const anything = `
agent = [{ reply = "an answer", files = { "work.txt" = "done\n" } }]
check = [{ ok = true }]
answer = [{ answer = "yes" }]
repo.files = { "go.mod" = "module x\n", "main.go" = "package main // TODO\n" }
repo.commits = [{ subject = "begin", files = ["go.mod", "main.go"] }]
expect = { max_agents = 10 }
`

// TestExamples runs the examples of the documentation.
func TestExamples(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/workflows.md")
	if err != nil {
		t.Fatal(err)
	}
	all := examples(string(text))
	if len(all) < 20 {
		t.Fatalf("found only %d examples", len(all))
	}
	uses := map[string]int{}
	for _, e := range all {
		cases := ""
		for part, text := range exampleCases() {
			if strings.Contains(e.code, part) {
				cases = text
				uses[part]++
			}
		}
		t.Run(fmt.Sprintf("line %d", e.line), func(t *testing.T) {
			t.Parallel()
			suite, err := Read("workflows.md", []byte("[[case]]\nname = \"example\"\n"+cmp.Or(cases, anything)))
			if err != nil {
				t.Fatal(err)
			}
			var lib []script.Source
			if e.lib != "" {
				lib = append(lib, script.Source{Name: "lib.js", Text: e.lib})
			}
			report := tested(t, script.Source{Name: "workflows.md", Text: e.code}, suite, lib...)
			for _, wrong := range report.Cases[0].Wrong {
				t.Error(wrong)
			}
			if cases != "" && len(report.Cases[0].Unused) > 0 {
				t.Errorf("not used: %q", report.Cases[0].Unused)
			}
		})
	}
	for part := range exampleCases() {
		if uses[part] != 1 {
			t.Errorf("%d examples contain %q, want 1", uses[part], part)
		}
	}
}

// TestDocumentedTests: the test file in the documentation is valid.
func TestDocumentedTests(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/workflows.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "```toml\n")
	shown, _, closed := strings.Cut(rest, "```")
	if !found || !closed {
		t.Fatal("there is none")
	}
	if _, err := Read("workflows.md", []byte(shown)); err != nil {
		t.Error(err)
	}
}
