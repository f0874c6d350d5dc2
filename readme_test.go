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
