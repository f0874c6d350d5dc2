package mark

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"agentswarm/risk"
	"agentswarm/risk/lockfile"
	"agentswarm/swarm/review"
)

// check finds marks that need more than words.
type check func(r *rule, p patch, out *found)

// checks are the checks that rules can name.
func checks() map[string]check {
	return map[string]check{
		"steers":          files(func(f *file) string { return f.when(risk.Marked(f.Path)) }),
		"out-of-paths":    files(func(f *file) string { return f.when(slices.Contains(f.facts.OutOfPaths, f.Path)) }),
		"submodule":       files(func(f *file) string { return f.when(f.has("160000") || slices.Contains(f.facts.Replaced, f.Path)) }),
		"symlink":         files(func(f *file) string { return f.when(f.NewMode == "120000" || f.OldMode == "120000") }),
		"executable":      edits(executable),
		"binary":          files(func(f *file) string { return f.when(f.Binary) }),
		"check-failed":    files(func(f *file) string { return f.when(f.facts.CheckFailed) }),
		"reviewer-no":     files(func(f *file) string { return f.when(f.facts.ReviewerNo) }),
		"invisible":       edits(func(_ *file, e *review.Edit) string { return invisible(e) }),
		"rejected-before": edits(func(f *file, e *review.Edit) string { return f.when(f.facts.RejectedEdits[e]) }),
		"long": edits(func(f *file, e *review.Edit) string {
			return f.when(f.kind != review.Generated && e.Lines() > longEdit)
		}),

		"assertions-fewer": assertionsFewer,
		"test-deleted":     testDeleted,
		"dependency-new":   dependencyNew,
		"dependency-older": dependencyOlder,
	}
}

// longEdit is the number of lines that an edit may have without a mark.
const longEdit = 40

// none is the detail of a check that found nothing.
const none = "\x00"

// when is an empty detail where a condition holds, and none elsewhere.
func (f *file) when(holds bool) string {
	if holds {
		return ""
	}
	return none
}

func (f *file) has(mode string) bool { return f.OldMode == mode || f.NewMode == mode }

// files makes a check of a function that judges a file: all its edits are
// marked.
func files(judge func(f *file) string) check {
	return func(r *rule, p patch, out *found) {
		for _, f := range p {
			if detail := judge(f); detail != none {
				f.markAll(r, out, detail)
			}
		}
	}
}

func (f *file) markAll(r *rule, out *found, detail string) {
	for _, e := range f.edits {
		out.add(e, r, detail)
	}
}

// edits makes a check of a function that judges an edit.
func edits(judge func(f *file, e *review.Edit) string) check {
	return func(r *rule, p patch, out *found) {
		for _, f := range p {
			for _, e := range f.edits {
				if detail := judge(f, e); detail != none {
					out.add(e, r, detail)
				}
			}
		}
	}
}

// executable marks a new file, and of an existing file the change of its mode:
// its lines are as good as those of any file.
func executable(f *file, e *review.Edit) string {
	becomes := f.NewMode == "100755" && f.OldMode != "100755"
	return f.when(becomes && (f.Added || e.About != ""))
}

// invisible names the first character that an edit adds and that a screen does
// not show as it is: controls of the writing direction, characters without a
// width, tags, and control characters.
func invisible(e *review.Edit) string {
	added := hiddenIn(e.Added)
	if len(added) == 0 {
		return none
	}
	removed := hiddenIn(e.Removed)
	for _, c := range added {
		at := slices.Index(removed, c)
		if at < 0 {
			return fmt.Sprintf("U+%04X", c)
		}
		removed = slices.Delete(removed, at, at+1)
	}
	return none
}

// hiddenIn are the hidden characters of lines, in order.
func hiddenIn(lines []string) []rune {
	var all []rune
	for _, line := range lines {
		last := rune(0)
		for _, c := range strings.TrimSuffix(line, "\r") {
			if (c < ' ' || c > '~') && hidden(c, last) {
				all = append(all, c)
			}
			last = c
		}
	}
	return all
}

// hidden reports whether a character is not shown as it is. Joiners belong to
// scripts other than Latin and to pictures.
func hidden(c, last rune) bool {
	switch {
	case c == '\t' || c == '\f':
		return false
	case c == 0x200C || c == 0x200D:
		return last < unicode.MaxLatin1
	case c == 0x00AD, c == 0x061C, c == 0x180E, c >= 0x200B && c <= 0x200F, c >= 0x202A && c <= 0x202E,
		c >= 0x2060 && c <= 0x2069, c == 0xFEFF, c == 0x3164, c >= 0xE0000 && c <= 0xE007F:
		return true
	}
	return unicode.IsControl(c)
}

// assertions counts the calls in lines that make a test fail.
func assertions(lines []string, language string) int {
	n := 0
	code := codeReader{language: language}
	for _, line := range lines {
		words := review.Words(code.line(line))
		for i, w := range words {
			next := ""
			if i+1 < len(words) {
				next = words[i+1]
			}
			switch {
			case language == "go" && i > 0 && words[i-1] == "." && next == "(" && slices.Contains([]string{"Error", "Errorf", "Fatal", "Fatalf", "Fail", "FailNow"}, w),
				(w == "require" || w == "assert") && next == "." && language != "py",
				language == "py" && w == "assert" && next != ".",
				language == "py" && strings.HasPrefix(w, "assert") && len(w) > 6 && next == "(",
				language == "rs" && strings.HasPrefix(w, "assert") && next == "!",
				w == "expect" && next == "(",
				strings.HasPrefix(w, "assert") && next == "(" && language != "py" && language != "go",
				w == "raises" && next == "(" && language == "py":
				n++
			}
		}
	}
	return n
}

