package main

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// docsCharacters is the most that the pages for users may have together.
const docsCharacters = 180_000

// contributorPages are for people who change swarm. CONTRIBUTING.md links them,
// and their length is not bounded.
func contributorPages() []string {
	return []string{"docs/architecture.md", "docs/decisions.md", "docs/dependencies.md", "docs/testing.md", "docs/variants-lab.md"}
}

// jsonSchemas are the blocks of the page about JSON that a program reads.
var jsonSchemas = regexp.MustCompile("(?ms)^```json\n.*?^```\n")

// TestDocsAreShort counts the characters of the pages for users, without the
// schemas of the page about JSON.
func TestDocsAreShort(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, page := range pages {
		if slices.Contains(contributorPages(), page) {
			continue
		}
		text := readPage(t, page)
		if page == jsonPage {
			text = jsonSchemas.ReplaceAllString(text, "")
		}
		n := utf8.RuneCountInString(text)
		t.Logf("%6d %s", n, page)
		total += n
	}
	if t.Logf("%6d in all", total); total > docsCharacters {
		t.Errorf("the pages for users have %d characters, want at most %d: shorten what you added, or another page (-v lists them)",
			total, docsCharacters)
	}
}

// TestContributorPages: the pages that are not counted exist, CONTRIBUTING.md
// links them, and the README leaves them to it.
func TestContributorPages(t *testing.T) {
	t.Parallel()
	contributing, readme := readPage(t, "CONTRIBUTING.md"), readPage(t, "README.md")
	for _, page := range contributorPages() {
		readPage(t, page)
		if link := "](" + page + ")"; !strings.Contains(contributing, link) || strings.Contains(readme, link) {
			t.Errorf("%s is not behind CONTRIBUTING.md", page)
		}
	}
}
