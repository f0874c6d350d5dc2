package main

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// prosePages are the pages whose sentences are counted. A page joins by its
// name here.
func prosePages() []string {
	return append(walkedPages(),
		"CHANGELOG.md", "SECURITY.md", "docs/agent-protocol.md", "docs/agents.md", "docs/builtin.md", "docs/commands.md", "docs/configuration.md", "docs/glossary.md",
		"docs/dependencies.md", "docs/disks.md", "docs/isolation.md", "docs/json.md", "docs/mcp.md", "docs/performance.md", "docs/roles.md", "docs/stages.md", "docs/tasks.md", "docs/testing.md",
		"docs/variants-lab.md", "docs/variants.md", "docs/workflows.md")
}

// The bounds of a page: how many words 9 of 10 sentences have at most, and how
// many of 100 sentences may begin with a word of openings.
const (
	proseWords    = 26
	proseOpenings = 1
)

// openings are words with which a sentence begins that puts a clause in the
// place of a noun.
var openings = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(What|Of|Who|Nothing)\b`) })

// TestProse counts the words of the sentences of each page.
func TestProse(t *testing.T) {
	t.Parallel()
	for _, page := range prosePages() {
		sentences, cells := readSentences(readPage(t, page))
		if len(sentences) == 0 {
			t.Errorf("%s has no sentence", page)
			continue
		}
		var opened []string
		all := append(slices.Clone(sentences), cells...)
		for _, s := range all {
			if openings().MatchString(s) {
				opened = append(opened, s)
			}
		}
		if 100*len(opened) > proseOpenings*len(all) {
			t.Errorf("%s: %d of %d sentences begin with What, Of, Who or Nothing:\n%s",
				page, len(opened), len(all), strings.Join(opened, "\n"))
		}
		slices.SortFunc(sentences, func(a, b string) int { return cmp.Compare(words(a), words(b)) })
		at := sentences[len(sentences)*9/10]
		t.Logf("%s: %d sentences, 9 of 10 with at most %d words", page, len(sentences), words(at))
		if words(at) > proseWords {
			t.Errorf("%s: a tenth of its %d sentences has more than %d words; one is:\n%s", page, len(sentences), proseWords, at)
		}
	}
}

// markup matches the parts of a line that a reader does not see: the targets of
// links, marks of emphasis, and the begin of a list item.
var markup = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\]\([^)]*\)|[*_\[\]!]|^\s*(?:-|\d+\.)\s+`) })

// codeSpan counts as a word.
var codeSpan = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("`[^`]*`") })

// listItem begins an item of a list, and spanFirst a line with a span of code.
var (
	listItem  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:- |\d+\. )`) })
	spanFirst = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("^`[^`]") })
)

// sentenceEnd is between two sentences.
var sentenceEnd = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[.!?]["')]?\s+`) })

// readSentences are the sentences of a page in Markdown, without code and
// headings: those of its paragraphs and list items, and those in the cells of
// its tables, most of which are shorter.
func readSentences(page string) (prose, cells []string) {
	for _, b := range readBlocks(page) {
		page = strings.Replace(page, b.text, "", 1)
	}
	var paragraph []string
	flush := func() {
		prose = append(prose, splitSentences(strings.Join(paragraph, " "))...)
		paragraph = nil
	}
	for line := range strings.SplitSeq(page, "\n") {
		bare := strings.TrimSpace(line)
		row := strings.HasPrefix(bare, "|")
		other := bare == "" || strings.ContainsAny(bare[:1], "#<`") && !spanFirst().MatchString(bare)
		if row || other || listItem().MatchString(bare) {
			flush()
		}
		text := strings.TrimSpace(markup().ReplaceAllString(codeSpan().ReplaceAllString(line, "code"), ""))
		switch {
		case other || strings.HasPrefix(bare, "|--"):
		case row:
			for cell := range strings.SplitSeq(strings.Trim(text, "|"), "|") {
				cells = append(cells, splitSentences(cell)...)
			}
		default:
			paragraph = append(paragraph, text)
		}
	}
	flush()
	return prose, cells
}

// splitSentences are the sentences of a paragraph.
func splitSentences(text string) []string {
	var all []string
	for s := range strings.SplitSeq(sentenceEnd().ReplaceAllString(text, "\x00"), "\x00") {
		if s = strings.TrimSpace(s); s != "" {
			all = append(all, s)
		}
	}
	return all
}

