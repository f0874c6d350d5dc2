package regex

import (
	"slices"
	"unicode"
)

// span is a range of characters, both ends included.
type span struct{ from, to rune }

// set is a sorted list of spans that neither overlap nor touch.
type set []span

const lastRune = unicode.MaxRune

// normal sorts spans and joins those that touch.
func normal(spans []span) set {
	slices.SortFunc(spans, func(a, b span) int { return int(a.from - b.from) })
	out := spans[:0]
	for _, s := range spans {
		if n := len(out); n > 0 && s.from <= out[n-1].to+1 {
			out[n-1].to = max(out[n-1].to, s.to)
			continue
		}
		out = append(out, s)
	}
	return out
}

func (s set) union(o set) set { return normal(append(slices.Clone(s), o...)) }

// complement holds the characters up to last that s does not hold.
func (s set) complement(last rune) set {
	var out set
	next := rune(0)
	for _, x := range s {
		if x.from > next {
			out = append(out, span{next, min(x.from-1, last)})
		}
		next = x.to + 1
	}
	if next <= last {
		out = append(out, span{next, last})
	}
	return out
}

func (s set) intersect(o set) set {
	var out set
	for i, j := 0, 0; i < len(s) && j < len(o); {
		from, to := max(s[i].from, o[j].from), min(s[i].to, o[j].to)
		if from <= to {
			out = append(out, span{from, to})
		}
		if s[i].to < o[j].to {
			i++
		} else {
			j++
		}
	}
	return out
}

func (s set) without(o set) set { return s.intersect(o.complement(lastRune)) }

func (s set) has(r rune) bool {
	low, high := 0, len(s)
	for low < high {
		mid := (low + high) / 2
		switch {
		case r < s[mid].from:
			high = mid
		case r > s[mid].to:
			low = mid + 1
		default:
			return true
		}
	}
	return false
}

var (
	digits = set{{'0', '9'}}
	words  = set{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}
	spaces = set{
		{'\t', '\r'}, {' ', ' '}, {0xA0, 0xA0}, {0x1680, 0x1680}, {0x2000, 0x200A},
		{0x2028, 0x2029}, {0x202F, 0x202F}, {0x205F, 0x205F}, {0x3000, 0x3000}, {0xFEFF, 0xFEFF},
	}
	lineEnds = set{{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}}
)
