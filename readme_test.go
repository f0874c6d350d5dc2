package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentswarm/swarm/agent/kinds"
)

// readmeLines is how long the README may be.
const readmeLines = 250

// readPage is the text of a page.
func readPage(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestReadmeIsShort bounds the length of the README: a newcomer reads it in a
// single sitting.
func TestReadmeIsShort(t *testing.T) {
	t.Parallel()
	if n := strings.Count(readPage(t, "README.md"), "\n"); n > readmeLines {
		t.Errorf("the README has %d lines, want %d at most", n, readmeLines)
	}
}

// TestReadmeNamesTheAgents: the agents stand before the first command.
func TestReadmeNamesTheAgents(t *testing.T) {
	t.Parallel()
	lead, _, _ := strings.Cut(readPage(t, "README.md"), "```")
	lead = strings.Join(strings.Fields(lead), " ") // a name may go over two lines
	names := []string{"Claude Code", "Codex", "pi", "opencode", "Gemini CLI", "Qwen Code", "GitHub Copilot CLI"}
	for _, want := range append(names, "]("+pictureFile+")") {
		if !strings.Contains(lead, want) {
			t.Errorf("the README does not name %q before its first command", want)
		}
	}
	installed := 0
	for _, kind := range kinds.All() {
		if kind.Install != "" {
			installed++
		}
	}
	if installed != len(names) {
		t.Errorf("the README names %d agents, and swarm drives %d", len(names), installed)
	}
	if cell := "| agents | seven CLIs by name,"; !strings.Contains(readPage(t, "README.md"), cell) {
		t.Errorf("the comparison in the README lacks %q", cell)
	}
}

// TestScriptsPageShowsAWorkflow compares the script on the page with the tested
// script.
func TestScriptsPageShowsAWorkflow(t *testing.T) {
	t.Parallel()
	script := readPage(t, filepath.Join("testdata", "workflows", "race-fixers.js"))
	if !strings.Contains(readPage(t, "docs/scripts.md"), "```js\n"+script+"```\n") {
		t.Error("docs/scripts.md does not show testdata/workflows/race-fixers.js as it is")
	}
}

// TestQuickstartShowsUsage holds the usage that the page shows to the output of
// a script, and the page to say that no model was asked.
func TestQuickstartShowsUsage(t *testing.T) {
	t.Parallel()
	page := readPage(t, "docs/quickstart.md")
	_, rest, _ := strings.Cut(readPage(t, filepath.Join("testdata", "script", "usage_sums.txtar")), "\n-- saving --\n")
	printed, _, ok := strings.Cut(rest, "-- ")
	before, _, shown := strings.Cut(page, "```text\n$ swarm usage --by model\n"+printed+"```\n")
	if !ok || !shown {
		t.Fatal("docs/quickstart.md does not show the output in usage_sums")
	}
	if paragraphs := strings.Split(strings.TrimSpace(before), "\n\n"); !strings.Contains(paragraphs[len(paragraphs)-1], "the figures are invented") {
		t.Error("docs/quickstart.md does not say above it that the figures are invented")
	}
}

// TestQuickstartInstallsAgents: each agent is installed by the command that
// `swarm agents` names.
func TestQuickstartInstallsAgents(t *testing.T) {
	t.Parallel()
	page := readPage(t, "docs/quickstart.md")
	for _, kind := range kinds.All() {
		if kind.Install != "" && !strings.Contains(page, kind.Install) {
			t.Errorf("docs/quickstart.md does not say how to install %s: %s", kind.Name, kind.Install)
		}
	}
}

// gateText is the gate and the functions it calls.
func gateText() (string, error) {
	var all strings.Builder
	for _, file := range []string{"run", "lib"} {
		text, err := os.ReadFile(filepath.Join(".ci", file))
		if err != nil {
			return "", err
		}
		all.Write(text)
	}
	return all.String(), nil
}

// TestGateRunsTheReadme: the gate calls the two commands with which the README
// begins, as they stand there.
func TestGateRunsTheReadme(t *testing.T) {
	t.Parallel()
	gate, err := gateText()
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(readPage(t, "README.md"), "```sh\n")
	block, _, _ := strings.Cut(rest, "```")
	lines := strings.Split(strings.TrimSpace(block), "\n")
	if len(lines) != 2 {
		t.Fatalf("the README begins with %q, want two commands", lines)
	}
	for i, want := range []string{"go run . demo", "go tool gotestsum -- -timeout 30m ./..."} {
		command, _, _ := strings.Cut(lines[i], "#")
		if command = strings.TrimSpace(command); command != want || !strings.Contains(gate, command+"\n") {
			t.Errorf("command %d of the README is %q, want %q, which the gate runs", i+1, command, want)
		}
	}
}

// TestReadmeToldOfModulePath: the README says that `go install` cannot fetch swarm
// as long as the path of the module names no host.
func TestReadmeToldOfModulePath(t *testing.T) {
	t.Parallel()
	first, _, _ := strings.Cut(module, "/")
	hostless := !strings.Contains(first, ".")
	if told := strings.Contains(readPage(t, "README.md"), "`go install` cannot fetch it"); told != hostless {
		t.Errorf("the module is %s; the README says that go install cannot fetch it: %t", module, told)
	}
}

// TestChangelogHasNoFixesBeforeAVersion: a fault that no version had is no news for
// a user.
func TestChangelogHasNoFixesBeforeAVersion(t *testing.T) {
	t.Parallel()
	text := readPage(t, "CHANGELOG.md")
	_, unreleased, _ := strings.Cut(text, "\n## Unreleased\n")
	if !strings.Contains(unreleased, "\n## ") && strings.Contains(unreleased, "\n### Fixed") {
		t.Error("CHANGELOG.md lists fixes, and no version has been released")
	}
}
