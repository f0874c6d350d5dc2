package scope

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
)

// Limits of a pattern. They are far above the patterns of people, and bound the
// work that a text can cause.
const (
	maxPattern      = 4096 // bytes, the longest path of a Linux system
	maxAlternatives = 1000 // globs that its braces stand for
)

// glob is a pattern without braces: a segment for each part of a path.
type glob []segment

// segment matches a part of a path, or, for `**`, any number of parts.
type segment struct {
	any    bool // **
	plain  bool // without a wildcard; it is text
	text   string
	tokens []token
	filled []token // the same, but no star is empty
}

// token matches a letter, or, for a star, any number of letters.
type token struct {
	star bool
	set  []span
}

// compile reads a pattern.
func compile(pattern string) ([]glob, error) {
	bad := func(reason string) error { return &PatternError{Pattern: pattern, Reason: reason} }
	switch {
	case pattern == "":
		return nil, bad("is empty")
	case len(pattern) > maxPattern:
		return nil, bad("is longer than any path")
	case strings.ContainsRune(pattern, 0):
		return nil, bad("holds a NUL byte")
	case !utf8.ValidString(pattern):
		return nil, bad("is not valid UTF-8")
	case !doublestar.ValidatePattern(pattern):
		return nil, bad("is not a pattern: a bracket, a brace or a backslash is left open")
	}
	texts, ok := expand(pattern, nil)
	if !ok {
		return nil, bad("has more than 1,000 alternatives in its braces")
	}
	globs := make([]glob, 0, len(texts))
	for _, text := range texts {
		g, reason := parse(text)
		if reason != "" {
			e := &PatternError{Pattern: pattern, Reason: reason}
			if reason == isTop {
				e.Tip = "** matches every path"
			}
			return nil, e
		}
		globs = append(globs, g)
	}
	return globs, nil
}

const isTop = "names the top of the repository itself"

// expand adds to texts the pattern once for every choice of its braces. It is
// false where there are too many of them.
func expand(pattern string, texts []string) ([]string, bool) {
	open := -1
	for i := 0; i < len(pattern); i = next(pattern, i) {
		if pattern[i] == '{' {
			open = i
			break
		}
	}
	if open < 0 {
		return append(texts, pattern), len(texts) < maxAlternatives
	}
	depth, from, choices := 0, open+1, []string(nil)
	for i := open; i < len(pattern); i = next(pattern, i) {
		switch c := pattern[i]; {
		case c == '{':
			depth++
			continue
		case c == ',' && depth == 1, c == '}' && depth == 1:
			choices = append(choices, pattern[from:i])
			from = i + 1
		}
		if pattern[i] == '}' {
			if depth--; depth == 0 {
				break
			}
		}
	}
	return expandEach(pattern[:open], choices, pattern[from:], texts)
}

func expandEach(before string, choices []string, after string, texts []string) ([]string, bool) {
	for _, c := range choices {
		var ok bool
		if texts, ok = expand(before+c+after, texts); !ok {
			return texts, false
		}
	}
	return texts, true
}

// next returns the index of the character after the character at i. A class and
// an escaped character count as a character. The pattern is valid.
func next(pattern string, i int) int {
	switch pattern[i] {
	case '\\':
		return i + 2
	case '[':
		for i++; pattern[i] != ']'; i++ {
			if pattern[i] == '\\' {
				i++
			}
		}
	}
	return i + 1
}

// parse reads a pattern without braces, or returns the fault of the pattern.
func parse(text string) (glob, string) {
	if text == "" {
		return nil, "has an empty alternative in its braces"
	}
	parts, ok := split(text)
	switch {
	case !ok:
		return nil, "has a slash inside brackets or after a backslash"
	case parts[0] == "":
		return nil, "is absolute: patterns are read from the top of the repository"
	}
	folder := false
	for n := len(parts); n > 0 && parts[n-1] == ""; n = len(parts) {
		parts, folder = parts[:n-1], true
	}
	for dot := false; len(parts) > 0 && (parts[0] == "." || dot && parts[0] == ""); dot = true {
		parts = parts[1:]
	}
	if len(parts) == 0 {
		return nil, isTop
	}
	var g glob
	plain := true
	for _, part := range parts {
		s, reason := parseSegment(part)
		if reason != "" {
			return nil, reason
		}
		plain = plain && s.plain
		if n := len(g); s.any && n > 0 && g[n-1].any {
			continue // twice any number is any number
		}
		g = append(g, s)
	}
	if folder {
		// Something below: a file of the folder's name is not.
		below, _ := parseSegment("*")
		g, plain = append(g, below), true
	}
	if plain && !g[len(g)-1].any {
		g = append(g, segment{any: true})
	}
	return g, ""
}

