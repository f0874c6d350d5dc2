package review

// Change is a part of an edit: words that are removed and the words that are
// there instead. Either may be empty.
type Change struct{ Removed, Added []string }

// span is a part of both sides: tokens from a0 to a1 of the old side against
// tokens from b0 to b1 of the new side.
type span struct{ a0, a1, b0, b1 int }

// alignCells bounds the table of an alignment. Sides that need more are taken
// as replaced where they differ.
const alignCells = 1 << 20

// script lists the changes between the sides, each once, in the order
// of their first place.
func script(a, b []token) []span {
	if len(a) == 0 || len(b) == 0 {
		return []span{{0, len(a), 0, len(b)}}
	}
	spans, common := align(a, b)
	if 3*2*common < len(a)+len(b) {
		return []span{{0, len(a), 0, len(b)}}
	}
	spans = joinNear(a, spans)
	for i := range spans {
		spans[i] = widen(a, b, trim(a, b, spans[i]))
	}
	return spans
}

// align finds the differences of two token lists and counts the tokens that
// they have in common.
func align(a, b []token) (spans []span, common int) {
	start := 0
	for start < len(a) && start < len(b) && a[start] == b[start] {
		start++
	}
	end := 0
	for end < len(a)-start && end < len(b)-start && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	common = start + end
	n, m := len(a)-start-end, len(b)-start-end
	if n == 0 || m == 0 || (n+1)*(m+1) > alignCells {
		if n+m > 0 {
			spans = []span{{start, start + n, start, start + m}}
		}
		return spans, common
	}
	middle, equal := alignMiddle(a[start:start+n], b[start:start+m])
	for i := range middle {
		s := &middle[i]
		s.a0, s.a1, s.b0, s.b1 = s.a0+start, s.a1+start, s.b0+start, s.b1+start
	}
	return middle, common + equal
}

// alignMiddle aligns by the longest common subsequence. Where several exist it
// keeps the earliest tokens of the old side.
func alignMiddle(a, b []token) (spans []span, common int) {
	width := len(b) + 1
	best := make([]int32, (len(a)+1)*width) // of the tokens from i and j on
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				best[i*width+j] = best[(i+1)*width+j+1] + 1
			} else {
				best[i*width+j] = max(best[(i+1)*width+j], best[i*width+j+1])
			}
		}
	}
	open := span{}
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i] == b[j]:
			if open.a0 < i || open.b0 < j {
				spans = append(spans, span{open.a0, i, open.b0, j})
			}
			i, j = i+1, j+1
			open.a0, open.b0 = i, j
		case best[(i+1)*width+j] >= best[i*width+j+1]:
			i++
		default:
			j++
		}
	}
	if open.a0 < len(a) || open.b0 < len(b) {
		spans = append(spans, span{open.a0, len(a), open.b0, len(b)})
	}
	return spans, int(best[0])
}

// nearMarks is the most punctuation between two changes that are joined.
const nearMarks = 2

// joinNear joins changes that only little punctuation separates.
func joinNear(a []token, spans []span) []span {
	joined := spans[:0]
	for _, s := range spans {
		if n := len(joined); n > 0 && onlyMarks(a[joined[n-1].a1:s.a0]) {
			joined[n-1].a1, joined[n-1].b1 = s.a1, s.b1
			continue
		}
		joined = append(joined, s)
	}
	return joined
}

func onlyMarks(between []token) bool {
	for _, t := range between {
		if t.sort != mark {
			return false
		}
	}
	return len(between) <= nearMarks
}

// trim drops equal tokens at the ends of a change.
func trim(a, b []token, s span) span {
	for s.a0 < s.a1 && s.b0 < s.b1 && a[s.a0] == b[s.b0] {
		s.a0, s.b0 = s.a0+1, s.b0+1
	}
	for s.a0 < s.a1 && s.b0 < s.b1 && a[s.a1-1] == b[s.b1-1] {
		s.a1, s.b1 = s.a1-1, s.b1-1
	}
	return s
}

// widen extends a replacement over its dotted name, and an insertion or removal
// by the mark on each side.
func widen(a, b []token, s span) span {
	if s.a0 == s.a1 || s.b0 == s.b1 {
		if s.a0 > 0 && s.b0 > 0 && a[s.a0-1].sort == mark && a[s.a0-1] == b[s.b0-1] {
			s.a0, s.b0 = s.a0-1, s.b0-1
		}
		if s.a1 < len(a) && s.b1 < len(b) && a[s.a1].sort == mark && a[s.a1] == b[s.b1] {
			s.a1, s.b1 = s.a1+1, s.b1+1
		}
		return s
	}
	same := func(i, j int) bool { return i >= 0 && j >= 0 && i < len(a) && j < len(b) && a[i] == b[j] }
	dot := func(i int) bool { return a[i].sort == mark && a[i].text == "." }
	for a[s.a0].sort == word && b[s.b0].sort == word && same(s.a0-1, s.b0-1) && dot(s.a0-1) &&
		same(s.a0-2, s.b0-2) && a[s.a0-2].sort == word {
		s.a0, s.b0 = s.a0-2, s.b0-2
	}
	for a[s.a1-1].sort == word && b[s.b1-1].sort == word && same(s.a1, s.b1) && dot(s.a1) &&
		same(s.a1+1, s.b1+1) && a[s.a1+1].sort == word {
		s.a1, s.b1 = s.a1+2, s.b1+2
	}
	return s
}

// changes are the spans as text.
func changes(a, b []token, spans []span) []Change {
	var all []Change
	seen := map[string]bool{}
	for _, s := range spans {
		c := Change{Removed: texts(a[s.a0:s.a1]), Added: texts(b[s.b0:s.b1])}
		if key := string(appendChange(nil, a[s.a0:s.a1], b[s.b0:s.b1])); !seen[key] {
			seen[key] = true
			all = append(all, c)
		}
	}
	return all
}

func texts(tokens []token) []string {
	all := make([]string, 0, len(tokens))
	for _, t := range tokens {
		if t.sort != lineEnd && t.sort != indent {
			all = append(all, t.text)
		}
	}
	return all
}
