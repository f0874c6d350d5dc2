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
