package scope

import (
	"cmp"
	"slices"
	"strings"
)

// The work of looking for a common path, in comparisons of parts or letters.
const (
	maxWork  = 1 << 18 // of two globs: some milliseconds
	maxTotal = 1 << 28 // of all of them: some seconds
)

// Overlap reports whether a path can be in the scope of both, and such a path.
// It looks at the patterns, not at existing files. If the answer would take too
// long, or a pattern is not valid, it is true without a path.
func Overlap(a, b []string) (example string, overlaps bool) {
	found := Pairs([][]string{a, b}, 1)
	if len(found) == 0 {
		return "", false
	}
	return found[0].Example, true
}

// Pair is two sets of patterns that overlap, by their positions in a list.
type Pair struct {
	A, B    int    // A < B
	Example string // a path that both match; empty where none was looked for long enough
}

// Pairs lists the overlapping pairs of many sets of patterns, by A, then by B,
// up to the limit. Sets without patterns are left out: without limits they say
// nothing about the paths that they touch. A pair that takes too long counts as
// an overlap, as in [Overlap].
func Pairs(sets [][]string, limit int) []Pair {
	t := newTable(sets)
	var found []Pair
	seen := map[[2]int]bool{}
	total := maxTotal
	for _, e := range t.entries {
		for _, other := range t.near(e) {
			pair := [2]int{min(e.set, other.set), max(e.set, other.set)}
			if pair[0] == pair[1] || seen[pair] {
				continue
			}
			most := min(maxWork, total)
			search := &search{left: most}
			example, overlaps := search.common(e.glob, other.glob)
			total -= most - search.left
			if overlaps {
				if e.unknown || other.unknown {
					example = ""
				}
				seen[pair] = true
				found = append(found, Pair{A: pair[0], B: pair[1], Example: example})
				if len(found) == limit {
					return sorted(found)
				}
			}
		}
	}
	return sorted(found)
}

func sorted(pairs []Pair) []Pair {
	slices.SortFunc(pairs, func(a, b Pair) int {
		return cmp.Or(cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B))
	})
	return pairs
}

// table finds the globs that could have a path in common with a glob, by the
// folder that contains all their paths: either folder contains the other.
type table struct {
	entries  []entry
	byFolder map[string][]entry
}

type entry struct {
	set     int
	glob    glob
	unknown bool // the pattern is not valid; it could be anything
}

func newTable(sets [][]string) *table {
	t := &table{byFolder: map[string][]entry{}}
	for i, patterns := range sets {
		globs, err := compileAll(patterns)
		if err != nil {
			t.add(entry{set: i, glob: glob{{any: true}}, unknown: true})
		}
		for _, g := range globs {
			t.add(entry{set: i, glob: g})
		}
	}
	return t
}

func (t *table) add(e entry) {
	folder := strings.Join(e.glob.folder(), "/")
	t.entries = append(t.entries, e)
	t.byFolder[folder] = append(t.byFolder[folder], e)
}

// folder is the plain parts that a glob begins with.
func (g glob) folder() []string {
	var parts []string
	for _, s := range g {
		if !s.plain {
			break
		}
		parts = append(parts, s.text)
	}
	return parts
}

// near lists the globs whose folder is or holds that of e. Where it is the
// other way around, e is near to the other.
func (t *table) near(e entry) []entry {
	parts := e.glob.folder()
	var all []entry
	for n := range len(parts) {
		all = append(all, t.byFolder[strings.Join(parts[:n], "/")]...)
	}
	for _, other := range t.byFolder[strings.Join(parts, "/")] {
		if other.set > e.set { // else it finds this set
			all = append(all, other)
		}
	}
	return all
}

// search looks for a path that two globs match.
type search struct{ left int }

// spend uses up a part of the allowed work; it is false if nothing is left.
func (s *search) spend(n int) bool {
	s.left -= n
	return s.left >= 0
}

// room is a note for every pair of positions; nil where they are too many.
func (s *search) room(a, b int) []bool {
	n := (a + 1) * (b + 1)
	if !s.spend(n) {
		return nil
	}
	return make([]bool, n)
}

// common is a path that both globs match. Where the search was given up, it
// is empty.
func (s *search) common(a, b glob) (string, bool) {
	if s.differ(a, b) {
		return "", false
	}
	w := &pathWalk{search: s, a: a, b: b, seen: s.room(len(a), len(b))}
	ok := w.seen != nil && w.from(0, 0)
	if s.left < 0 {
		return "", true
	}
	slices.Reverse(w.parts)
	return strings.Join(w.parts, "/"), ok
}