// split cuts a pattern at its slashes. It is false if a slash is part of a
// class or an escape.
func split(text string) ([]string, bool) {
	var parts []string
	from := 0
	for i := 0; i < len(text); {
		end := next(text, i)
		switch {
		case text[i] == '/':
			parts = append(parts, text[from:i])
			from = end
		case strings.Contains(text[i:end], "/"):
			return nil, false
		}
		i = end
	}
	return append(parts, text[from:]), true
}

func parseSegment(part string) (segment, string) {
	switch part {
	case "":
		return segment{}, "has two slashes in a row"
	case "**":
		return segment{any: true}, ""
	}
	s := segment{plain: true}
	var text strings.Builder
	for i := 0; i < len(part); {
		end := next(part, i)
		switch c := part[i]; c {
		case '*':
			s.plain = false
			if n := len(s.tokens); n == 0 || !s.tokens[n-1].star {
				s.tokens = append(s.tokens, token{star: true})
			}
		case '?':
			s.plain = false
			s.tokens = append(s.tokens, token{set: anything()})
		case '[':
			s.plain = false
			s.tokens = append(s.tokens, token{set: class(part[i+1 : end-1])})
		default:
			if c == '\\' {
				i++
			}
			r, width := utf8.DecodeRuneInString(part[i:])
			end = i + width
			text.WriteRune(r)
			s.tokens = append(s.tokens, token{set: []span{{r, r}}})
		}
		i = end
	}
	s.text, s.filled = text.String(), filled(s.tokens)
	switch {
	case s.plain && s.text == "..":
		return segment{}, "leaves the repository"
	case s.plain && s.text == ".":
		return segment{}, "has a part that is only a dot"
	}
	return s, ""
}

// filled makes every star match at least a letter.
func filled(tokens []token) []token {
	var all []token
	for _, t := range tokens {
		if t.star {
			all = append(all, token{set: anything()})
		}
		all = append(all, t)
	}
	return all
}

// match reports whether any of the globs matches a path.
func (s set) match(path string) bool {
	if path == "" {
		return false
	}
	parts := strings.Split(path, "/")
	return slices.ContainsFunc(s, func(g glob) bool { return g.match(parts) })
}

// match goes back to the last `**` only: that can take each part that an
// earlier `**` could take.
func (g glob) match(parts []string) bool {
	i, j := 0, 0
	again, from := -1, 0
	for j < len(parts) {
		switch {
		case i < len(g) && g[i].any:
			again, from = i+1, j
			i++
		case i < len(g) && g[i].match(parts[j]):
			i, j = i+1, j+1
		case again >= 0:
			from++
			i, j = again, from
		default:
			return false
		}
	}
	return i == len(g) || i == len(g)-1 && g[i].any
}

// match reports whether a segment that is not `**` matches a part of a path.
func (s segment) match(part string) bool {
	if s.plain || part == "" {
		return s.plain && s.text == part
	}
	i, j := 0, 0
	again, from := -1, 0
	for j < len(part) {
		r, width := decode(part[j:])
		switch {
		case i < len(s.tokens) && s.tokens[i].star:
			again, from = i+1, j
			i++
		case i < len(s.tokens) && contains(s.tokens[i].set, r):
			i, j = i+1, j+width
		case again >= 0:
			_, width := decode(part[from:])
			from += width
			i, j = again, from
		default:
			return false
		}
	}
	return i == len(s.tokens) || i == len(s.tokens)-1 && s.tokens[i].star
}
