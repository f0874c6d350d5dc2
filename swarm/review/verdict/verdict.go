// Package verdict is the review of a run: the classes of its edits with their
// marks, the verdicts of people on edits, and the records that a new verdict
// makes. It says which edits a verdict on a class covers. It calls no git,
// writes no journal and prints nothing.
package verdict

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"agentswarm/swarm/event"
	"agentswarm/swarm/review"
	"agentswarm/swarm/review/mark"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// Work is the latest patch of an agent.
type Work struct {
	ID      task.ID
	Attempt int
	Files   []review.File
	Facts   mark.Facts // RejectedEdits is filled in here
	// Made are the verdicts on edits of this and earlier attempts, and Remarks the
	// remarks, oldest first.
	Made    []store.EditVerdict
	Remarks []*store.EditRemark
	// Before is the patch of the latest reviewed attempt before this one, and
	// Since that attempt; 0: none was.
	Before    []review.File
	Since     int
	OtherBase bool // the patch does not start from the base of the run
	Verified  bool
	Landed    bool
	// PassedOver is set where a script took the work of another agent.
	PassedOver bool
	// Verdict is the verdict on the whole patch; empty: none.
	Verdict task.Verdict
}

// Review is the review of the patches of a run.
type Review struct {
	*review.Report
	Marks    map[*review.Edit][]mark.Mark
	works    map[string]*Work
	decided  map[string]*review.Decided
	edits    map[string][]*review.Edit // by patch
	withheld map[fileOf]bool           // files that no verdict on a class covers
	changed  map[*review.Edit]bool     // new since a person reviewed the agent
	remarks  map[*review.Edit][]*store.EditRemark
	outdated map[string][]*store.EditRemark // by patch
}

type fileOf struct{ patch, path string }

// Input is the state of a run that is reviewed.
type Input struct {
	Rules *mark.Rules // required
	Works []Work
	Idle  []task.ID // agents that completed without a change
}

// New groups the edits of works into classes, with marks, verdicts and remarks.
func New(in Input) *Review {
	rules, works := in.Rules, in.Works
	r := &Review{
		works: map[string]*Work{}, decided: map[string]*review.Decided{},
		edits: map[string][]*review.Edit{}, withheld: map[fileOf]bool{}, changed: map[*review.Edit]bool{},
		remarks: map[*review.Edit][]*store.EditRemark{}, outdated: map[string][]*store.EditRemark{},
	}
	x := &review.Index{}
	for i := range works {
		w := &works[i]
		id := string(w.ID)
		r.works[id] = w
		x.Put(&review.Patch{ID: id, Files: w.Files})
		r.decided[id] = x.Decide(id, decisions(w.Made))
	}
	all := x.Edits()
	for _, e := range all {
		r.edits[e.Patch] = append(r.edits[e.Patch], e)
	}
	for i := range works {
		r.findChanged(x, &works[i])
		r.placeRemarks(x, &works[i])
	}
	var idle []string
	for _, id := range in.Idle {
		idle = append(idle, string(id))
	}
	r.Marks = rules.Find(all, r.facts)
	for e, marks := range r.Marks {
		if mark.Weight(marks) >= mark.SpreadLimit {
			r.withheld[fileOf{e.Patch, e.Path}] = true
		}
	}
	r.Report = x.Report(review.ReportRequest{
		Weight:   func(e *review.Edit) int { return mark.Weight(r.Marks[e]) },
		Verified: func(patch string) bool { return r.works[patch].Verified },
		Changed:  r.Changed,
		Idle:     idle,
	})
	return r
}

// findChanged finds the edits of a work that the attempt before did not have.
func (r *Review) findChanged(x *review.Index, w *Work) {
	if w.Since == 0 {
		return
	}
	id := string(w.ID)
	var had []review.Decision
	for _, key := range Whole(w.ID, w.Before) {
		had = append(had, review.Decision{Edit: key, Verdict: task.Accepted})
	}
	same := x.Decide(id, had)
	for _, e := range r.edits[id] {
		if _, ok := same.On(e); !ok {
			r.changed[e] = true
		}
	}
}

// Changed reports whether an edit is new since a person reviewed its agent.
func (r *Review) Changed(e *review.Edit) bool { return r.changed[e] }

// Since is the attempt that [Review.Changed] compares an agent's edits with; 0:
// none.
func (r *Review) Since(id task.ID) int {
	if w := r.works[string(id)]; w != nil {
		return w.Since
	}
	return 0
}

