package cli

import (
	"io"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// Column is one column of a [Table].
type Column struct {
	Title string
	Right bool // numbers line up at their last digit
	Flex  bool // may be shortened in the middle where space is short
	// Style is how a cell of the column is set off where the terminal has colors;
	// nil: not at all.
	Style func(cell string) style
}

// Table is aligned plain text. Cells may be foreign text; they are made
// printable here.
type Table struct {
	Columns []Column // required
	Term    Terminal // whose colors are used; the zero value has none
	rows    [][]string
}

// Row adds a row; missing cells are empty, and more cells than columns are a
// mistake of the caller that shows as a panic.
func (t *Table) Row(cells ...string) {
	row := make([]string, len(t.Columns))
	for i, cell := range cells {
		row[i] = Printable(cell)
	}
	t.rows = append(t.rows, row)
}

// DropEmpty removes the columns that have no text in any row.
func (t *Table) DropEmpty() {
	for i := len(t.Columns) - 1; i >= 0; i-- {
		if slices.ContainsFunc(t.rows, func(row []string) bool { return row[i] != "" }) {
			continue
		}
		t.Columns = slices.Delete(t.Columns, i, i+1)
		for n, row := range t.rows {
			t.rows[n] = slices.Delete(row, i, i+1)
		}
	}
}

const (
	columnGap = 2 // blanks between columns
	flexFloor = 8 // a name shorter than this tells nothing
)

// Lines renders the table in lines of at most budget columns; 0 sets no limit.
func (t *Table) Lines(budget int) []string {
	title := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		title[i] = c.Title
	}
	all := slices.Concat([][]string{title}, t.rows)
	widths := make([]int, len(t.Columns))
	for _, row := range all {
		for i, cell := range row {
			widths[i] = max(widths[i], columns(cell))
		}
	}
	if budget > 0 {
		t.squeeze(widths, budget)
	}
	var lines []string
	for i, row := range all {
		line := strings.TrimRight(t.line(row, widths, nil), " ")
		switch {
		case budget > 0 && columns(line) > budget:
			line = shortenEnd(line, budget)
		case !t.Term.Color:
		case i == 0:
			line = t.Term.paint(styleTitle, line)
		default:
			line = strings.TrimRight(t.line(row, widths, t.paint), " ")
		}
		lines = append(lines, line)
	}
	return lines
}

// paint sets a cell off as its column says. The blanks that fill it up stay as
// they are.
func (t *Table) paint(column int, filled string) string {
	cell := strings.Trim(filled, " ")
	how := t.Columns[column].Style
	if how == nil || cell == "" {
		return filled
	}
	before, after, _ := strings.Cut(filled, cell)
	return before + t.Term.paint(how(cell), cell) + after
}

// Print writes the table; width 0 sets no limit.
func (t *Table) Print(w io.Writer, width int) error {
	_, err := io.WriteString(w, strings.Join(t.Lines(width), "\n")+"\n")
	return err
}

// squeeze takes columns from the widest flexible column, one at a time, until
// all fit or nothing more can be taken.
func (t *Table) squeeze(widths []int, budget int) {
	total := columnGap * (len(widths) - 1)
	for _, w := range widths {
		total += w
	}
	for ; total > budget; total-- {
		widest := -1
		for i, c := range t.Columns {
			if c.Flex && widths[i] > flexFloor && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		widths[widest]--
	}
}

func (t *Table) line(row []string, widths []int, paint func(column int, filled string) string) string {
	cells := make([]string, len(row))
	for i, cell := range row {
		cell = shortenMiddle(cell, widths[i])
		if t.Columns[i].Right {
			cells[i] = strings.Repeat(" ", widths[i]-columns(cell)) + cell
		} else {
			cells[i] = pad(cell, widths[i])
		}
		if paint != nil {
			cells[i] = paint(i, cells[i])
		}
	}
	return strings.Join(cells, strings.Repeat(" ", columnGap))
}

// pad fills s up with blanks to n columns.
func pad(s string, n int) string {
	return s + strings.Repeat(" ", max(0, n-columns(s)))
}

// columns is how many columns of a terminal s takes. Colors that we have set
// take none; foreign text has none by then.
func columns(s string) int {
	n := 0
	for strings.IndexByte(s, '\x1b') >= 0 {
		before, sequence, _ := strings.Cut(s, "\x1b[")
		_, after, ended := strings.Cut(sequence, "m")
		if !ended {
			break
		}
		n += columns(before)
		s = after
	}
	for _, r := range s {
		n += runeColumns(r)
	}
	return n
}

func runeColumns(r rune) int {
	switch {
	case r < 0x300: // nothing below is wide or combines
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	case width.Neutral, width.EastAsianAmbiguous, width.EastAsianNarrow,
		width.EastAsianHalfwidth:
		return 1
	default:
		return 1
	}
}

const ellipsis = "…"

// shortenMiddle cuts s to n columns: the ends of a path tell more than its
// middle.
func shortenMiddle(s string, n int) string {
	if columns(s) <= n {
		return s
	}
	if n < 1 {
		return ""
	}
	tail := (n - 1) / 2
	return firstColumns(s, n-1-tail) + ellipsis + lastColumns(s, tail)
}

// shortenEnd cuts s to n columns.
func shortenEnd(s string, n int) string {
	if columns(s) <= n {
		return s
	}
	if n < 1 {
		return ""
	}
	return firstColumns(s, n-1) + ellipsis
}

// firstColumns is the longest start of s that fits n columns, marks included
// that combine with its last rune.
func firstColumns(s string, n int) string {
	for i, r := range s {
		if n -= runeColumns(r); n < 0 {
			return s[:i]
		}
	}
	return s
}

// lastColumns is the longest end of s that fits n columns and does not start
// with a mark that combines with what is cut off.
func lastColumns(s string, n int) string {
	runes := []rune(s)
	start := len(runes)
	for i := len(runes) - 1; i >= 0; i-- {
		w := runeColumns(runes[i])
		if n -= w; n < 0 {
			break
		}
		if w > 0 {
			start = i
		}
	}
	return string(runes[start:])
}
