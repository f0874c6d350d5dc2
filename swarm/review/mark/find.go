package mark

import (
	"slices"

	"agentswarm/swarm/review"
)

// Facts are the facts about a patch beside its text.
type Facts struct {
	// OutOfPaths are the paths outside those that the agent was given.
	OutOfPaths []string
	// Replaced are submodules that plain files took the place of.
	Replaced      []string
	CheckFailed   bool // the check of the patch failed
	ReviewerNo    bool // its reviewer did not let it pass
	RejectedEdits map[*review.Edit]bool
	// Text returns the content of a file before or after the patch; false where
	// there is none. Nil: no content is known.
	Text func(path string, after bool) ([]byte, bool)
}

// file is a changed file of a patch with its edits.
type file struct {
	*review.File
	edits    []*review.Edit
	kind     review.Kind
	language string
	facts    Facts
}

// patch are the changed files of a patch.
type patch []*file

// found collects the marks of edits.
type found struct {
	marks map[*review.Edit][]Mark
}

// add marks an edit by a rule, if the rule applies to its file.
func (f *found) add(e *review.Edit, r *rule, detail string) {
	if !r.holds(e.Kind, e.Language, e.Path) {
		return
	}
	m := Mark{ID: r.ID, Weight: r.Weight, Reason: r.Reason, Detail: detail}
	if !slices.Contains(f.marks[e], m) {
		f.marks[e] = append(f.marks[e], m)
	}
}

// Find returns the marks of edits, those of most weight first. facts may be nil.
func (r *Rules) Find(edits []*review.Edit, facts func(patch string) Facts) map[*review.Edit][]Mark {
	out := &found{marks: map[*review.Edit][]Mark{}}
	byPatch := map[string]patch{}
	byFile := map[*review.File]*file{}
	known := map[string]Facts{}
	for _, e := range edits {
		f := byFile[e.File()]
		if f == nil {
			if _, ok := known[e.Patch]; !ok && facts != nil {
				known[e.Patch] = facts(e.Patch)
			}
			f = &file{File: e.File(), kind: e.Kind, language: e.Language, facts: known[e.Patch]}
			byFile[f.File] = f
			byPatch[e.Patch] = append(byPatch[e.Patch], f)
		}
		f.edits = append(f.edits, e)
	}
	table := checks()
	for _, p := range byPatch {
		for _, f := range p {
			r.findWords(out, f)
		}
		for _, rule := range r.all {
			if rule.Check != "" {
				table[rule.Check](rule, p, out)
			}
		}
	}
	for _, marks := range out.marks {
		slices.SortStableFunc(marks, func(a, b Mark) int { return b.Weight - a.Weight })
	}
	return out.marks
}

// Weight is the highest weight of some marks.
func Weight(marks []Mark) int {
	w := 0
	for _, m := range marks {
		w = max(w, m.Weight)
	}
	return w
}

// findWords finds the rules whose words the edits of a file add or remove.
func (r *Rules) findWords(out *found, f *file) {
	if f.kind == review.Generated || f.Binary {
		return
	}
	type side struct{ added, removed int }
	total := map[*rule]side{}
	each := make([]map[*rule]side, len(f.edits))
	for i, e := range f.edits {
		for n, lines := range [2][]string{e.Added, e.Removed} {
			for _, m := range r.matches(lines, f.language) {
				if each[i] == nil {
					each[i] = map[*rule]side{}
				}
				one, all := each[i][m.rule], total[m.rule]
				// The side that a rule is about counts as added.
				if (n == 0) != m.removed {
					one.added, all.added = one.added+1, all.added+1
				} else {
					one.removed, all.removed = one.removed+1, all.removed+1
				}
				each[i][m.rule], total[m.rule] = one, all
			}
		}
	}
	for i, e := range f.edits {
		if len(each[i]) == 0 {
			continue
		}
		for _, rule := range r.all {
			one, all := each[i][rule], total[rule]
			if one.added > one.removed && all.added > all.removed && (!rule.Replaces || len(e.Removed) > 0) {
				out.add(e, rule, "")
			}
		}
	}
}
