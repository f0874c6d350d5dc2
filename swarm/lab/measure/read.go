package measure

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// lines reads a text by the grammar.
func (g grammar) lines(src string) map[int]line {
	r := &lineReader{g: g, lines: map[int]line{}}
	var ends map[string]int
	if g.here {
		ends = lastLines(src)
	}
	for text := range strings.Lines(src) {
		r.n++
		text = strings.TrimRight(text, "\r\n")
		switch {
		case r.n == 1 && strings.HasPrefix(text, "#!"):
			r.code()
		case r.below != "":
			r.document(text)
		default:
			r.read(text)
			if g.here && r.end == "" && r.lines[r.n].code {
				r.below = document(text, r.n, ends)
			}
		}
		if bare := strings.TrimSpace(text); bare != "" {
			r.before = bare
		}
	}
	return r.lines
}

// lineReader reads a text line by line.
type lineReader struct {
	g      grammar
	lines  map[int]line
	n      int
	end    string // of a comment or string that began on an earlier line
	doc    bool   // that is a comment
	below  string // the word that ends a text below its command
	before string // the last line that says something
}

func (r *lineReader) code() {
	l := r.lines[r.n]
	l.code = true
	r.lines[r.n] = l
}

// document reads a line of a text below its command.
func (r *lineReader) document(text string) {
	if strings.TrimSpace(text) != "" {
		r.code()
	}
	if strings.TrimSpace(text) == r.below {
		r.below = ""
	}
}

// read reads a line.
func (r *lineReader) read(text string) {
	for i := 0; i < len(text); {
		rest := text[i:]
		if r.end != "" {
			n := r.within(rest)
			if n < 0 {
				return
			}
			i += n
			continue
		}
		if n := r.opens(rest); n > 0 {
			i += n
			continue
		}
		if mark := prefixOf(rest, r.g.line); mark != "" && r.g.comments(text, i, mark) {
			remark(r.lines, r.n, rest)
			return
		}
		i += r.token(text, i)
	}
}

// within reads the rest of a text from an earlier line, and returns its length;
// less than 0 if it goes on below.
func (r *lineReader) within(rest string) int {
	at := strings.Index(rest, r.end)
	part := rest
	if at >= 0 {
		part = rest[:at]
	}
	if r.doc {
		remark(r.lines, r.n, part)
	} else {
		r.code()
	}
	if at < 0 {
		return -1
	}
	n := at + len(r.end)
	r.end = ""
	return n
}

// opens reads the mark of a comment over several lines, and returns its length.
func (r *lineReader) opens(rest string) int {
	for _, b := range r.g.block {
		if strings.HasPrefix(rest, b[0]) {
			r.end, r.doc = b[1], true
			return len(b[0])
		}
	}
	return 0
}

// token reads the token at i, which is not a comment of a line, and returns its
// length.
func (r *lineReader) token(text string, i int) int {
	rest := text[i:]
	if mark := prefixOf(rest, r.g.long); mark != "" {
		if r.end, r.doc = mark, r.g.docs && r.documents(text[:i]); !r.doc {
			r.code()
		}
		return len(mark)
	}
	switch {
	case rest[0] == ' ' || rest[0] == '\t':
		return 1
	case r.g.docs && strings.ContainsRune("rRuU", rune(rest[0])) && prefixOf(rest[1:], r.g.long) != "" && strings.TrimSpace(text[:i]) == "":
		return 1 // of a docstring
	}
	r.code()
	switch {
	case strings.IndexByte(r.g.quotes, rest[0]) >= 0 && r.g.begins(text, i):
		n, closed := quoted(rest)
		if !closed && r.g.open {
			r.end, r.doc = rest[:1], false
		}
		return n
	case r.g.slash && rest[0] == '/' && expression(text[:i]):
		n, _ := quoted(rest)
		return n
	}
	return 1
}

// documents tells whether a long string that stands after a text is a comment:
// it begins its line, and no line before it waits for a value.
func (r *lineReader) documents(before string) bool {
	before = strings.TrimSpace(before)
	return (before == "" || len(before) == 1 && strings.Contains("rRuU", before)) &&
		(r.before == "" || !strings.ContainsRune("([{,=+%\\", rune(r.before[len(r.before)-1])))
}

// comments tells whether a mark begins a comment where it stands.
func (g grammar) comments(text string, i int, mark string) bool {
	switch {
	case i == 0:
		return true
	case g.word:
		return strings.ContainsRune(" \t;(", rune(text[i-1]))
	case mark == "//":
		return text[i-1] != ':' // of a URL
	default:
		return true
	}
}

// begins tells whether a quote begins a string. Within a word it stands for
// something else, as in don't, 1'000 or f', and so it does in Rust where no
// character ends soon.
func (g grammar) begins(text string, i int) bool {
	if !g.apart || text[i] != '\'' {
		return true
	}
	before, _ := utf8.DecodeLastRuneInString(text[:i])
	if i > 0 && (unicode.IsLetter(before) || unicode.IsDigit(before)) {
		return false
	}
	return strings.Contains(text[i+1:], "'") && (i == 0 || !strings.ContainsRune("&<", before))
}

// expression tells whether a slash after a text begins a regular expression,
// as no division can stand there.
func expression(before string) bool {
	before = strings.TrimSpace(before)
	return before == "" || strings.ContainsRune("(,=:[!&|?{};+*%~^>", rune(before[len(before)-1])) || strings.HasSuffix(before, "return")
}

func prefixOf(text string, marks []string) string {
	for _, mark := range marks {
		if strings.HasPrefix(text, mark) {
			return mark
		}
	}
	return ""
}

// quoted returns the length of the string that begins here, at most to the end,
// and whether it ends. In a class of a regular expression a slash is a plain
// character.
func quoted(text string) (n int, closed bool) {
	class := false
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '\\':
			i++
		case text[0] == '/' && (text[i] == '[' || text[i] == ']'):
			class = text[i] == '['
		case text[i] == text[0] && !class:
			return i + 1, true
		}
	}
	return len(text), false
}