// differ finds quickly most of those globs whose paths end differently.
func (s *search) differ(a, b glob) bool {
	x, y := a[len(a)-1], b[len(b)-1]
	if x.any || y.any {
		return false
	}
	for i := 1; i <= min(len(x.tokens), len(y.tokens)); i++ {
		t, u := x.tokens[len(x.tokens)-i], y.tokens[len(y.tokens)-i]
		if t.star || u.star || !s.spend(len(t.set)*len(u.set)) {
			return false
		}
		if !meet(t.set, u.set) {
			return true
		}
	}
	return false
}

// pathWalk goes through two globs at once, a part of a path at a time.
type pathWalk struct {
	*search
	a, b  glob
	seen  []bool
	parts []string // of the path that was found, the last first
}

// from reports whether a path leads from these positions to both ends.
func (w *pathWalk) from(i, j int) bool {
	if i == len(w.a) && j == len(w.b) {
		return true
	}
	at := i*(len(w.b)+1) + j
	if w.seen[at] || !w.spend(1) {
		return false
	}
	w.seen[at] = true
	// A path has at least a part: `**` and `**` share "x", not "".
	first := i == 0 && j == 0
	anyA, anyB := i < len(w.a) && w.a[i].any, j < len(w.b) && w.b[j].any
	switch {
	case first && anyA && anyB && len(w.a) == 1 && len(w.b) == 1:
		w.parts = append(w.parts, "x")
		return true
	case anyA && w.from(i+1, j), anyB && w.from(i, j+1):
		return true
	case i == len(w.a) || j == len(w.b) || anyA && anyB:
		return false
	}
	part, ok := w.part(w.a[i], w.b[j])
	if !ok {
		return false
	}
	if !anyA {
		i++
	}
	if !anyB {
		j++
	}
	if !w.from(i, j) {
		return false
	}
	w.parts = append(w.parts, part)
	return true
}

// part is a part of a path that both segments match; not both are `**`.
func (w *pathWalk) part(a, b segment) (string, bool) {
	switch {
	case a.any:
		a = b
	case b.any:
		b = a
	}
	if a.plain && b.plain {
		return a.text, a.text == b.text
	}
	if !w.spend(len(a.tokens) + len(b.tokens)) {
		return "", false
	}
	// `*.go` reads better with a name before the dot, and no name is empty.
	if text, ok := w.word(a.filled, b.filled); ok {
		return text, true
	}
	return w.word(a.tokens, b.tokens)
}

// word is the text that two lists of tokens match.
func (w *pathWalk) word(a, b []token) (string, bool) {
	l := &wordWalk{search: w.search, a: a, b: b, seen: w.room(len(a), len(b))}
	ok := l.seen != nil && l.from(0, 0)
	slices.Reverse(l.letters)
	var text []byte
	for _, r := range l.letters {
		text = appendLetter(text, r)
	}
	return string(text), ok
}

// wordWalk goes through two lists of tokens at once, a letter at a time.
type wordWalk struct {
	*search
	a, b    []token
	seen    []bool
	letters []rune // of the word that was found, the last first
}

// from reports whether letters lead from these positions to both ends.
func (w *wordWalk) from(i, j int) bool {
	if i == len(w.a) && j == len(w.b) {
		return true
	}
	at := i*(len(w.b)+1) + j
	if w.seen[at] || !w.spend(1) {
		return false
	}
	w.seen[at] = true
	starA, starB := i < len(w.a) && w.a[i].star, j < len(w.b) && w.b[j].star
	switch {
	case starA && w.from(i+1, j), starB && w.from(i, j+1):
		return true
	case i == len(w.a) || j == len(w.b) || starA && starB:
		return false
	}
	set := w.b[j].set
	switch {
	case starB:
		set = w.a[i].set
	case !starA:
		if !w.spend(len(w.a[i].set) * len(set)) {
			return false
		}
		set = common(w.a[i].set, set)
	}
	if len(set) == 0 {
		return false
	}
	if !starA {
		i++
	}
	if !starB {
		j++
	}
	if !w.from(i, j) {
		return false
	}
	w.letters = append(w.letters, sample(set))
	return true
}
