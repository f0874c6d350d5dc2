package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReadmeShowsAWholeWorkflow holds the script that the README shows to the
// one that is tested.
func TestReadmeShowsAWholeWorkflow(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile(filepath.Join("testdata", "workflows", "race-fixers.js"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(readme), "```js\n"+string(script)+"```\n") {
		t.Error("the README does not show testdata/workflows/race-fixers.js as it is")
	}
}

// TestReadmeShowsUsage holds what the README shows of usage to what a script
// finds printed, and to be marked as no real run.
func TestReadmeShowsUsage(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile(filepath.Join("testdata", "script", "usage_sums.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(script), "\n-- saving --\n")
	printed, _, ok := strings.Cut(rest, "-- ")
	before, _, shown := strings.Cut(string(readme), "```\n$ swarm usage --by model\n"+printed+"```\n")
	if !ok || !shown {
		t.Fatal("the README does not show what usage_sums finds printed")
	}
	if paragraphs := strings.Split(strings.TrimSpace(before), "\n\n"); !strings.Contains(paragraphs[len(paragraphs)-1], "**scripted** run") {
		t.Error("the README does not say above it that the run was scripted")
	}
}

// TestGateRunsTheReadme: the gate calls the two commands with which the README
// begins, as they stand there.
func TestGateRunsTheReadme(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	var gate string
	for _, file := range []string{"run", "lib"} {
		text, err := os.ReadFile(filepath.Join(".ci", file))
		if err != nil {
			t.Fatal(err)
		}
		gate += string(text)
	}
	_, rest, _ := strings.Cut(string(readme), "```sh\n")
	block, _, _ := strings.Cut(rest, "```")
	lines := strings.Split(strings.TrimSpace(block), "\n")
	if len(lines) != 2 {
		t.Fatalf("the README begins with %q, want two commands", lines)
	}
	for _, line := range lines {
		command, _, _ := strings.Cut(line, "#")
		if command = strings.TrimSpace(command); !strings.Contains(gate, command+"\n") {
			t.Errorf("the gate does not run %q", command)
		}
	}
}