// assertionsFewer marks edits that remove more assertions than they add, in a
// test file that has fewer than before and as many tests.
func assertionsFewer(r *rule, p patch, out *found) {
	for _, f := range p {
		if f.kind != review.Test || f.Deleted {
			continue
		}
		total, tests := 0, 0
		lost := make([]int, len(f.edits))
		for i, e := range f.edits {
			lost[i] = assertions(e.Removed, f.language) - assertions(e.Added, f.language)
			total += lost[i]
			tests += len(testNames(e.Removed, f.language)) - len(testNames(e.Added, f.language))
		}
		if total <= 0 || tests > 0 {
			continue // removed tests have a mark of their own
		}
		for i, e := range f.edits {
			if lost[i] > 0 {
				out.add(e, r, fmt.Sprintf("%d fewer", lost[i]))
			}
		}
	}
}

// testNames are the tests that begin in the lines, by name if they have one.
func testNames(lines []string, language string) []string {
	var all []string
	code := codeReader{language: language}
	for _, line := range lines {
		plain := code.line(line)
		if !strings.Contains(plain, "est") && !strings.Contains(plain, "it") && !strings.Contains(plain, "Fact") {
			continue // no word below is in it
		}
		words := review.Words(plain)
		name := ""
		switch at := func(i int) string {
			if i < len(words) {
				return words[i]
			}
			return ""
		}; {
		case language == "go" && at(0) == "func" && strings.HasPrefix(at(1), "Test") && at(2) == "(":
			name = at(1)
		case language == "py" && at(0) == "def" && strings.HasPrefix(at(1), "test"), language == "py" && at(0) == "async" && strings.HasPrefix(at(2), "test"):
			name = cmp.Or(strings.TrimPrefix(at(1), "def"), at(2))
		case (language == "js" || language == "ts") && slices.Contains([]string{"it", "test", "xit", "xtest"}, at(0)) && (at(1) == "(" || at(1) == "."):
			name = strings.TrimSpace(line)
		case language == "rs" && at(0) == "#" && at(2) == "test", (language == "java" || language == "kt") && at(0) == "@" && strings.HasSuffix(at(1), "Test"),
			language == "cs" && at(0) == "[" && (at(1) == "Fact" || at(1) == "Test" || at(1) == "TestMethod"):
			name = "a test"
		}
		if name != "" {
			all = append(all, name)
		}
	}
	return all
}

// testDeleted marks edits that remove tests, if the patch has fewer tests of
// the language than before: a test that moves or gets another name still
// exists.
func testDeleted(r *rule, p patch, out *found) {
	lost := map[string]int{}
	for _, f := range p {
		for _, e := range f.edits {
			lost[f.language] += len(testNames(e.Removed, f.language)) - len(testNames(e.Added, f.language))
		}
	}
	for _, f := range p {
		for _, e := range f.edits {
			removed, added := testNames(e.Removed, f.language), testNames(e.Added, f.language)
			if lost[f.language] > 0 && len(removed) > len(added) {
				out.add(e, r, fmt.Sprintf("%d fewer", len(removed)-len(added)))
			}
		}
	}
}

// versions are the packages of a file before and after the patch; false where
// the file pins none or cannot be read.
func (f *file) versions() (before, after lockfile.File, ok bool) {
	if f.facts.Text == nil || f.Deleted || !lockfile.Known(f.Path) {
		return before, after, false
	}
	text, there := f.facts.Text(f.Path, true)
	if !there {
		return before, after, false
	}
	if after, ok = lockfile.ReadFile(f.Path, text); !ok {
		return before, after, false
	}
	if text, there = f.facts.Text(f.Path, false); there {
		if before, ok = lockfile.ReadFile(f.Path, text); !ok {
			return before, after, false
		}
	}
	return before, after, true
}

func dependencyNew(r *rule, p patch, out *found) {
	f := func(before, after lockfile.File, name string) string {
		if _, had := before.Versions[name]; !had && after.Manifest {
			return name + " " + after.Versions[name]
		}
		return none
	}
	p.dependencies(r, out, f)
}

func dependencyOlder(r *rule, p patch, out *found) {
	p.dependencies(r, out, func(before, after lockfile.File, name string) string {
		if had := before.Versions[name]; had != "" && lockfile.Newer(had, after.Versions[name]) {
			return fmt.Sprintf("%s %s, was %s", name, after.Versions[name], had)
		}
		return none
	})
}

// dependencies marks the edits that name a package of which a function tells
// something.
func (p patch) dependencies(r *rule, out *found, tell func(before, after lockfile.File, name string) string) {
	for _, f := range p {
		before, after, ok := f.versions()
		if !ok {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(after.Versions)) {
			detail := tell(before, after, name)
			if detail == none {
				continue
			}
			naming := slices.DeleteFunc(slices.Clone(f.edits), func(e *review.Edit) bool { return !names(e, name) })
			if len(naming) == 0 { // the change does not name it: a version on a line of its own
				naming = f.edits
			}
			for _, e := range naming {
				out.add(e, r, detail)
			}
		}
	}
}

// names reports whether an edit adds a line with the name of a package.
func names(e *review.Edit, name string) bool {
	return slices.ContainsFunc(e.Added, func(line string) bool {
		return strings.Contains(strings.ToLower(line), strings.ToLower(name))
	})
}
