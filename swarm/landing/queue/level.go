package queue

import (
	"context"
	"slices"
)

// level finds which patches of a list pass on a tip, and joins those that do.
// Groups are disjoint and all on the same tip, until the join.
type level struct {
	*queue
	base []string // the tip that the groups are tried on

	pool []*member // not in a group that failed, as far as is known
	red  []broken  // groups that failed and are to be split
	lone []*member // failed the screen alone, and are to be verified alone
	once []*member // failed alone on the base, once
	ok   []*member // passed in a group, and are to join
	join *join     // nil: not begun

	again []Tried // sets that are still to be tried again

	families []*family // groups that are being split in this round
}

// family is a group that failed, in the round in which its parts are tried.
type family struct {
	left   []*member // parts that had no slot
	failed bool      // a part that was tried has failed
}

// broken is a group that failed.
type broken struct {
	list []*member
	hung bool // a patch of it may hang: each is tried alone, so that the others do not wait
}

// test is a trial and its use.
type test struct {
	Trial
	done func(Verdict)
}

// run tries until all patches of the level have joined or were refused. Those
// that do not merge without others stay pending.
func (l *level) run(ctx context.Context) error {
	for {
		tests, err := l.plan(ctx)
		if err != nil || len(tests) == 0 {
			return err
		}
		trials := make([]Trial, len(tests))
		for i, t := range tests {
			trials[i] = t.Trial
		}
		verdicts, err := l.verify(ctx, trials)
		if err != nil || l.branchFails() {
			return err
		}
		for i, t := range tests {
			t.done(verdicts[i])
		}
		if l.stale {
			return nil
		}
		if err := l.report(ctx); err != nil {
			return err
		}
		l.reunite()
	}
}

// plan chooses the trials of the next round, at most as many as slots.
func (l *level) plan(ctx context.Context) ([]test, error) {
	var tests []test
	if !l.sure {
		tests = append(tests, test{Trial{Run: 1 + len(l.branch)}, func(Verdict) {}})
	} else {
		l.suspect()
	}
	again, err := l.repeat(ctx, l.slots-len(tests))
	if tests = append(tests, again...); err != nil || len(again) > 0 {
		return tests, err
	}
	if t, wanted := l.screenBranch(); wanted && len(tests) < l.slots {
		tests = append(tests, t)
	}
	// The second run of a patch that hung decides about it, so nothing else runs then.
	if hung := slices.IndexFunc(l.once, func(m *member) bool { return m.hung }); hung >= 0 && l.sure {
		m := l.once[hung]
		l.once = slices.Delete(l.once, hung, hung+1)
		return []test{l.second(m)}, nil
	}
	for len(l.once) > 0 && len(tests) < l.slots {
		m := l.once[0]
		l.once = l.once[1:]
		tests = append(tests, l.second(m))
	}
	screened := len(l.pool)+len(l.red)+len(l.lone) == 0
	for len(l.lone) > 0 && len(tests) < l.slots {
		m := l.lone[0]
		l.lone = l.lone[1:]
		tests = append(tests, l.grouped([]*member{m}, grouping{verify: true}))
	}
	var more []test
	switch free := l.slots - len(tests); {
	case free == 0:
	case screened:
		more, err = l.joining(ctx, free)
	default:
		more, err = l.screen(ctx, free)
	}
	tests = append(tests, more...)
	if err == nil && len(tests) == 0 && len(l.pool)+len(l.red)+len(l.lone)+len(l.ok) > 0 {
		return l.plan(ctx) // groups shrank: some patches do not merge on their own
	}
	return tests, err
}

// screenBranch is a trial of the screen on the branch itself. A screen that fails there
// twice sorts nothing.
func (l *level) screenBranch() (t test, wanted bool) {
	if !l.screens || l.screenRuns < 0 || len(l.pool)+len(l.red) == 0 {
		return test{}, false
	}
	return test{Trial{Run: 1 + l.screenRuns, Screen: true}, func(v Verdict) {
		if l.screenRuns++; v.Passed {
			l.screenRuns = -1
		} else if l.screenRuns == 2 {
			l.screens = false
		}
	}}, true
}

// second is the second run of a patch that failed alone.
func (l *level) second(m *member) test {
	t := Trial{Set: slices.Concat(l.base, []string{m.ID}), Run: 2}
	return test{t, func(v Verdict) {
		if v.Passed {
			m.passed = true
			l.ok = append(l.ok, m)
			return
		}
		l.refuse(m, l.base, t.Set)
	}}
}

