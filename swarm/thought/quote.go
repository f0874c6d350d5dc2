package thought

import "strings"

// reader reads a text line by line for the end of a thought that began before
// the text did. [Cut], which has the text, uses it, and so does the finder,
// which reads files letter by letter. So both find the same thoughts.
type reader struct {
	began uint8 // a bit for each mark that a line began with
	any   bool  // a line had letters
	fence fence
}

// ends reports whether a line is the end of such a thought: a mark of its own
// line that nothing quotes, neither a fence nor an indentation, and whose
// beginning no line began with, be it in a list. Behind nothing but blanks any
// indentation will do: so stands the mark once the thought before it is blanked.
func (r *reader) ends(l *row, all []mark) bool {
	text := strings.TrimRight(string(l.head[:l.n]), blanks)
	if text == "" {
		return false
	}
	first := !r.any
	r.any = true
	item := listed(text)
	if r.fence.quotes(l, text, item) {
		return false
	}
	for i, m := range all {
		switch {
		case strings.HasPrefix(text[item:], m.begin):
			r.began |= 1 << i
		case text == m.end && !l.over && r.began&(1<<i) == 0:
			return first || l.indent < coded
		}
	}
	return false
}

// coded is the indentation, in columns, from which a line is code.
const coded = 4

// fence is an open quote of lines, as in CommonMark. Its zero value is no
// quote.
type fence struct {
	letter byte
	length int
	column int // of the item of a list that it stands in
}

// quotes reports whether a line is quoted, or begins or ends a quote. item is
// the number of letters of list items at the start of its text.
func (f *fence) quotes(l *row, text string, item int) bool {
	letter, rest := text[item], strings.TrimLeft(text[item:], text[item:item+1])
	length := len(text) - item - len(rest)
	if f.length > 0 {
		if letter == f.letter && length >= f.length && rest == "" && !l.over && item == 0 && l.indent < f.column+coded {
			*f = fence{}
		}
		return true
	}
	switch {
	case letter != '`' && letter != '~', length < 3:
		return false
	case letter == '`' && (l.ticks || strings.Contains(rest, "`")): // code in a line
		return false
	case item == 0 && l.indent >= coded:
		return false
	}
	*f = fence{letter: letter, length: length}
	if item > 0 {
		f.column = l.indent + item
	}
	return true
}

// listed counts the letters of a text that make it items of lists, such as "- "
// and "12. ".
func listed(text string) (n int) {
	for {
		rest := strings.TrimLeft(text[n:], "0123456789")
		digits := len(text) - n - len(rest)
		marks := ".)"
		if digits == 0 {
			marks = "-*+"
		}
		if digits > 9 || len(rest) < 2 || !strings.Contains(marks, rest[:1]) || !strings.Contains(" \t", rest[1:2]) {
			return n
		}
		n = len(text) - len(strings.TrimLeft(rest[1:], blanks))
	}
}

// row is a line that comes letter by letter, without its line end. Its memory
// does not grow with the line.
type row struct {
	indent int       // in columns
	head   [128]byte // the text after its leading blanks
	n      int       // how much of that there is
	over   bool      // more than blanks follow the head
	ticks  bool      // and among it is a backtick
	at     int64     // where the head begins
}

func (r *row) take(c byte, at int64) {
	switch {
	case r.n == 0 && c == ' ':
		r.indent++
	case r.n == 0 && c == '\t':
		r.indent += 4 - r.indent%4
	case r.n == 0 && blank(c):
	case r.n < len(r.head):
		if r.n == 0 {
			r.at = at
		}
		r.head[r.n] = c
		r.n++
	default:
		r.over = r.over || !blank(c)
		r.ticks = r.ticks || c == '`'
	}
}
