package regex

import (
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
)

// lateFolds are simple foldings of Unicode that the tables of the standard
// library do not have.
var lateFolds = map[rune]rune{
	0x1FD3: 0x0390, 0x0390: 0x1FD3, 0x1FE3: 0x03B0, 0x03B0: 0x1FE3, 0xFB05: 0xFB06, 0xFB06: 0xFB05,
}

// orbit calls f with every character that a case-insensitive pattern takes for
// r, and with r itself, until f returns true.
func orbit(r rune, unicodeMode bool, f func(rune) bool) bool {
	if f(r) {
		return true
	}
	if r < utf8.RuneSelf && !unicodeMode {
		switch {
		case r >= 'a' && r <= 'z':
			return f(r - 'a' + 'A')
		case r >= 'A' && r <= 'Z':
			return f(r - 'A' + 'a')
		}
		return false
	}
	if o, ok := lateFolds[r]; ok && unicodeMode {
		return f(o)
	}
	for o := unicode.SimpleFold(r); o != r; o = unicode.SimpleFold(o) {
		if (unicodeMode || upper(o) == upper(r)) && f(o) {
			return true
		}
	}
	return false
}

// same reports whether a case-insensitive pattern takes a for b.
func same(a, b rune, unicodeMode bool) bool {
	return orbit(a, unicodeMode, func(r rune) bool { return r == b })
}

var uppers sync.Map // of rune to rune, for characters beyond ASCII

// upper is the Canonicalize of patterns without the flags u and v.
func upper(r rune) rune {
	switch {
	case r >= 'a' && r <= 'z':
		return r - 'a' + 'A'
	case r < utf8.RuneSelf || r >= 0x10000:
		return r
	}
	if v, ok := uppers.Load(r); ok {
		return v.(rune)
	}
	up := r
	text := []rune(cases.Upper(language.Und).String(string(r)))
	if len(text) == 1 && text[0] >= utf8.RuneSelf && text[0] < 0x10000 {
		up = text[0]
	}
	uppers.Store(r, up)
	return up
}

// folded is the least character of the orbit of r, which stands for all of it.
func folded(r rune) rune {
	least := r
	orbit(r, true, func(o rune) bool {
		least = min(least, o)
		return false
	})
	return least
}

// foldable are the characters whose orbit has several members.
var foldable = sync.OnceValue(func() []rune {
	var all []rune
	for r := rune(0); r < 0x1F000; r++ {
		if _, late := lateFolds[r]; late || unicode.SimpleFold(r) != r {
			all = append(all, r)
		}
	}
	return all
})

// fold replaces each character of a set by the representative of its orbit.
func (s set) fold() set {
	var gone, come []span
	for _, r := range foldable() {
		if f := folded(r); s.has(r) {
			come = append(come, span{f, f})
			if f != r {
				gone = append(gone, span{r, r})
			}
		}
	}
	return s.without(normal(gone)).union(normal(come))
}

// allFolded are the characters that stand for their orbits.
var allFolded = sync.OnceValue(func() set {
	var gone []span
	for _, r := range foldable() {
		if folded(r) != r {
			gone = append(gone, span{r, r})
		}
	}
	return normal(gone).complement(lastRune)
})
