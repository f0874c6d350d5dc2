package fanout

import (
	"fmt"

	"agentswarm/swarm/scope"
)

// OverlapMode is the treatment of two tasks that may change the same file. The
// zero value refuses them, and is no word that can be given.
type OverlapMode uint8

// The modes.
const (
	OverlapUnset     OverlapMode = iota
	OverlapWarn                  // it is said, and nothing else
	OverlapSerialize             // the later task waits for the earlier
	OverlapRefuse                // nothing starts
)

// overlapWords are the words for the modes, in their order.
func overlapWords() []string { return []string{"unset", "warn", "serialize", "refuse"} }

// String is the word for the mode.
func (m OverlapMode) String() string {
	if words := overlapWords(); int(m) < len(words) {
		return words[m]
	}
	return "unset"
}

// MarshalText is String.
func (m OverlapMode) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText is the reverse of String; it accepts no unset mode.
func (m *OverlapMode) UnmarshalText(text []byte) error {
	words := overlapWords()
	for i := 1; i < len(words); i++ {
		if string(text) == words[i] {
			*m = OverlapMode(i)
			return nil
		}
	}
	return fmt.Errorf("%s is not one of warn, serialize, refuse%s", quoted(string(text)), didYouMean(string(text), words[1:]))
}

// Overlap is two tasks whose paths have a file in common, and neither of which
// waits for the other.
type Overlap struct {
	// A and B are their positions in Tasks; A is called first.
	A, B   int
	Lines  [2]int    // of A and B
	Labels [2]string // of A and B; empty for none
	// Example is a path that both may change; empty where none was found in
	// due time.
	Example string
}

// MaxOverlaps bounds the overlaps that are looked for: with so many the paths
// are of no use.
const MaxOverlaps = 1_000_000

// Overlaps lists the tasks whose paths overlap, in the order of calls, and at
// most [MaxOverlaps]. A task that depends on another, if by others, starts
// from its patch: those do not count. Nor do tasks without paths.
func (w Workflow) Overlaps() []Overlap {
	all, _ := w.overlaps()
	return all
}

// overlaps also says whether those are all.
func (w Workflow) overlaps() (all []Overlap, whole bool) {
	order, cycle := ordered(w.Tasks)
	if cycle != nil {
		return nil, true // Calls refuses it
	}
	sets := make([][]string, len(order))
	for at, i := range order {
		sets[at] = w.Tasks[i].Paths
	}
	labels := w.labels()
	above := &ancestors{needs: dependencies(w.Tasks), seen: make([]int, len(w.Tasks))}
	byLater := make([][]scope.Pair, len(order))
	found := scope.Pairs(sets, MaxOverlaps)
	for _, p := range found {
		byLater[p.B] = append(byLater[p.B], p)
	}
	for later, pairs := range byLater {
		if len(pairs) == 0 {
			continue
		}
		b := order[later]
		above.mark(b)
		for _, p := range pairs {
			a := order[p.A]
			if above.has(a) {
				continue
			}
			all = append(all, Overlap{
				A: a, B: b, Example: p.Example,
				Lines:  [2]int{w.Tasks[a].Line, w.Tasks[b].Line},
				Labels: [2]string{labels[a], labels[b]},
			})
		}
	}
	return all, len(found) < MaxOverlaps
}

// ancestors are the dependencies of a task, direct and indirect.
type ancestors struct {
	needs [][]int
	seen  []int // the last round that marked a task, from 1
	round int
}

// mark finds those of a task.
func (s *ancestors) mark(of int) {
	s.round++
	open := []int{of}
	for len(open) > 0 {
		i := open[len(open)-1]
		open = open[:len(open)-1]
		for _, j := range s.needs[i] {
			if s.seen[j] != s.round {
				s.seen[j] = s.round
				open = append(open, j)
			}
		}
	}
}

func (s *ancestors) has(i int) bool { return s.seen[i] == s.round }

// refusal is the error for overlaps that are not allowed.
func (w Workflow) refusal(found []Overlap) error {
	o := found[0]
	what := "the same file"
	if o.Example != "" {
		what = quoted(o.Example)
	}
	more := ""
	if n := len(found) - 1; n > 0 {
		more = fmt.Sprintf(" (and %d more such pairs)", n)
	}
	return &TaskError{
		Source: w.Source, Line: o.Lines[1], Field: "paths",
		Reason: fmt.Sprintf("overlap with those of line %d: both may change %s%s", o.Lines[0], what, more),
		Tip:    "let one depend on the other, or say --overlap serialize or --overlap warn",
	}
}
