package tui

import (
	"fmt"
	"slices"
	"strings"

	"agentswarm/internal/termtext"
)

// Hunk is a run of changed lines with the lines around it.
type Hunk struct {
	Path     string
	Language string // as the end of a file name, such as go
	About    string // describes a change without lines
	// OldLine and NewLine are the numbers of the first changed lines.
	OldLine, NewLine              int
	Before, Removed, Added, After []string
}

// SideBySide is the width of a terminal from which views use its width: old and
// new lines stand beside each other then.
const SideBySide = 140

// paneSideBySide is the same for a pane, which may stand beside a list.
const paneSideBySide = SideBySide - 30

// DiffPane shows hunks. It makes only the lines that are in sight.
type DiffPane struct {
	Code *Code // colors of code; nil: none
	// Wide has old and new lines beside each other.
	wide  bool
	hunks []Hunk
	// ends are the numbers of lines up to the end of each hunk.
	ends []int
	top  int
	left int // columns that are scrolled away
}

// Set replaces the hunks and scrolls to the first.
func (d *DiffPane) Set(hunks []Hunk) {
	d.hunks, d.top, d.left = hunks, 0, 0
	d.measure()
}

func (d *DiffPane) measure() {
	d.ends = d.ends[:0]
	n := 0
	for i := range d.hunks {
		n += d.height(&d.hunks[i])
		d.ends = append(d.ends, n)
	}
}

// height is the number of lines of a hunk: its head, its lines, and a blank
// line.
func (d *DiffPane) height(h *Hunk) int {
	changed := len(h.Removed) + len(h.Added)
	if d.wide {
		changed = max(len(h.Removed), len(h.Added))
	}
	return 2 + len(h.Before) + changed + len(h.After)
}

// Len is the number of lines of all hunks.
func (d *DiffPane) Len() int {
	if len(d.ends) == 0 {
		return 0
	}
	return d.ends[len(d.ends)-1]
}

// Scroll moves the pane by lines.
func (d *DiffPane) Scroll(lines int) { d.top = min(max(d.top+lines, 0), max(0, d.Len()-1)) }

// Shift moves the pane sideways by columns.
func (d *DiffPane) Shift(columns int) { d.left = max(0, d.left+columns) }

// NextHunk scrolls to the next hunk, or to the previous hunk.
func (d *DiffPane) NextHunk(forward bool) {
	at, _ := d.find(d.top)
	switch {
	case forward && at+1 < len(d.hunks):
		d.top = d.ends[at]
	case !forward && at > 0 && d.top == d.ends[at-1]:
		at--
		fallthrough
	case !forward && at < len(d.hunks):
		d.top = 0
		if at > 0 {
			d.top = d.ends[at-1]
		}
	}
}

// find is the hunk of a line, and the number of the line in it.
func (d *DiffPane) find(line int) (hunk, within int) {
	hunk, found := slices.BinarySearch(d.ends, line)
	if found {
		hunk++
	}
	if hunk > 0 {
		line -= d.ends[hunk-1]
	}
	return hunk, line
}

// Draw draws the lines that fit, old and new beside each other where the pane is
// wide.
func (d *DiffPane) Draw(p Palette, width, height int) []string {
	if wide := width >= paneSideBySide; wide != d.wide {
		d.wide = wide
		at, _ := d.find(d.top)
		d.measure()
		d.top = 0
		if at > 0 && at <= len(d.ends) {
			d.top = d.ends[at-1]
		}
	}
	d.Scroll(0)
	var out []string
	for n := d.top; n < d.Len() && len(out) < height; n++ {
		at, within := d.find(n)
		out = append(out, d.line(p, &d.hunks[at], within, width))
	}
	return out
}

