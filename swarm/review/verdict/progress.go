package verdict

import (
	"maps"
	"math"
	"slices"
	"time"

	"agentswarm/swarm/review"
	"agentswarm/swarm/task"
)

// Progress is how far a review has come.
type Progress struct {
	Classes, ClassesDone int
	Edits, EditsDone     int
	Patches, PatchesDone int
	LinesLeft            int
	// MinutesLeft is an estimate from the reader's pace in this run; before that is
	// known, from 400 lines an hour. It is 0 where no line is left.
	MinutesLeft int
}

const (
	usualPace = 400.0 // lines an hour
	leastPace = 60.0
	mostPace  = 6000.0
	// pauseAfter is the time between two verdicts from which the reader was away.
	pauseAfter = 10 * time.Minute
	// paceLines is the number of lines from which the reader's own pace counts.
	paceLines = 20
)

// Progress counts the classes, edits and patches of which each edit has a
// verdict.
func (r *Review) Progress() Progress {
	p := Progress{Classes: len(r.Classes), Edits: r.Edits, Patches: len(r.works), LinesLeft: r.LinesLeft()}
	open := func(e *review.Edit) bool { return r.Verdict(e) == "" }
	for _, c := range r.Classes {
		left := 0
		for _, e := range c.Members {
			if open(e) {
				left++
			}
		}
		p.EditsDone += len(c.Members) - left
		if left == 0 {
			p.ClassesDone++
		}
	}
	for id := range r.works {
		if !slices.ContainsFunc(r.edits[id], open) {
			p.PatchesDone++
		}
	}
	p.MinutesLeft = int(math.Ceil(float64(p.LinesLeft) / r.pace() * 60))
	return p
}

// pace is the speed of the reader in lines an hour: the lines of the classes that
// were decided, by the time since the verdict before.
func (r *Review) pace() float64 {
	classOf := map[review.Fingerprint]*review.Class{}
	for _, c := range r.Classes {
		classOf[c.Exact] = c
	}
	made := map[time.Time]map[*review.Class]bool{}
	for id, w := range r.works {
		has := map[task.EditKey]bool{}
		for _, e := range r.edits[id] {
			has[e.Key()] = true
		}
		for _, m := range w.Made {
			at := m.Time.Truncate(time.Second) // the records of a single command
			if made[at] == nil {
				made[at] = map[*review.Class]bool{}
			}
			for _, key := range m.Edits {
				if c := classOf[review.Fingerprint(key.Exact)]; c != nil && has[key] {
					made[at][c] = true
				}
			}
		}
	}
	read := map[*review.Class]bool{}
	lines, took, last := 0, time.Duration(0), time.Time{}
	for _, at := range slices.SortedFunc(maps.Keys(made), time.Time.Compare) {
		gap := at.Sub(last)
		counts := !last.IsZero() && gap <= pauseAfter
		last = at
		for c := range made[at] {
			if counts && !read[c] {
				lines += c.Lines()
			}
			read[c] = true
		}
		if counts {
			took += gap
		}
	}
	if lines < paceLines || took <= 0 {
		return usualPace
	}
	return min(max(float64(lines)/took.Hours(), leastPace), mostPace)
}
