// Package termtext makes foreign text fit for a terminal: it shows characters
// that cannot be seen, measures columns, and cuts and wraps text. It writes
// nothing and knows no colors beyond skipping them where it measures.
package termtext

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// Ellipsis stands for text that was cut off.
const Ellipsis = "…"

// Line makes foreign text fit for a line of a terminal. Escape sequences and
// right-to-left overrides in it could repaint the screen or disguise a name:
// characters that cannot be seen are shown as in Go: \n, \x1b, \u202e.
func Line(s string) string { return escape(s, "") }

// Text is [Line] for text of many lines: line breaks and tabs stay as they are.
func Text(s string) string { return escape(s, "\n\t") }

func escape(s, keep string) string {
	if isPlain(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case unicode.IsPrint(r) || strings.ContainsRune(keep, r):
			b.WriteRune(r)
		default:
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		i += size
	}
	return b.String()
}

// isPlain is the quick answer for nearly all text.
func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// bytesPerColumn bounds how much of a text is read for each column that it is
// cut to: a column has a letter and a few marks.
const bytesPerColumn = 16

// Head is the start of foreign text, of any length, in a single printable line
// of at most n columns. It reads only the part of the text that can be shown.
func Head(s string, n int) string {
	if n < 1 {
		return ""
	}
	if most := bytesPerColumn * (n + 1); len(s) > most {
		return CutEnd(Line(strings.ToValidUTF8(s[:most], ""))+Ellipsis, n)
	}
	return CutEnd(Line(s), n)
}

// Columns is how many columns of a terminal s takes. Colors (SGR sequences)
// take none.
func Columns(s string) int {
	n := 0
	for strings.IndexByte(s, '\x1b') >= 0 {
		before, sequence, _ := strings.Cut(s, "\x1b[")
		_, after, ended := strings.Cut(sequence, "m")
		if !ended {
			break
		}
		n += Columns(before)
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

// Pad fills s up with blanks to n columns.
func Pad(s string, n int) string {
	return s + strings.Repeat(" ", max(0, n-Columns(s)))
}

// CutMiddle cuts s to n columns: the ends of a path tell more than its middle.
func CutMiddle(s string, n int) string {
	if Columns(s) <= n {
		return s
	}
	if n < 1 {
		return ""
	}
	tail := (n - 1) / 2
	return First(s, n-1-tail) + Ellipsis + last(s, tail)
}

// CutEnd cuts s to n columns.
func CutEnd(s string, n int) string {
	if Columns(s) <= n {
		return s
	}
	if n < 1 {
		return ""
	}
	return First(s, n-1) + Ellipsis
}

// First is the longest start of s that fits n columns, marks included that
// combine with its last rune.
func First(s string, n int) string {
	for i, r := range s {
		if n -= runeColumns(r); n < 0 {
			return s[:i]
		}
	}
	return s
}

// last is the longest end of s that fits n columns and does not start with a
// mark that combines with the text that is cut off.
func last(s string, n int) string {
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

// Wrap breaks text into lines of at most n columns, between words where it can.
// A longer word is broken; an empty text is a single empty line.
func Wrap(text string, n int) []string {
	n = max(n, 2)
	lines := []string{""}
	for word := range strings.FieldsSeq(text) {
		for part := First(word, n); len(part) < len(word); part = First(word, n) {
			lines, word = append(lines, part), word[len(part):]
		}
		if at := &lines[len(lines)-1]; *at != "" && Columns(*at)+1+Columns(word) <= n {
			*at += " " + word
			continue
		}
		lines = append(lines, word)
	}
	if len(lines) > 1 {
		lines = lines[1:]
	}
	return lines
}
