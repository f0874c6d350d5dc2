package picture

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Style is how a character looks. The zero value is plain text.
type Style struct {
	Bold, Dim bool
	// Color is a color of the 16-color palette, from 1 for black to 16 for
	// bright white; 0 is the default color.
	Color int
}

// Cell is a character of a screen.
type Cell struct {
	Rune  rune
	Style Style
}

// Screen is a terminal with a cursor. It takes every character to be a single
// cell wide. It skips unknown sequences.
type Screen struct {
	rows, cols int
	cells      [][]Cell
	row, col   int
	style      Style
	rest       []byte // the beginning of a sequence or a character
}

// NewScreen returns an empty screen. rows and cols are at least 1.
func NewScreen(rows, cols int) *Screen {
	s := &Screen{rows: max(1, rows), cols: max(1, cols)}
	for range s.rows {
		s.cells = append(s.cells, blankRow(s.cols))
	}
	return s
}

func blankRow(cols int) []Cell {
	row := make([]Cell, cols)
	for i := range row {
		row[i].Rune = ' '
	}
	return row
}

// Write shows output of a program. A sequence may be split over several calls.
// The error is always nil.
func (s *Screen) Write(p []byte) (int, error) {
	text := append(s.rest, p...)
	for len(text) > 0 {
		n := s.step(text)
		if n == 0 { // more is needed
			break
		}
		text = text[n:]
	}
	s.rest = append([]byte(nil), text...)
	return len(p), nil
}

// step takes a character or a sequence off the text, and returns its length; 0
// if it is not complete.
func (s *Screen) step(text []byte) int {
	switch c := text[0]; {
	case c == 0x1b:
		return s.escape(text)
	case c == '\n':
		s.down()
	case c == '\r':
		s.col = 0
	case c == '\b':
		s.col = max(0, s.col-1)
	case c == '\t':
		s.col = min(s.cols-1, s.col/8*8+8)
	case c < ' ' || c == 0x7f:
	default:
		if !utf8.FullRune(text) {
			return 0
		}
		r, n := utf8.DecodeRune(text)
		s.put(r)
		return n
	}
	return 1
}

func (s *Screen) put(r rune) {
	if s.col >= s.cols {
		s.col = 0
		s.down()
	}
	s.cells[s.row][s.col] = Cell{Rune: r, Style: s.style}
	s.col++
}

// down moves the cursor a row down. At the bottom, all rows move up.
func (s *Screen) down() {
	if s.row < s.rows-1 {
		s.row++
		return
	}
	s.cells = append(s.cells[1:], blankRow(s.cols))
}

// longest is how long a sequence may be. Of a longer sequence the first byte is
// skipped, so that a stray ESC does not swallow the rest.
const longest = 4096

// escape handles the sequence at the beginning of text.
func (s *Screen) escape(text []byte) int {
	if len(text) < 2 {
		return 0
	}
	switch text[1] {
	case '[':
		for i, c := range text[2:] {
			if c >= 0x40 && c <= 0x7e {
				s.control(string(text[2:2+i]), c)
				return i + 3
			}
			if c < ' ' || c > 0x7e || i > longest {
				return 1
			}
		}
	case ']': // a title, or a link
		for i := 2; i < len(text); i++ {
			if text[i] == 0x07 {
				return i + 1
			}
			if text[i] == 0x1b && i+1 < len(text) && text[i+1] == '\\' {
				return i + 2
			}
		}
	case '(', ')':
		if len(text) >= 3 { // a set of characters
			return 3
		}
	default:
		return 2
	}
	if len(text) > longest {
		return 1
	}
	return 0
}

// control carries out CSI PARAMETERS FINAL.
func (s *Screen) control(parameters string, final byte) {
	if strings.HasPrefix(parameters, "?") {
		return // a mode, such as whether the cursor is shown
	}
	n := numbers(parameters)
	first := max(1, n[0])
	switch final {
	case 'A':
		s.row = max(0, s.row-first)
	case 'B':
		s.row = min(s.rows-1, s.row+first)
	case 'C':
		s.col = min(s.cols-1, s.col+first)
	case 'D':
		s.col = max(0, s.col-first)
	case 'E':
		s.row, s.col = min(s.rows-1, s.row+first), 0
	case 'F':
		s.row, s.col = max(0, s.row-first), 0
	case 'G':
		s.col = min(s.cols, first) - 1
	case 'H', 'f':
		s.row, s.col = min(s.rows, first)-1, 0
		if len(n) > 1 {
			s.col = min(s.cols, max(1, n[1])) - 1
		}
	case 'J':
		s.clear(n[0])
	case 'K':
		s.clearRow(n[0])
	case 'm':
		s.restyle(n)
	}
}

// numbers are the parameters of a sequence, at least one; a missing number is
// 0. Larger numbers than 9,999 count as 9,999.
func numbers(parameters string) []int {
	var all []int
	for part := range strings.SplitSeq(parameters, ";") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 {
			n = 0
		}
		all = append(all, min(n, 9999))
	}
	return all
}

// clear empties the screen: from the cursor (0), to the cursor (1), or all.
func (s *Screen) clear(how int) {
	s.clearRow(how)
	for row := range s.rows {
		if how == 0 && row > s.row || how == 1 && row < s.row || how >= 2 {
			s.cells[row] = blankRow(s.cols)
		}
	}
}

// clearRow empties the row of the cursor in the same way.
func (s *Screen) clearRow(how int) {
	from, to := 0, s.cols
	switch how {
	case 0:
		from = min(s.col, s.cols)
	case 1:
		to = min(s.col+1, s.cols)
	}
	copy(s.cells[s.row][from:to], blankRow(to-from))
}

// restyle carries out SGR.
func (s *Screen) restyle(n []int) {
	for i := 0; i < len(n); i++ {
		switch v := n[i]; {
		case v == 0:
			s.style = Style{}
		case v == 1:
			s.style.Bold = true
		case v == 2:
			s.style.Dim = true
		case v == 22:
			s.style.Bold, s.style.Dim = false, false
		case v >= 30 && v <= 37:
			s.style.Color = v - 29
		case v >= 90 && v <= 97:
			s.style.Color = v - 81
		case v == 39:
			s.style.Color = 0
		case v == 38 || v == 48: // 256 colors, or any color: only the first 16 are kept
			if i+2 < len(n) && n[i+1] == 5 {
				if v == 38 && n[i+2] < 16 {
					s.style.Color = n[i+2] + 1
				}
				i += 2
			} else if i+1 < len(n) && n[i+1] == 2 {
				i += 4
			}
		}
	}
}

// Text is the characters of the screen in lines, without blanks at their ends.
func (s *Screen) Text() string {
	var b strings.Builder
	for _, row := range s.cells {
		var line strings.Builder
		for _, c := range row {
			line.WriteRune(c.Rune)
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return b.String()
}
