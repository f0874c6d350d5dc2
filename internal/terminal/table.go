package terminal

import (
	"io"
	"slices"
	"strings"

	"agentswarm/internal/termtext"
)

// Column is a column of a [Table].
type Column struct {
	Title string
	Right bool // numbers line up at their last digit
	Flex  bool // may be shortened in the middle where space is short
	// Style is how a cell of the column is set off where the terminal has colors;
	// nil: not at all.
	Style func(cell string) Style
}

// Table is aligned plain text. Cells may be foreign text; they are made
// printable here.
type Table struct {
	Columns []Column // required
	Term    Output   // whose colors are used; the zero value has none
	rows    [][]string
}

// Row adds a row; missing cells are empty, and more cells than columns are a
// mistake of the caller that shows as a panic.
func (t *Table) Row(cells ...string) {
	row := make([]string, len(t.Columns))
	for i, cell := range cells {
		row[i] = termtext.Line(cell)
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
			widths[i] = max(widths[i], Columns(cell))
		}
	}
	if budget > 0 {
		t.squeeze(widths, budget)
	}
	var lines []string
	for i, row := range all {
		line := strings.TrimRight(t.line(row, widths, nil), " ")
		switch {
		case budget > 0 && Columns(line) > budget:
			line = ShortenEnd(line, budget)
		case !t.Term.Color:
		case i == 0:
			line = t.Term.Paint(StyleTitle, line)
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
	return before + t.Term.Paint(how(cell), cell) + after
}

// Print writes the table; width 0 sets no limit.
func (t *Table) Print(w io.Writer, width int) error {
	_, err := io.WriteString(w, strings.Join(t.Lines(width), "\n")+"\n")
	return err
}

// squeeze takes columns from the widest flexible column, in single steps, until
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
		cell = ShortenMiddle(cell, widths[i])
		if t.Columns[i].Right {
			cells[i] = strings.Repeat(" ", widths[i]-Columns(cell)) + cell
		} else {
			cells[i] = Pad(cell, widths[i])
		}
		if paint != nil {
			cells[i] = paint(i, cells[i])
		}
	}
	return strings.Join(cells, strings.Repeat(" ", columnGap))
}

const Ellipsis = termtext.Ellipsis

func Pad(s string, n int) string           { return termtext.Pad(s, n) }
func Columns(s string) int                 { return termtext.Columns(s) }
func ShortenMiddle(s string, n int) string { return termtext.CutMiddle(s, n) }
func ShortenEnd(s string, n int) string    { return termtext.CutEnd(s, n) }
func FirstColumns(s string, n int) string  { return termtext.First(s, n) }