// words is how many words a sentence has.
func words(sentence string) int { return len(strings.Fields(sentence)) }

func TestReadSentences(t *testing.T) {
	t.Parallel()
	page := "# A title\n\nOne fact. It has\ntwo lines: and `a. b` code.\n\n| a | b |\n|---|---|\n| What. | x |\n\n```sh\nnot. this.\n```\n" +
		"- An *item* with [a link](x.md).\n- Another\n  one? Yes.\n\n`code` begins it.\n"
	prose, cells := readSentences(page)
	wantProse := []string{
		"One fact", "It has two lines: and code code.", "An item with a link.", "Another one", "Yes.", "code begins it.",
	}
	if wantCells := []string{"a", "b", "What", "x"}; !slices.Equal(prose, wantProse) || !slices.Equal(cells, wantCells) {
		t.Errorf("readSentences = %q, %q, want %q, %q", prose, cells, wantProse, wantCells)
	}
}

// TestLinks: each link in a page leads to a file, and to a heading in it.
func TestLinks(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	for _, page := range append(pages, "README.md", "CONTRIBUTING.md", "SECURITY.md") {
		text := readPage(t, page)
		for _, b := range readBlocks(text) {
			text = strings.Replace(text, b.text, "", 1)
		}
		for _, m := range link.FindAllStringSubmatch(codeSpan().ReplaceAllString(text, ""), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			file, heading, _ := strings.Cut(m[1], "#")
			target := page
			if file != "" {
				target = filepath.Join(filepath.Dir(page), file)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: %s leads nowhere: %v", page, m[1], err)
			} else if heading != "" && !slices.Contains(anchors(readPage(t, target)), heading) {
				t.Errorf("%s: %s has no heading #%s", page, target, heading)
			}
		}
	}
}

// anchors are the names that headings of a page have in links.
func anchors(page string) []string {
	var all []string
	for _, b := range readBlocks(page) {
		page = strings.Replace(page, b.text, "", 1)
	}
	for line := range strings.SplitSeq(page, "\n") {
		title := strings.TrimLeft(line, "#")
		if title == line || !strings.HasPrefix(title, " ") {
			continue
		}
		name := strings.ToLower(strings.TrimSpace(title))
		name = regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(name, "")
		all = append(all, strings.ReplaceAll(name, " ", "-"))
	}
	return all
}

// TestTroubleshootingNamesMessages: each message of the page stands in the
// sources, as far as it does not differ from case to case.
func TestTroubleshootingNamesMessages(t *testing.T) {
	t.Parallel()
	var sources strings.Builder
	err := filepath.WalkDir(".", func(file string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return err
		}
		text, err := os.ReadFile(file)
		sources.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(readPage(t, "docs/troubleshooting.md")) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 {
			continue
		}
		first := strings.TrimSpace(cells[1])
		if !strings.HasPrefix(first, "`") {
			continue
		}
		n++
		for part := range strings.SplitSeq(strings.Trim(first, "`"), "…") {
			if part = strings.TrimSpace(part); len(part) > 2 && !strings.Contains(sources.String(), part) {
				t.Errorf("no message contains %q", part)
			}
		}
	}
	if n < 30 {
		t.Errorf("only %d messages were found", n)
	}
}

// glossaryTerms is how many words the glossary may explain.
const glossaryTerms = 60

// TestGlossary: the glossary stays short, and its words are in order.
func TestGlossary(t *testing.T) {
	t.Parallel()
	var terms []string
	for line := range strings.Lines(readPage(t, "docs/glossary.md")) {
		if cells := strings.Split(line, "|"); len(cells) == 4 && !strings.HasPrefix(line, "|-") {
			terms = append(terms, strings.TrimSpace(cells[1]))
		}
	}
	terms = terms[1:] // without the head of the table
	if len(terms) < 30 || len(terms) > glossaryTerms {
		t.Errorf("the glossary has %d terms, want at most %d", len(terms), glossaryTerms)
	}
	if !slices.IsSortedFunc(terms, func(a, b string) int { return cmp.Compare(strings.ToLower(a), strings.ToLower(b)) }) {
		t.Errorf("the terms of the glossary are not in order: %q", terms)
	}
}
