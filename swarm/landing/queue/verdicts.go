package queue

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// verify runs trials as a round. A first run of a set that is known is not made
// again. The branch itself always needs a verdict of this landing: all refusals
// begin with it.
func (q *queue) verify(ctx context.Context, trials []Trial) ([]Verdict, error) {
	out := make([]Verdict, len(trials))
	var fresh []Trial
	var at []int
	for i, t := range trials {
		known, ok := q.verdicts[t.key()]
		if ok && t.Run == 1 && (known.Passed || !known.Ahead || !t.Confirms) {
			out[i] = known
			continue
		}
		t.Fresh = q.fresh || len(t.Set) == 0 && !t.Screen
		fresh, at = append(fresh, t), append(at, i)
	}
	if len(fresh) == 0 {
		return out, nil
	}
	verdicts, err := q.gate.Verify(ctx, fresh)
	if err != nil {
		return nil, err
	}
	if len(verdicts) != len(fresh) {
		return nil, fmt.Errorf("landing queue: %d verdicts of %d trials", len(verdicts), len(fresh))
	}
	q.trials += len(fresh)
	q.rounds++
	if q.resize != nil {
		q.slots = max(1, q.resize())
	}
	for i, v := range verdicts {
		q.note(fresh[i], v)
		out[at[i]] = v
	}
	return out, nil
}

// note keeps a verdict.
func (q *queue) note(t Trial, v Verdict) {
	if k := t.key(); !q.verdicts[k].Passed {
		q.verdicts[k] = v
	}
	if !v.Passed {
		q.unread = append(q.unread, t)
	}
	if t.Screen {
		return
	}
	if !v.Passed {
		q.failures = append(q.failures, t)
	}
	if len(t.Set) > 0 {
		return
	}
	if q.sure = q.sure || v.Passed; !q.sure {
		q.branch = append(q.branch, t)
	}
}

// key is the same for all trials of a set by the same check.
func (t Trial) key() string {
	if t.Screen {
		return "screen\x00" + key(t.Set)
	}
	return key(t.Set)
}

// key is the same for all orders of a set.
func key(set []string) string {
	sorted := slices.Clone(set)
	slices.Sort(sorted)
	return strings.Join(sorted, "\x00")
}
