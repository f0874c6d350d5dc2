package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestCampaignsHaveTwins holds that docs/testing.md names the twin of each
// campaign in the gate, and that each test which it or a file of .ci names exists.
func TestCampaignsHaveTwins(t *testing.T) {
	t.Parallel()
	read := func(file string) string {
		t.Helper()
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	campaign, page, gate := read(".ci/campaign"), read("docs/testing.md"), read(".ci/run")
	names := regexp.MustCompile(`(?m)^all='(.*)'$`).FindStringSubmatch(campaign)
	if names == nil {
		t.Fatal(".ci/campaign has no list of all campaigns")
	}
	for _, name := range strings.Fields(names[1]) {
		row := regexp.MustCompile("(?m)^\\| `" + name + "` \\| [^|]+ \\| ([^|]+) \\|$").FindStringSubmatch(page)
		if row == nil || strings.TrimSpace(row[1]) == "" {
			t.Errorf("docs/testing.md names no twin of the campaign %s", name)
		}
		if !regexp.MustCompile(`(?m)^` + name + `\(\) \{`).MatchString(campaign) {
			t.Errorf(".ci/campaign has no function %s", name)
		}
	}
	var tests strings.Builder
	err := filepath.WalkDir(".", func(file string, _ os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(file, "_test.go") {
			tests.WriteString(read(file))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{campaign, page, gate} {
		for _, name := range regexp.MustCompile(`\bTest[A-Z]\w+`).FindAllString(text, -1) {
			if !strings.Contains(tests.String(), "func "+name) { // it may name several
				t.Errorf("no test is called %s", name)
			}
		}
	}
	for _, wrong := range []string{"RANDOM", "/dev/urandom", "-shuffle", "SWARM_CAMPAIGN"} {
		if strings.Contains(gate, wrong) {
			t.Errorf(".ci/run has %s: two runs of it would not do the same", wrong)
		}
	}
	readme := read("README.md")
	if command := "go tool gotestsum -- -timeout 30m ./..."; !strings.Contains(gate, command) || !strings.Contains(readme, "go tool gotestsum --") {
		t.Errorf("the gate does not run the test command of the README, %s", command)
	}
}
