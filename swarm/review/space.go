package review

import "strings"

// gap is the white space before a word of a side.
type gap struct {
	text   string // "\n" for each line end, then the indentation or inner space
	quoted bool   // an odd number of quotation marks stands before it in its line
}

// gaps are the gaps of a side: before each word, and at its end.
func gaps(lines []string) []gap {
	var all []gap
	var space strings.Builder
	for i, line := range lines {
		if i > 0 {
			space.WriteByte('\n')
		}
		quotes := 0
		for rest := line; rest != ""; {
			t, isSpace := firstToken(rest)
			rest = rest[len(t.text):]
			if isSpace {
				space.WriteString(t.text)
				continue
			}
			all = append(all, gap{space.String(), quotes%2 == 1})
			space.Reset()
			if t.text == `"` || t.text == "'" || t.text == "`" {
				quotes++
			}
		}
	}
	return append(all, gap{space.String(), false})
}

// spaceChanges describes how the white space of an edit changes: each change
// once, in order. Indentation counts by how much it grows or shrinks.
func spaceChanges(r *Run) []string {
	before, after := gaps(r.Removed), gaps(r.Added)
	var all []string
	seen := map[string]bool{}
	note := func(text string) {
		if !seen[text] {
			seen[text] = true
			all = append(all, text)
		}
	}
	for i := range min(len(before), len(after)) {
		if before[i].text != after[i].text {
			note(spaceChange(before[i], after[i]))
		}
	}
	if r.OldBare != r.NewBare {
		note("end of file")
	}
	if len(all) == 0 && len(r.Removed) != len(r.Added) {
		note(relativeLines(len(r.Removed), len(r.Added)))
	}
	return all
}

func spaceChange(before, after gap) string {
	oldLines, newLines := strings.Count(before.text, "\n"), strings.Count(after.text, "\n")
	oldIndent, newIndent := afterLines(before.text), afterLines(after.text)
	text := relativeLines(oldLines, newLines) + " " + relative(oldIndent, newIndent)
	if before.quoted || after.quoted {
		text = "in a string: " + before.text + "|" + after.text
	}
	return text
}

func relativeLines(before, after int) string {
	return strings.Repeat("\n", before) + ">" + strings.Repeat("\n", after)
}

func afterLines(text string) string { return text[strings.LastIndexByte(text, '\n')+1:] }
