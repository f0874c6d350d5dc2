package main

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// docBlock is a fenced block of a page.
type docBlock struct {
	line int // of its fence, from 1
	lang string
	text string // without the fences
}

// runs says whether a block shows commands.
func (b docBlock) runs() bool { return b.lang == "sh" || b.lang == "console" }

// readBlocks are the fenced blocks of Markdown text, also those in a list.
func readBlocks(text string) []docBlock {
	var blocks []docBlock
	var open *docBlock
	indent := ""
	for i, line := range strings.Split(text, "\n") {
		fence := strings.TrimLeft(line, " ")
		isFence := strings.HasPrefix(fence, "```")
		switch {
		case isFence && open == nil:
			indent = line[:len(line)-len(fence)]
			open = &docBlock{line: i + 1, lang: strings.TrimSpace(strings.TrimLeft(fence, "`"))}
		case isFence:
			blocks, open = append(blocks, *open), nil
		case open != nil:
			open.text += strings.TrimPrefix(line, indent) + "\n"
		}
	}
	return blocks
}

// shown is a command of a block in console, and the lines it has to print.
type shown struct {
	command string
	output  []string
}

// readSession are the commands of a block in console. A line that ends in a
// backslash continues on the next line.
func readSession(text string) []shown {
	var all []shown
	goesOn := false
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		command, typed := strings.CutPrefix(line, "$ ")
		switch last := len(all) - 1; {
		case goesOn:
			all[last].command += "\n" + line
		case typed:
			all = append(all, shown{command: command})
		case last >= 0:
			all[last].output = append(all[last].output, line)
		}
		goesOn = (typed || goesOn) && strings.HasSuffix(line, `\`)
	}
	return all
}

// anything is a line in the place of any number of lines. In a line it stands
// for any text.
const anything = "[…]"

// differs returns the first line of want that out does not have in its place;
// empty where it has all. Ids of runs, times, hashes and paths below /tmp may
// be others, and so may the width of columns.
func differs(want []string, out string) string {
	lines := strings.Split(strings.TrimRight(out, "\n"), "\n")
	if out == "" {
		lines = nil
	}
	free := false
	for _, w := range want {
		if strings.TrimSpace(w) == anything {
			free = true
			continue
		}
		like := likeLine(w)
		for len(lines) > 0 && free && !like.MatchString(lines[0]) {
			lines = lines[1:]
		}
		if len(lines) == 0 || !like.MatchString(lines[0]) {
			return w
		}
		lines, free = lines[1:], false
	}
	if len(lines) > 0 && !free {
		return "nothing after it, but prints " + strconv.Quote(lines[0])
	}
	return ""
}

// varying are the parts of a line that differ from run to run: parts left out,
// paths, hashes, times, ids of runs, and blanks between columns.
var varying = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(\[…\])|(/tmp/\S+)|\b([0-9a-f]{40}|[0-9a-f]{7,10})\b|\b([0-9]+(?:\.[0-9]+)?(?:ms|s))\b|\b([a-z]*[0-9][a-z0-9]*)\b|( {2,})`)
})

// likeLine matches the lines that differ from a shown line only in variable
// parts.
func likeLine(line string) *regexp.Regexp {
	var b strings.Builder
	b.WriteString("^")
	rest := line
	for rest != "" {
		at := varying().FindStringSubmatchIndex(rest)
		if at == nil {
			break
		}
		part := rest[at[0]:at[1]]
		b.WriteString(regexp.QuoteMeta(rest[:at[0]]))
		switch {
		case at[2] >= 0:
			b.WriteString(`.*`)
		case at[4] >= 0:
			b.WriteString(`/.+`)
		case at[6] >= 0:
			b.WriteString(`[0-9a-f]+`)
		case at[8] >= 0:
			b.WriteString(`[0-9.]+(?:ms|s|m[0-9]+s)`)
		case at[10] >= 0 && len(part) == len("uhgfsp"):
			b.WriteString(`[a-z0-9]{6}`)
		case at[12] >= 0:
			b.WriteString(` +`)
		default:
			b.WriteString(regexp.QuoteMeta(part))
		}
		rest = rest[at[1]:]
	}
	b.WriteString(regexp.QuoteMeta(rest) + "$")
	return regexp.MustCompile(b.String())
}

func TestShownLines(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, shown, printed string
		same                 bool
	}{
		{"as it is", "a1 running", "a1 running", true},
		{"another word", "a1 running", "a1 failed", false},
		{"another agent", "a1 running", "a2 running", false},
		{"a time", "a1 api completed 0.1s", "a1 api completed 21ms", true},
		{"an id", "run 6tdsw3 completed in 0.4s", "run kjmr8u completed in 3.1s", true},
		{"no id", "run 6tdsw3 completed", "run x completed", false},
		{"a hash", "landed 2 patches on main fd801f3faa", "landed 2 patches on main 0000000000", true},
		{"columns", "AGENT  LABEL", "AGENT      LABEL", true},
		{"left out in a line", "sandbox: […]", "sandbox: full, workspaces overlay", true},
		{"left out", "one\n[…]\nfour", "one\ntwo\nthree\nfour", true},
		{"left out, indented", "[\n  […]\n]", "[\n  1\n]", true},
		{"left out, none", "one\n[…]", "one", true},
		{"more", "one", "one\ntwo", false},
		{"less", "one\ntwo", "one", false},
		{"nothing", "", "one", false},
	} {
		var want []string
		if tt.shown != "" {
			want = strings.Split(tt.shown, "\n")
		}
		if got := differs(want, tt.printed) == ""; got != tt.same {
			t.Errorf("%s: %q shown for %q: %v", tt.name, tt.shown, tt.printed, got)
		}
	}
}

func TestReadBlocks(t *testing.T) {
	t.Parallel()
	text := "a\n```sh\none\ntwo\n```\n- item\n\n  ```console\n  $ x\n  y\n  ```\n"
	got := readBlocks(text)
	want := []docBlock{{2, "sh", "one\ntwo\n"}, {8, "console", "$ x\ny\n"}}
	if !slices.Equal(got, want) {
		t.Errorf("readBlocks = %+v, want %+v", got, want)
	}
}