// Leftovers begins a search for places of the base that still have the words
// that classes remove.
func (r *Review) Leftovers() *review.Leftovers {
	var patches []*review.Patch
	for _, w := range r.sorted() {
		patches = append(patches, &review.Patch{ID: string(w.ID), Files: w.Files})
	}
	return r.Report.Leftovers(patches, func(patch string) bool { return r.works[patch].OtherBase })
}

func decisions(made []store.EditVerdict) []review.Decision {
	var all []review.Decision
	for _, m := range made {
		for _, key := range m.Edits {
			all = append(all, review.Decision{Edit: key, Verdict: m.Verdict, Reason: m.Reason, Attempt: m.Attempt})
		}
	}
	return all
}

// facts are those of a work, with the edits that were rejected in an earlier
// attempt.
func (r *Review) facts(patch string) mark.Facts {
	w := r.works[patch]
	facts := w.Facts
	facts.RejectedEdits = map[*review.Edit]bool{}
	for _, e := range r.edits[patch] {
		if d, ok := r.decided[patch].On(e); ok && d.Verdict == task.Rejected && d.Attempt < w.Attempt {
			facts.RejectedEdits[e] = true
		}
	}
	return facts
}

// Verdict is the verdict of a person on an edit; empty: none.
func (r *Review) Verdict(e *review.Edit) task.Verdict {
	d, _ := r.decided[e.Patch].On(e)
	return d.Verdict
}

// Outdated are the verdicts on edits that an agent's patch no longer has.
func (r *Review) Outdated(id task.ID) []review.Decision {
	if d := r.decided[string(id)]; d != nil {
		return d.Outdated
	}
	return nil
}

// Withheld reports whether a mark keeps verdicts on classes away from the file
// of an edit.
func (r *Review) Withheld(e *review.Edit) bool { return r.withheld[fileOf{e.Patch, e.Path}] }

// LinesLeft is the number of lines that a person reads of the classes that have
// an edit without a verdict.
func (r *Review) LinesLeft() int {
	n := 0
	for _, c := range r.Classes {
		if slices.ContainsFunc(c.Members, func(e *review.Edit) bool { return r.Verdict(e) == "" }) {
			n += c.Lines()
		}
	}
	return n
}

// Why is the reason for which a verdict leaves out an edit.
type Why string

// The reasons.
const (
	Marked     Why = "in files with a mark"
	Decided    Why = "already accepted or rejected"
	Landed     Why = "of patches that have landed"
	PassedOver Why = "of patches that a script passed over"
)

// Request is a verdict on the edits of a class, or of files.
type Request struct {
	Verdict task.Verdict // required
	Reason  string
	// Classes and Files select the decided edits. With both, they are the
	// members of the classes in the files. At least one is required.
	Classes []*review.Class
	Files   []string
	// Hunks are single edits that are decided in place of those; see
	// [Review.FindHunk]. Naming them names their agents.
	Hunks []*review.Edit
	// Only are the agents whose edits are decided; empty: all of the run. Naming
	// them also decides edits again that have a verdict, and with Files those of
	// files with a mark.
	Only []task.ID
	// Picked is set where a selector picked the agents: that names none.
	Picked bool
}

// Spread is the result of a verdict: records for the journal, and the edits that
// it left out.
type Spread struct {
	Edits []event.EditsReviewed // by agent
	// Patches are verdicts on whole patches, which a merge goes by: a patch is
	// accepted once all its edits are, and rejected once any edit is.
	Patches []event.Reviewed
	Covered int // edits
	// Partly are the agents of Edits whose patches have other edits that are not
	// accepted.
	Partly  []task.ID
	LeftOut map[Why][]*review.Edit
}

