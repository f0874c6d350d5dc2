package scope

import (
	"slices"
	"unicode/utf8"
)

// span is a range of letters, both ends included.
type span struct{ low, high rune }

// A byte that is no UTF-8 is a letter of its own, beyond all others: names of
// files may hold such bytes, `?` and `[!a]` match them, and no other letter
// does.
const (
	firstByte = utf8.MaxRune + 1
	lastByte  = firstByte + 0xff
)

// decode reads the first letter of a text that is not empty.
func decode(text string) (rune, int) {
	r, width := utf8.DecodeRuneInString(text)
	if r == utf8.RuneError && width == 1 {
		return firstByte + rune(text[0]), 1
	}
	return r, width
}

// appendLetter is the reverse of decode.
func appendLetter(text []byte, r rune) []byte {
	if r >= firstByte {
		return append(text, byte(r-firstByte))
	}
	return utf8.AppendRune(text, r)
}

// anything is every letter that a part of a path may hold: not NUL, not a
// slash, no half of a surrogate pair.
func anything() []span {
	return []span{{1, '/' - 1}, {'/' + 1, 0xd7ff}, {0xe000, lastByte}}
}

// class reads the text between brackets.
func class(text string) []span {
	negated := text[0] == '!' || text[0] == '^'
	if negated {
		text = text[1:]
	}
	letter := func() rune {
		if text[0] == '\\' {
			text = text[1:]
		}
		r, width := utf8.DecodeRuneInString(text)
		text = text[width:]
		return r
	}
	var spans []span
	open := false // the last span may begin a range
	for text != "" {
		if open && text[0] == '-' && len(text) > 1 {
			text = text[1:]
			// For doublestar z-a is z.
			last := &spans[len(spans)-1]
			last.high = max(last.low, letter())
			open = false
			continue
		}
		r := letter()
		spans, open = append(spans, span{r, r}), true
	}
	rest := outside(spans)
	if !negated {
		rest = outside(rest) // the spans again, in order and none twice
	}
	return common(anything(), rest)
}

// outside is every letter that is in none of the spans.
func outside(spans []span) []span {
	sorted := slices.Clone(spans)
	slices.SortFunc(sorted, func(a, b span) int { return int(a.low - b.low) })
	var rest []span
	low := rune(0)
	for _, s := range sorted {
		if low < s.low {
			rest = append(rest, span{low, s.low - 1})
		}
		low = max(low, s.high+1)
	}
	if low <= lastByte {
		rest = append(rest, span{low, lastByte})
	}
	return rest
}

func contains(spans []span, r rune) bool {
	for _, s := range spans {
		if s.low <= r && r <= s.high {
			return true
		}
	}
	return false
}

// common returns the shared letters of two lists of spans; empty: none.
func common(a, b []span) []span {
	var both []span
	for _, x := range a {
		for _, y := range b {
			if s := (span{max(x.low, y.low), min(x.high, y.high)}); s.low <= s.high {
				both = append(both, s)
			}
		}
	}
	return both
}

// meet reports whether two lists of spans share a letter.
func meet(a, b []span) bool {
	for _, x := range a {
		for _, y := range b {
			if x.low <= y.high && y.low <= x.high {
				return true
			}
		}
	}
	return false
}

// sample is a letter of spans that are not empty, preferably a readable letter.
func sample(spans []span) rune {
	for _, r := range "xabcdefghijklmnopqrstuvwyz0123456789_ABCDEFGHIJKLMNOPQRSTUVWXYZ" {
		if contains(spans, r) {
			return r
		}
	}
	return spans[0].low
}
