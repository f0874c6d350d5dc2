package queue

import (
	"context"
	"slices"
)

// confirm tries each refused patch once more, on all landed patches. Its two failures can
// both be flakes: with two flakes in a hundred trials, about ten of 1,000 landings of 100
// patches would refuse a good patch. A patch that passes there lands. Grown is set if a
// patch landed.
func (q *queue) confirm(ctx context.Context) (grown bool, err error) {
	var open []Refusal
	for _, r := range q.refused {
		if len(r.Failed) < runsToRefuse {
			open = append(open, r)
		}
	}
	for len(open) > 0 {
		batch := open[:min(q.slots, len(open))]
		open = slices.Clone(open[len(batch):])
		trials := make([]Trial, len(batch))
		for i, r := range batch {
			if trials[i], err = q.confirming(ctx, r); err != nil {
				return grown, err
			}
		}
		verdicts, err := q.verify(ctx, trials)
		if err != nil {
			return grown, err
		}
		tip := len(q.tip)
		for i, r := range batch {
			switch onTip := len(trials[i].Set) == tip+1; {
			case !verdicts[i].Passed:
				q.confirmed(r, trials[i])
			case onTip && len(q.tip) == tip:
				q.acquit(r)
				q.advance(trials[i].Set)
				grown = true
			case onTip: // the tip has just grown
				open = append(open, r)
			default:
				q.acquit(r)
				q.pending = append(q.pending, q.members[r.ID]) // it does not merge
			}
		}
		if err := q.report(ctx); err != nil {
			return grown, err
		}
	}
	return grown, nil
}

// runsToRefuse is how many failed trials a refusal has in the end.
const runsToRefuse = 3

// confirmed adds a third failed trial to a refusal.
func (q *queue) confirmed(r Refusal, t Trial) {
	for i := range q.refused {
		if q.refused[i].ID == r.ID {
			q.refused[i].Failed = append(slices.Clone(r.Failed), t)
		}
	}
}

// acquit takes a refusal back.
func (q *queue) acquit(r Refusal) {
	q.refused = slices.DeleteFunc(q.refused, func(o Refusal) bool { return o.ID == r.ID })
}

// confirming is the third trial of a refused patch: on the tip, or where it does not merge
// there, on the set of its two failures.
func (q *queue) confirming(ctx context.Context, r Refusal) (Trial, error) {
	set := append(slices.Clone(q.tip), r.ID)
	fit, err := q.gate.Fit(ctx, set)
	switch {
	case err != nil:
		return Trial{}, err
	case len(fit) < len(set):
		return Trial{Set: r.Failed[0].Set, Run: runsToRefuse, Confirms: true}, nil
	case key(set) == key(r.Failed[0].Set):
		return Trial{Set: set, Run: runsToRefuse, Confirms: true}, nil
	}
	return Trial{Set: set, Run: 1, Confirms: true}, nil
}