// line draws a line of a hunk.
func (d *DiffPane) line(p Palette, h *Hunk, n, width int) string {
	if n == 0 {
		text := termtext.Line(ends(h.Path))
		if h.NewLine > 0 {
			text = fmt.Sprintf("%s:%d", text, h.NewLine)
		}
		if h.About != "" {
			text += "  " + termtext.Line(ends(h.About))
		}
		return p.Paint(Title, termtext.CutMiddle(text, width))
	}
	if n--; n < len(h.Before) {
		return d.same(p, h, h.Before[n], width)
	}
	n -= len(h.Before)
	if d.wide {
		changed := max(len(h.Removed), len(h.Added))
		if n < changed {
			return d.pair(p, h, n, width)
		}
		n -= changed
	} else {
		if n < len(h.Removed) {
			return d.code(p, h.Language, '-', h.Removed[n], width)
		}
		if n -= len(h.Removed); n < len(h.Added) {
			return d.code(p, h.Language, '+', h.Added[n], width)
		}
		n -= len(h.Added)
	}
	if n < len(h.After) {
		return d.same(p, h, h.After[n], width)
	}
	return ""
}

// ends is a text without the middle that no terminal is wide enough for.
func ends(text string) string {
	const most = 4 << 10
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most/2], "") + termtext.Ellipsis + strings.ToValidUTF8(text[len(text)-most/2:], "")
}

// same draws an unchanged line, on both sides where there are two.
func (d *DiffPane) same(p Palette, h *Hunk, text string, width int) string {
	if !d.wide {
		return d.code(p, h.Language, ' ', text, width)
	}
	left, right := halves(width)
	return padded(d.code(p, h.Language, ' ', text, left), left) + divider + d.code(p, h.Language, ' ', text, right)
}

const divider = " │ "

func halves(width int) (left, right int) {
	left = max(1, (width-termtext.Columns(divider))/2)
	return left, max(1, width-left-termtext.Columns(divider))
}

func padded(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-termtext.Columns(text)))
}

// pair draws an old line and a new line.
func (d *DiffPane) pair(p Palette, h *Hunk, n, width int) string {
	left, right := halves(width)
	var a, b string
	if n < len(h.Removed) {
		a = d.code(p, h.Language, '-', h.Removed[n], left)
	}
	if n < len(h.Added) {
		b = d.code(p, h.Language, '+', h.Added[n], right)
	}
	return padded(a, left) + divider + b
}

// tabWidth is the width of a tab in code, in columns.
const tabWidth = 4

// code draws a line of code with its sign. Only the part that can be seen is
// looked at.
func (d *DiffPane) code(p Palette, language string, sign byte, text string, width int) string {
	role := Plain
	switch sign {
	case '+':
		role = Added
	case '-':
		role = Removed
	}
	out := p.Paint(role, string(sign))
	skip, room := d.left, max(0, width-1)
	most := 8 * (skip + room + 1)
	cut := len(text) > most
	if cut {
		text = text[:most]
	}
	for _, t := range d.Code.Tokens(language, text) {
		word := termtext.Line(strings.ReplaceAll(t.Text, "\t", strings.Repeat(" ", tabWidth)))
		if skip > 0 {
			gone := termtext.First(word, skip)
			skip -= termtext.Columns(gone)
			if word = word[len(gone):]; word == "" {
				continue
			}
			skip = 0
		}
		if n := termtext.Columns(word); n > room || cut && n == room {
			return out + p.Paint(tokenRole(t.Role, role), termtext.CutEnd(word+termtext.Ellipsis, room))
		}
		room -= termtext.Columns(word)
		out += p.Paint(tokenRole(t.Role, role), word)
	}
	return out
}

// tokenRole is the role of a token in a line: words without a role of their own
// have that of the line.
func tokenRole(token, line Role) Role {
	if token == Plain {
		return line
	}
	return token
}

// Current is the hunk at the top of the pane; nil where there is none.
func (d *DiffPane) Current() *Hunk {
	if at, _ := d.find(d.top); at < len(d.hunks) {
		return &d.hunks[at]
	}
	return nil
}
