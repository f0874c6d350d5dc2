package queue

import (
	"context"
	"slices"
)

// join merges patches that have passed in groups, in the order in which they are
// to land. If they fail together, it searches the first patch that fails on
// those before it.
type join struct {
	on   []string  // the tip that they join
	list []*member // in order
	low  int       // so many of the list pass together
	high int       // so many fail together; 0: not known yet
}

// joining chooses trials of the join.
func (l *level) joining(ctx context.Context, free int) ([]test, error) {
	if l.join == nil {
		if len(l.ok) == 0 {
			return nil, nil
		}
		l.join = &join{on: slices.Clone(l.tip), list: inOrder(l.ok)}
		l.ok = nil
	}
	j := l.join
	if j.high == 0 {
		// The list has to merge at the start, and again after a refusal.
		fit, err := l.onto(ctx, j.on, j.list)
		if err != nil {
			return nil, err
		}
		if j.list = fit; len(fit) <= j.low {
			l.advance(j.set(j.low))
			l.join = nil
			return l.joining(ctx, free)
		}
		return []test{l.prefix(len(j.list))}, nil
	}
	if j.high == j.low+1 {
		return []test{l.last()}, nil
	}
	span := j.high - j.low
	cuts := min(free, span-1)
	var tests []test
	for i := range cuts {
		tests = append(tests, l.prefix(j.low+(span*(i+1))/(cuts+1)))
	}
	return tests, nil
}

// set is the tip with the first n patches of the list.
func (j *join) set(n int) []string { return slices.Concat(j.on, ids(j.list[:n])) }

// prefix tries the first n patches of the list together. A longer prefix that
// passes shows that the failure of a shorter one was a flake.
func (l *level) prefix(n int) test {
	j := l.join
	return test{Trial{Set: j.set(n), Run: 1}, func(passed bool) {
		switch {
		case passed && n > j.low:
			if j.low = n; j.high <= n {
				j.high = 0
			}
		case !passed && n > j.low && (j.high == 0 || n < j.high):
			j.high = n
		}
		if j.low == len(j.list) {
			l.advance(j.set(j.low))
			l.join = nil
		}
	}}
}

// last is the second run of the patch that failed on those before it.
func (l *level) last() test {
	j := l.join
	m, on := j.list[j.low], j.set(j.low)
	t := Trial{Set: j.set(j.high), Run: 2}
	return test{t, func(passed bool) {
		j.high = 0
		if passed {
			j.low++
			if j.low == len(j.list) {
				l.advance(j.set(j.low))
				l.join = nil
			}
			return
		}
		l.refuse(m, on, t.Set)
		j.list = slices.Delete(slices.Clone(j.list), j.low, j.low+1)
	}}
}
