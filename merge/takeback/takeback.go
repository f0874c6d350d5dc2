package takeback

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// Texts are the versions of a file. A version without the file is empty.
type Texts struct {
	Before []byte // at the start of the work
	Now    []byte // with the changes that landed since
	After  []byte // with the work on top of them
	// Elsewhere counts the lines that the work adds to other files, by [Key]. A line
	// that moved there is not lost.
	Elsewhere map[string]int
}

// Line is a line of a change that is taken back.
type Line struct {
	// Number counts from 1, in the version Now. For a line that came back it is
	// the number in the version Before.
	Number int    `json:"line"`
	Text   string `json:"text"`
	// Back is set for a line that the change had removed and that is there again.
	Back bool `json:"back,omitempty"`
}

// Region is a place of the version Now where a person or an agent was asked to
// combine two changes.
type Region struct {
	Start, Lines int      // Start counts from 1
	Theirs       []string // lines of the other change in this place
}

// Find returns the lines of the change from Before to Now that are undone in After: they
// are gone, and the lines of Before stand in their place, or nothing does. A line that
// was changed further is not undone.
func Find(t Texts) []Line {
	c := newComparison(t)
	var out []Line
	for _, h := range c.landed {
		if lost := c.lost(h); len(lost) > 0 && c.undone(h) {
			out = append(out, c.lines(lost)...)
		}
		out = append(out, c.back(h)...)
	}
	return sorted(out)
}

// FindInResolution is [Find] for work that was asked to keep the lines of the change.
// Outside of the regions each lost line counts, whatever stands in its place. In a
// region the line may become part of a new line: it counts if only lines of Before and
// of the other change are left there.
func FindInResolution(t Texts, regions []Region) []Line {
	c := newComparison(t)
	out := Find(t)
	for _, h := range c.landed {
		for _, i := range c.lost(h) {
			in := slices.IndexFunc(regions, func(r Region) bool { return i >= r.Start-1 && i < r.Start-1+r.Lines })
			if in < 0 || !c.combined(regions[in]) {
				out = append(out, c.lines([]int{i})...)
			}
		}
	}
	return sorted(out)
}

// comparison is the change that landed beside the work.
type comparison struct {
	before, now, after []string
	landed             []hunk // from Now to Before
	made               []hunk // from Now to After
	inNow, inAfter     map[string]int
}

func newComparison(t Texts) *comparison {
	c := &comparison{before: splitLines(t.Before), now: splitLines(t.Now), after: splitLines(t.After)}
	c.landed, c.made = diff(c.now, c.before), diff(c.now, c.after)
	c.inNow, c.inAfter = Count(t.Now), Count(t.After)
	for key, n := range t.Elsewhere {
		c.inAfter[key] += n
	}
	return c
}

// lost are the indexes of the lines of a hunk that are gone. A line without a letter or
// a digit, such as a brace, is none.
func (c *comparison) lost(h hunk) (lost []int) {
	for i := h.a0; i < h.a1; i++ {
		key := Key(c.now[i])
		removed := slices.ContainsFunc(c.made, func(m hunk) bool { return i >= m.a0 && i < m.a1 })
		if key != "" && removed && c.inAfter[key] < c.inNow[key] {
			lost = append(lost, i)
		}
	}
	return lost
}

// undone reports whether the lines of Before stand in the place of a hunk, or nothing
// does. Beside other edits of the work it counts how many lines these may have.
func (c *comparison) undone(h hunk) bool {
	at := c.replaced(h.a0, h.a1)
	was := keys(c.before[h.b0:h.b1])
	there := keys(c.after[at.b0:at.b1])
	made := without(there, was)
	others := slices.Concat(keys(c.now[at.a0:max(at.a0, min(h.a0, at.a1))]), keys(c.now[min(at.a1, max(h.a1, at.a0)):at.a1]))
	if len(others) == 0 {
		return len(made) == 0
	}
	return len(was) > 0 && len(without(was, there)) == 0 || len(made) <= len(others)
}

// combined reports whether the work put a new line into a region.
func (c *comparison) combined(r Region) bool {
	from := min(r.Start-1, len(c.now))
	to := min(from+r.Lines, len(c.now))
	at := c.replaced(from, to)
	known := keys(r.Theirs)
	for _, h := range c.landed {
		if h.a0 <= to && h.a1 >= from {
			known = append(known, keys(c.before[h.b0:h.b1])...)
		}
	}
	return len(without(keys(c.after[at.b0:at.b1]), known)) > 0
}

// replaced joins the hunks of the work that touch a range of Now. It is the empty hunk at
// the start of the range if none does.
func (c *comparison) replaced(from, to int) hunk {
	at, found := hunk{a0: from, a1: from}, false
	for _, m := range c.made {
		if m.a0 > to || m.a1 < from {
			continue
		}
		if !found {
			at, found = m, true
		} else {
			at.a1, at.b1 = m.a1, m.b1
		}
	}
	return at
}

// back are the lines that a hunk only removed, if the work puts all of them in again.
func (c *comparison) back(h hunk) (out []Line) {
	if len(keys(c.now[h.a0:h.a1])) > 0 {
		return nil
	}
	at, was := c.replaced(h.a0, h.a1), keys(c.before[h.b0:h.b1])
	if len(was) == 0 || len(without(was, keys(c.after[at.b0:at.b1]))) > 0 {
		return nil
	}
	for i := h.b0; i < h.b1; i++ {
		if key := Key(c.before[i]); key != "" && c.inAfter[key] > c.inNow[key] {
			out = append(out, Line{Number: i + 1, Text: c.before[i], Back: true})
		}
	}
	return out
}

func (c *comparison) lines(indexes []int) []Line {
	out := make([]Line, len(indexes))
	for n, i := range indexes {
		out[n] = Line{Number: i + 1, Text: c.now[i]}
	}
	return out
}

// sorted puts lines in their order, each once.
func sorted(lines []Line) []Line {
	slices.SortFunc(lines, func(a, b Line) int {
		if a.Back != b.Back {
			return cmp.Compare(map[bool]int{true: 1}[a.Back], map[bool]int{true: 1}[b.Back])
		}
		return a.Number - b.Number
	})
	return slices.Compact(lines)
}

// Key is the text by which lines are compared: without the space around it. It is empty
// for a line without a letter or a digit.
func Key(line string) string {
	if !strings.ContainsFunc(line, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
		return ""
	}
	return strings.TrimSpace(line)
}

// Count counts the lines of a text by [Key].
func Count(text []byte) map[string]int {
	counts := map[string]int{}
	for _, key := range keys(splitLines(text)) {
		counts[key]++
	}
	return counts
}

func keys(lines []string) []string {
	var out []string
	for _, line := range lines {
		if key := Key(line); key != "" {
			out = append(out, key)
		}
	}
	return out
}

// without returns the keys of a list that another list lacks. Each key of the other
// list removes a single equal key.
func without(list, others []string) []string {
	counts := map[string]int{}
	for _, key := range others {
		counts[key]++
	}
	var out []string
	for _, key := range list {
		if counts[key]--; counts[key] < 0 {
			out = append(out, key)
		}
	}
	return out
}

// splitLines cuts a text into lines without their ends.
func splitLines(text []byte) []string {
	var list []string
	for line := range bytes.Lines(text) {
		list = append(list, strings.TrimRight(string(line), "\r\n"))
	}
	return list
}