// refuse leaves a patch out that failed twice in this set. The set without it has
// to have passed in this landing: otherwise the machine may be at fault, and the
// landing begins again without earlier verdicts.
func (q *queue) refuse(m *member, on, set []string) {
	if !q.fresh && q.verdicts[key(on)].Earlier {
		q.stale = true
		return
	}
	kind := Interaction
	if len(on) == 0 {
		kind = Failed
	}
	q.refused = append(q.refused, Refusal{
		ID: m.ID, Kind: kind, On: slices.Clone(on), Failed: []Trial{{Set: set, Run: 1}, {Set: set, Run: 2}},
	})
	q.settle(m.ID)
}

// screen splits groups that failed, and makes new groups for the slots that are
// left.
func (l *level) screen(ctx context.Context, free int) ([]test, error) {
	var tests []test
	add := func(group []*member, f *family) error {
		fit, err := l.onto(ctx, l.base, inOrder(group))
		if err == nil && len(fit) > 0 {
			tests = append(tests, l.grouped(fit, grouping{family: f}))
		}
		return err
	}
	for len(l.red) > 0 && len(tests) < free {
		group := l.red[0].list
		if l.red[0].hung {
			one := l.byOdds(group)[len(group)-1]
			if l.red[0].list = without(group, one); len(group) == 1 {
				l.red = l.red[1:]
			}
			if err := add([]*member{one}, nil); err != nil {
				return nil, err
			}
			continue
		}
		share := (free - len(tests)) / len(l.red)
		l.red = l.red[1:]
		parts := l.split(group, min(len(group), max(2, share)))
		f := &family{}
		l.families = append(l.families, f)
		for _, part := range parts {
			if len(tests) == free {
				f.left = append(f.left, part...)
				continue
			}
			if err := add(part, f); err != nil {
				return nil, err
			}
		}
	}
	for _, group := range l.groups(free - len(tests)) {
		if err := add(group, nil); err != nil {
			return nil, err
		}
	}
	return tests, nil
}

// groups takes at most n groups out of the pool. Likely bad patches are alone;
// the others leave them all slots except for the last.
func (l *level) groups(n int) [][]*member {
	var groups [][]*member
	sorted := l.byOdds(l.pool)
	for len(groups) < n && len(sorted) > 0 {
		last := sorted[len(sorted)-1]
		if l.odds(last) < 0.5 || n > 1 && len(groups) == n-1 && l.odds(sorted[0]) < 0.5 {
			break
		}
		groups, sorted = append(groups, []*member{last}), sorted[:len(sorted)-1]
	}
	for free := n - len(groups); free > 0 && len(sorted) > 0; free-- {
		size := l.fill(sorted, (len(sorted)+free-1)/free)
		groups, sorted = append(groups, sorted[:size]), sorted[size:]
	}
	l.pool = sorted
	return groups
}

// grouping says how a group is tried.
type grouping struct {
	family *family // whose part the group is; nil: of none
	verify bool    // by the check, also if there is a screen
}

// grouped is the trial of a group on the base.
func (l *level) grouped(group []*member, how grouping) test {
	t := Trial{Set: slices.Concat(l.base, ids(group)), Run: 1, Screen: l.screens && !how.verify}
	return test{t, func(v Verdict) {
		if how.family != nil && !v.Passed {
			how.family.failed = true
		}
		switch first := group[0]; {
		case v.Passed:
			l.ok = append(l.ok, group...)
			for _, m := range group {
				m.passed = m.passed || !t.Screen
			}
		case len(group) > 1:
			l.red = append(l.red, broken{group, v.Hung})
			return
		case t.Screen:
			l.lone = append(l.lone, first)
		default:
			first.hung = v.Hung
			l.once = append(l.once, first)
		}
		for _, m := range group {
			l.learn(m, v.Passed)
		}
	}}
}

// without returns a list that lacks a patch of it.
func without(list []*member, m *member) []*member {
	return slices.DeleteFunc(slices.Clone(list), func(o *member) bool { return o == m })
}

// reunite puts back the parts of groups that had no slot. If the others have
// passed, the failure is probably in these: they are split without a trial of
// their own. That is a guess which only orders trials.
func (l *level) reunite() {
	for _, f := range l.families {
		switch {
		case len(f.left) == 0:
		case f.failed:
			l.pool = append(l.pool, f.left...)
		case len(f.left) == 1:
			f.left[0].named = true
			l.pool = append(l.pool, f.left[0])
		default:
			l.red = append(l.red, broken{list: f.left})
		}
	}
	l.families = nil
}