// Spread applies a verdict. A verdict on a class covers its exact members, which
// are all of the same kind, and no file with a mark of weight [mark.SpreadLimit]
// or more. It also accepts a patch whose edits are all accepted already, such as
// a patch of a later attempt, and that has no verdict as a whole.
func (r *Review) Spread(req Request) *Spread {
	out := &Spread{LeftOut: map[Why][]*review.Edit{}}
	covered := map[string][]*review.Edit{}
	decided := map[string]bool{} // patches with an edit that was decided before
	for _, e := range r.targets(req) {
		if why := r.leaveOut(e, req); why != "" {
			out.LeftOut[why] = append(out.LeftOut[why], e)
			decided[e.Patch] = decided[e.Patch] || why == Decided
			continue
		}
		covered[e.Patch] = append(covered[e.Patch], e)
		out.Covered++
	}
	for _, w := range r.sorted() {
		edits := covered[string(w.ID)]
		if len(edits) == 0 {
			if decided[string(w.ID)] && req.Verdict == task.Accepted && w.Verdict == "" && r.allAccepted(w, nil) {
				out.Patches = append(out.Patches, event.Reviewed{Agent: w.ID, Attempt: w.Attempt, Verdict: req.Verdict, Reason: req.Reason})
			}
			continue
		}
		record := event.EditsReviewed{Agent: w.ID, Attempt: w.Attempt, Verdict: req.Verdict, Reason: req.Reason}
		for _, e := range edits {
			record.Edits = append(record.Edits, e.Key())
		}
		out.Edits = append(out.Edits, record)
		if whole := r.whole(w, edits, req); whole != nil {
			out.Patches = append(out.Patches, *whole)
		} else if w.Verdict != task.Accepted {
			out.Partly = append(out.Partly, w.ID)
		}
	}
	return out
}

// targets are the edits that a verdict is about, of the agents that are named.
func (r *Review) targets(req Request) []*review.Edit {
	var all []*review.Edit
	for _, w := range r.sorted() {
		for _, e := range r.edits[string(w.ID)] {
			if len(req.Hunks) > 0 {
				if slices.Contains(req.Hunks, e) {
					all = append(all, e)
				}
				continue
			}
			if (len(req.Classes) == 0 || slices.ContainsFunc(req.Classes, func(c *review.Class) bool { return c.Exact == e.Exact })) &&
				(len(req.Files) == 0 || slices.Contains(req.Files, e.Path)) &&
				(len(req.Only) == 0 || slices.Contains(req.Only, w.ID)) {
				all = append(all, e)
			}
		}
	}
	return all
}

// leaveOut says why a verdict does not cover an edit; empty: it does.
func (r *Review) leaveOut(e *review.Edit, req Request) Why {
	w := r.works[e.Patch]
	byClass, byName := len(req.Classes) > 0, len(req.Hunks) > 0 || len(req.Only) > 0 && !req.Picked
	switch {
	case w.Landed:
		return Landed
	case !byName && req.Verdict == task.Accepted && w.PassedOver:
		return PassedOver
	case (byClass || !byName) && r.Withheld(e):
		return Marked
	case !byName && r.Verdict(e) != "":
		return Decided
	}
	return ""
}

// whole is the verdict on a patch that follows from those on its edits; nil for
// none.
func (r *Review) whole(w *Work, covered []*review.Edit, req Request) *event.Reviewed {
	v := &event.Reviewed{Agent: w.ID, Attempt: w.Attempt, Verdict: req.Verdict, Reason: req.Reason}
	if req.Verdict == task.Rejected {
		v.Reason = r.rejection(w, covered, req.Reason)
		return v
	}
	if w.Verdict == task.Accepted || !r.allAccepted(w, covered) {
		return nil
	}
	return v
}

// allAccepted reports whether each edit of a patch is accepted, those covered
// included.
func (r *Review) allAccepted(w *Work, covered []*review.Edit) bool {
	return !slices.ContainsFunc(r.edits[string(w.ID)], func(e *review.Edit) bool {
		return !slices.Contains(covered, e) && r.Verdict(e) != task.Accepted
	})
}

// mostPlaces bounds the places that the reason of a rejection names.
const mostPlaces = 20

// rejection is the reason that a retry gives to the agent: the person's words,
// and the places of the rejected edits.
func (r *Review) rejection(w *Work, covered []*review.Edit, reason string) string {
	var places []string
	for _, e := range r.edits[string(w.ID)] {
		if slices.Contains(covered, e) || r.Verdict(e) == task.Rejected {
			places = append(places, e.Place().String())
		}
	}
	more := ""
	if len(places) > mostPlaces {
		more = fmt.Sprintf("\nand %d more", len(places)-mostPlaces)
		places = places[:mostPlaces]
	}
	return strings.TrimSpace(reason + "\n\nRejected changes:\n" + strings.Join(places, "\n") + more)
}

// sorted are the works by their names.
func (r *Review) sorted() []*Work {
	all := make([]*Work, 0, len(r.works))
	for _, w := range r.works {
		all = append(all, w)
	}
	slices.SortFunc(all, func(a, b *Work) int { return cmp.Compare(a.ID.Number(), b.ID.Number()) })
	return all
}
