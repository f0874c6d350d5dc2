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

	doubt *doubt // nil: none
}

// doubt is a patch that failed twice on those before it, and that only the screen has
// passed before. It is tried alone, which tells whether it fails on its own.
type doubt struct {
	*member
	on, set []string // as those of its refusal
	failed  int      // trials alone
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
	if j.doubt != nil {
		t, err := l.alone(ctx)
		if err != nil || t != nil {
			return t, err
		}
	}
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
	if tests := j.repeat(l, free); len(tests) > 0 {
		return tests, nil
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

// prefix tries the first n patches of the list together. If a longer prefix
// passes, the failure of a shorter prefix was a flake.
func (l *level) prefix(n int) test {
	j := l.join
	return test{Trial{Set: j.set(n), Run: 1}, func(v Verdict) {
		switch {
		case v.Passed && n > j.low:
			if j.high <= n {
				j.high = 0
			}
			l.grow(n)
		case !v.Passed && n > j.low && (j.high == 0 || n < j.high):
			j.high = n
		}
	}}
}

// grow notes that the first n patches of the list pass together. All of them end the
// join.
func (l *level) grow(n int) {
	j := l.join
	if j.low, l.green = n, j.set(n); n == len(j.list) {
		l.advance(l.green)
		l.join = nil
	}
}

// last is the second run of the patch that failed on those before it.
func (l *level) last() test {
	j := l.join
	m, on := j.list[j.low], j.set(j.low)
	t := Trial{Set: j.set(j.high), Run: 2}
	return test{t, func(v Verdict) {
		j.high = 0
		if v.Passed {
			l.grow(j.low + 1)
			return
		}
		j.list = without(j.list, m)
		if !m.passed && len(on) > len(l.base) {
			j.doubt = &doubt{member: m, on: on, set: t.Set}
			return
		}
		l.refuse(m, on, t.Set)
	}}
}

// alone is the trial of a doubtful patch alone on the base. It is none if the patch does
// not merge there: then it is refused on those before it.
func (l *level) alone(ctx context.Context) ([]test, error) {
	d := l.join.doubt
	fit, err := l.onto(ctx, l.base, []*member{d.member})
	if err != nil {
		return nil, err
	}
	if len(fit) == 0 {
		l.join.doubt = nil
		l.refuse(d.member, d.on, d.set)
		return nil, nil
	}
	t := Trial{Set: slices.Concat(l.base, []string{d.ID}), Run: 1 + d.failed}
	return []test{{t, func(v Verdict) {
		switch d.failed++; {
		case v.Passed:
			l.join.doubt = nil
			l.refuse(d.member, d.on, d.set)
		case d.failed == 2:
			l.join.doubt = nil
			l.refuse(d.member, l.base, t.Set)
		}
	}}}, nil
}
