package review

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// sort is the sort of a token.
type sort byte

const (
	mark   sort = iota // punctuation: a single character
	word               // letters, digits and underscores
	number             // begins with a digit
	lineEnd
	indent // how far a line is indented beyond the first; only where that has a meaning
)

// token is a part of a line. Strings are cut like code, so that a path in a
// string changes in a single part.
type token struct {
	sort sort
	text string
}

// side is a side of an edit.
type side struct {
	lines     []string
	indented  bool   // indentation is a token
	reference string // the indentation that others are compared with
}

// tokens cuts a side. White space is dropped.
func (s side) tokens() []token {
	if len(s.lines) == 0 {
		return nil
	}
	size := 0
	for _, line := range s.lines {
		size += len(line)
	}
	all := make([]token, 0, size/3+len(s.lines))
	for _, line := range s.lines {
		if len(all) > 0 && !blank(line) {
			all = append(all, token{lineEnd, "\n"})
		}
		if s.indented && !blank(line) {
			all = append(all, token{indent, relative(s.reference, indentation(line))})
		}
		all = appendTokens(all, line)
	}
	return all
}

func appendTokens(all []token, line string) []token {
	for line != "" {
		t, space := firstToken(line)
		if !space {
			all = append(all, t)
		}
		line = line[len(t.text):]
	}
	return all
}

// firstToken is the token that a line begins with. It reports whether that is
// a white space character. The line must not be empty.
func firstToken(line string) (t token, space bool) {
	r, size := rune(line[0]), 1
	if r >= utf8.RuneSelf {
		r, size = utf8.DecodeRuneInString(line)
	}
	switch {
	case unicode.IsSpace(r):
		return token{mark, line[:size]}, true
	case isDigit(r):
		return token{number, line[:wordEnd(line)]}, false
	case isLetter(r):
		return token{word, line[:wordEnd(line)]}, false
	}
	return token{mark, line[:size]}, false
}

// wordEnd is the length of the word that a line begins with.
func wordEnd(line string) int {
	for i, r := range line {
		if !isLetter(r) && !isDigit(r) {
			return i
		}
	}
	return len(line)
}

func isDigit(r rune) bool { return r >= '0' && r <= '9' }

func isLetter(r rune) bool {
	if r < utf8.RuneSelf {
		return r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
	}
	return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsNumber(r)
}

func blank(line string) bool { return strings.TrimSpace(line) == "" }

// indentation is the white space that a line begins with.
func indentation(line string) string {
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

// relative says how far an indentation goes beyond another.
func relative(from, to string) string {
	switch {
	case from == to:
		return "0"
	case strings.HasPrefix(to, from):
		return "+" + to[len(from):]
	case strings.HasPrefix(from, to):
		return "-" + from[len(to):]
	}
	return from + "|" + to
}

// sameWords reports whether two token lists are equal but for line ends.
func sameWords(a, b []token) bool {
	i, j := 0, 0
	for {
		for i < len(a) && a[i].sort == lineEnd {
			i++
		}
		for j < len(b) && b[j].sort == lineEnd {
			j++
		}
		if i == len(a) || j == len(b) {
			return i == len(a) && j == len(b)
		}
		if a[i] != b[j] {
			return false
		}
		i, j = i+1, j+1
	}
}

// Words cuts a line into words and marks as edits are compared by.
func Words(line string) []string { return texts(appendTokens(nil, line)) }
