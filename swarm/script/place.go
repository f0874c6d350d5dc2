package script

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// mostLine is how much of a line an error shows.
const mostLine = 200

// fault is an error about a place in a text, given in bytes from its start.
// Columns count characters, from 1.
func (src Source) fault(code Code, at int, format string, args ...any) *Error {
	at = max(0, min(at, len(src.Text)))
	number, start := 1, 0
	for {
		end := start + lineEnd(src.Text[start:])
		if next := end + terminator(src.Text[end:]); next > end && next <= at {
			number, start = number+1, next
			continue
		}
		line := src.Text[start:end]
		column := 1 + utf8.RuneCountInString(src.Text[start:at])
		e := &Error{
			Name: "SyntaxError", Code: code,
			Message: fmt.Sprintf(format, args...),
			Where:   fmt.Sprintf("%s:%d:%d", src.Name, number, column),
			Line:    excerpt(line, at-start),
		}
		if code == CodeMeta {
			e.Name = "Error"
		}
		return e
	}
}

// offset is where a line and a column stand, which both count from 1, columns
// in bytes.
func (src Source) offset(line, column int) int {
	start := 0
	for range line - 1 {
		end := start + lineEnd(src.Text[start:])
		start = end + terminator(src.Text[end:])
	}
	return max(0, min(start+column-1, len(src.Text)))
}

// lineEnd is the length of the line that a text begins with.
func lineEnd(text string) int {
	for i, r := range text {
		if isLineEnd(r) {
			return i
		}
	}
	return len(text)
}

// endsLine reports whether a text begins with the end of a line.
func endsLine(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return isLineEnd(r)
}

func isLineEnd(r rune) bool {
	return r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029'
}

// terminator is the length of the line terminator that a text begins with.
func terminator(text string) int {
	if strings.HasPrefix(text, "\r\n") {
		return 2
	}
	_, size := utf8.DecodeRuneInString(text)
	return size
}

// excerpt returns the part of a line around a column, in bytes from 0. It keeps
// tabs and drops other control characters for a terminal.
func excerpt(line string, at int) string {
	if len(line) > mostLine {
		from := max(0, min(at-mostLine/2, len(line)-mostLine))
		to := from + mostLine
		for from > 0 && from < to && !utf8.RuneStart(line[from]) {
			from++
		}
		for to < len(line) && to > from && !utf8.RuneStart(line[to]) {
			to--
		}
		line = line[from:to]
	}
	return strings.Map(func(r rune) rune {
		if r != '\t' && unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(line, "?"))
}

// lower makes the first letter of a sentence small, as errors here begin.
func lower(s string) string {
	r, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToLower(r)) + s[size:]
}
