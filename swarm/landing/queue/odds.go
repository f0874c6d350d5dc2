package queue

import (
	"cmp"
	"math"
	"slices"
)

// The probability that a patch fails the check, before anything is known of it.
const (
	DefaultOdds = 0.10
	// CheckedOdds is for a patch that passed its own check at its own base.
	CheckedOdds = 0.02
	// DoubtedOdds is for a patch that failed its own check and is to land all the
	// same.
	DoubtedOdds = 0.50
)

// How much a verdict changes the odds.
const (
	namedFactor   = 70  // a failed trial names the patch
	unnamedFactor = 0.3 // a failed trial names others
	priorWeight   = 4   // of DefaultOdds, in patches
)

// odds is the probability that a patch fails. The rate of those that turned out
// bad in this landing scales it. Patches that were named do not count for the
// rate: they say nothing of those that were not.
func (q *queue) odds(m *member) float64 {
	rate := (priorWeight*DefaultOdds + float64(q.bad)) / float64(priorWeight+q.good+q.bad)
	p := min(0.9, cmp.Or(m.Odds, DefaultOdds)*rate/DefaultOdds)
	switch ratio := p / (1 - p); {
	case m.named:
		ratio *= namedFactor
		return ratio / (1 + ratio)
	case m.unnamed:
		ratio *= unnamedFactor
		return ratio / (1 + ratio)
	}
	return p
}

// learn counts how a patch turned out.
func (q *queue) learn(m *member, passed bool) {
	switch {
	case m.named:
	case passed:
		q.good++
	default:
		q.bad++
	}
}

// byOdds returns the patches with the likely good ones first.
func (q *queue) byOdds(list []*member) []*member {
	sorted := slices.Clone(list)
	slices.SortStableFunc(sorted, func(a, b *member) int { return cmp.Compare(q.odds(a), q.odds(b)) })
	return sorted
}

// inOrder returns the patches in the order in which they are to land.
func inOrder(list []*member) []*member {
	sorted := slices.Clone(list)
	slices.SortFunc(sorted, func(a, b *member) int { return a.place - b.place })
	return sorted
}

// fill takes patches from the head of a list until the odds that all of them pass
// would fall below a half. It takes at least one, and at most limit.
func (q *queue) fill(list []*member, limit int) int {
	all := 1.0
	for n, m := range list {
		if all *= 1 - q.odds(m); n > 0 && (all < 0.5 || n == limit) {
			return n
		}
	}
	return len(list)
}

// split divides a group into n parts with equal odds to fail, as far as that is
// possible. No part is empty.
func (q *queue) split(group []*member, n int) [][]*member {
	sorted := q.byOdds(group)
	weight := func(m *member) float64 { return -math.Log(1 - min(0.99, q.odds(m))) }
	total := 0.0
	for _, m := range sorted {
		total += weight(m)
	}
	parts := make([][]*member, 0, n)
	sum, from := 0.0, 0
	for i, m := range sorted {
		sum += weight(m)
		left := n - len(parts) - 1 // parts that are still to follow this one
		full := sum >= total*float64(len(parts)+1)/float64(n)-1e-9
		if left > 0 && (full || len(sorted)-i-1 == left) {
			parts, from = append(parts, sorted[from:i+1]), i+1
		}
	}
	return append(parts, sorted[from:])
}

// suspect marks the patches that the outputs of failed trials name. A trial
// whose output names more than half of its patches tells nothing.
func (q *queue) suspect() {
	for _, t := range q.unread {
		tried := slices.DeleteFunc(slices.Clone(t.Set), func(id string) bool { return slices.Contains(q.tip, id) })
		if len(tried) < 2 {
			continue
		}
		named := slices.DeleteFunc(slices.Clone(tried), func(id string) bool {
			return !slices.Contains(q.gate.Suspects(t), id)
		})
		if len(named) == 0 || 2*len(named) > len(tried)+1 {
			continue
		}
		for _, id := range tried {
			m := q.members[id]
			m.named = m.named || slices.Contains(named, id)
			m.unnamed = !m.named
		}
	}
	q.unread = nil
}
