package queue

import (
	"cmp"
	"context"
	"slices"
)

// remember takes over the sets whose verdicts the gate knows.
func (q *queue) remember(all []Tried) {
	q.known = map[string]bool{}
	for _, t := range all {
		q.known[key(t.Set)] = true
		if t.Passed || len(t.Set) == 1 {
			q.tried = append(q.tried, t)
		}
	}
	slices.SortStableFunc(q.tried, func(a, b Tried) int {
		switch {
		case a.Passed == b.Passed:
			return cmp.Compare(len(b.Set), len(a.Set))
		case a.Passed:
			return -1
		}
		return 1
	})
}

// repeat returns at most n trials of disjoint groups whose verdicts the gate knows.
func (l *level) repeat(ctx context.Context, n int) ([]test, error) {
	var tests []test
	for len(l.again) > 0 && len(tests) < n {
		group := l.adds(l.again[0].Set)
		l.again = l.again[1:]
		if len(group) == 0 {
			continue
		}
		fit, err := l.onto(ctx, l.base, group)
		if err != nil {
			return nil, err
		}
		if len(fit) < len(group) {
			continue // it is another tree now
		}
		for _, m := range group {
			l.pool = without(l.pool, m)
		}
		tests = append(tests, l.grouped(group, grouping{verify: true}))
	}
	return tests, nil
}

// adds returns the patches that a set adds to the base, in the order in which they are
// to land. It returns none if the set lacks a patch of the base, or if a patch is not in
// the pool.
func (l *level) adds(set []string) []*member {
	var group []*member
	for _, id := range set {
		at := slices.IndexFunc(l.pool, func(m *member) bool { return m.ID == id })
		switch {
		case at >= 0:
			group = append(group, l.pool[at])
		case !slices.Contains(l.base, id):
			return nil
		}
	}
	if len(set)-len(group) < len(l.base) {
		return nil
	}
	return inOrder(group)
}

// repeat returns at most n trials of prefixes whose verdicts the gate knows, between the
// longest prefix that passed and the shortest that failed.
func (j *join) repeat(l *level, n int) []test {
	var tests []test
	for cut := j.low + 1; len(l.known) > 0 && cut < j.high && len(tests) < n; cut++ {
		if l.known[key(j.set(cut))] {
			tests = append(tests, l.prefix(cut))
		}
	}
	return tests
}
