package review

import "strings"

// cutPairs bounds the pairs of lines that are compared to cut a run.
const cutPairs = 2500

// cut splits a run into pairs of a removed line and the most similar added
// line. The lines without a partner stay together. It returns nil if the run is
// a single edit in any case.
func cut(r *Run, language string) []*Run {
	if len(r.Removed) == 0 || len(r.Added) == 0 || len(r.Removed)+len(r.Added) == 2 || len(r.Removed)*len(r.Added) > cutPairs {
		return nil
	}
	removed, added := bags(r.Removed), bags(r.Added)
	taken := make([]bool, len(added))
	kept := make([]bool, len(removed))
	var parts []*Run
	next := 0 // added lines before it are behind an earlier pair
	for i, bag := range removed {
		anywhere := isImport(r.Removed[i], language)
		best, at := 0.5, -1
		for j := range added {
			if taken[j] || !anywhere && j < next || anywhere != isImport(r.Added[j], language) {
				continue
			}
			if like := likeness(bag, added[j]); like > best || like == best && at < 0 {
				best, at = like, j
			}
		}
		if at < 0 {
			continue
		}
		taken[at], kept[i] = true, true
		if !anywhere {
			next = at + 1
		}
		parts = append(parts, part(r, []int{i}, []int{at}))
	}
	if len(parts) == 0 {
		return nil
	}
	left, right := untaken(kept), untaken(taken)
	if len(left)+len(right) > 0 {
		parts = append(parts, part(r, left, right))
	}
	if len(parts) == 1 {
		return nil
	}
	return parts
}

func untaken(taken []bool) []int {
	var all []int
	for i, t := range taken {
		if !t {
			all = append(all, i)
		}
	}
	return all
}

// part is a run of some lines of a longer run.
func part(r *Run, removed, added []int) *Run {
	p := &Run{OldLine: r.OldLine, NewLine: r.NewLine, Before: r.Before, After: r.After, removedAt: removed, addedAt: added}
	if len(removed) > 0 {
		p.OldLine += removed[0]
		p.OldBare = r.OldBare && removed[len(removed)-1] == len(r.Removed)-1
	}
	if len(added) > 0 {
		p.NewLine += added[0]
		p.NewBare = r.NewBare && added[len(added)-1] == len(r.Added)-1
	}
	for _, i := range removed {
		p.Removed = append(p.Removed, r.Removed[i])
	}
	for _, j := range added {
		p.Added = append(p.Added, r.Added[j])
	}
	return p
}

// bag counts the tokens of a line.
type bag struct {
	count map[token]int
	size  int
}

func bags(lines []string) []bag {
	all := make([]bag, len(lines))
	for i, line := range lines {
		tokens := appendTokens(nil, line)
		all[i] = bag{count: make(map[token]int, len(tokens)), size: len(tokens)}
		for _, t := range tokens {
			all[i].count[t]++
		}
	}
	return all
}

// likeness is the share of tokens that two lines have in common, from 0 to 1.
func likeness(a, b bag) float64 {
	if a.size+b.size == 0 {
		return 1
	}
	common := 0
	for t, n := range a.count {
		common += min(n, b.count[t])
	}
	return 2 * float64(common) / float64(a.size+b.size)
}

// isImport reports whether a line only imports, so that its place among others
// has no meaning.
func isImport(line, language string) bool {
	line = strings.TrimSpace(line)
	if language == "go" { // `"path"` or `name "path"`
		name, _, quoted := strings.Cut(strings.TrimPrefix(line, "import "), `"`)
		return quoted && strings.HasSuffix(line, `"`) && strings.Count(line, `"`) == 2 && !strings.ContainsAny(strings.TrimSpace(name), " \t=(:,")
	}
	for _, start := range []string{"import ", "from ", "use ", "using ", "#include ", "require ", "require_once "} {
		if strings.HasPrefix(line, start) {
			return true
		}
	}
	return false
}
