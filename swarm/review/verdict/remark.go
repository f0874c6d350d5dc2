package verdict

import (
	"fmt"
	"slices"
	"strings"

	"agentswarm/swarm/event"
	"agentswarm/swarm/review"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// mostQuoted bounds the lines that a remark quotes.
const mostQuoted = 12

// placeRemarks finds the edits that the remarks on a work are about now.
func (r *Review) placeRemarks(x *review.Index, w *Work) {
	id := string(w.ID)
	keys := make([]task.EditKey, len(w.Remarks))
	for i, remark := range w.Remarks {
		keys[i] = remark.Edit
	}
	for i, candidates := range x.Locate(id, keys) {
		at := slices.IndexFunc(candidates, func(e *review.Edit) bool { return slices.Contains(r.edits[id], e) })
		if at < 0 {
			r.outdated[id] = append(r.outdated[id], w.Remarks[i])
			continue
		}
		e := candidates[at]
		r.remarks[e] = append(r.remarks[e], w.Remarks[i])
	}
}

// Remarks are the remarks on an edit, oldest first.
func (r *Review) Remarks(e *review.Edit) []*store.EditRemark { return r.remarks[e] }

// OutdatedRemarks are the remarks on edits that an agent's patch no longer has.
func (r *Review) OutdatedRemarks(id task.ID) []*store.EditRemark { return r.outdated[string(id)] }

// NewRemark is a remark on the hunk at a place. Its ID is left to the caller.
// Errors are of type [*HunkError].
func (r *Review) NewRemark(at review.Place, only []task.ID, text string) (event.Remarked, error) {
	hunk, err := r.FindHunk(at, only)
	if err != nil {
		return event.Remarked{}, err
	}
	e := hunk[0]
	for _, part := range hunk { // the part with the line, where the hunk is cut
		if at.Line >= part.NewLine && at.Line < part.NewLine+max(1, len(part.Added)) {
			e = part
		}
	}
	w := r.works[e.Patch]
	return event.Remarked{Agent: w.ID, Attempt: w.Attempt, Edit: e.Key(), Line: at.Line, Quote: quoted(e, at.Line), Text: text}, nil
}

// OnClass are remarks on a class: on the first member of each agent that has a
// member. IDs are left to the caller.
func (r *Review) OnClass(c *review.Class, only []task.ID, text string) []event.Remarked {
	var all []event.Remarked
	for _, w := range r.sorted() {
		if len(only) > 0 && !slices.Contains(only, w.ID) {
			continue
		}
		at := slices.IndexFunc(c.Members, func(e *review.Edit) bool { return e.Patch == string(w.ID) })
		if at < 0 {
			continue
		}
		e := c.Members[at]
		all = append(all, event.Remarked{
			Agent: w.ID, Attempt: w.Attempt, Edit: e.Key(), Line: max(e.NewLine, 0), Quote: quoted(e, e.NewLine), Text: text,
		})
	}
	return all
}

// quoted are the lines of an edit around a line, with their signs.
func quoted(e *review.Edit, line int) []string {
	var all []string
	for _, text := range e.Removed {
		all = append(all, "-"+text)
	}
	at := len(all) + max(0, line-e.NewLine) // of the line, in all
	for _, text := range e.Added {
		all = append(all, "+"+text)
	}
	if len(all) > mostQuoted {
		from := min(max(0, at-mostQuoted/2), len(all)-mostQuoted)
		all = all[from : from+mostQuoted]
	}
	for i, text := range all {
		all[i] = clip(strings.ToValidUTF8(text, "\uFFFD"), 300)
	}
	return all
}

func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// Feedback is the text by which an agent is told remarks: each with its place in
// the present patch, and the lines that it is about.
func (r *Review) Feedback(remarks []*store.EditRemark) string {
	var out strings.Builder
	for i, remark := range remarks {
		if i > 0 {
			out.WriteString("\n\n")
		}
		fmt.Fprintf(&out, "%s\n", strings.ToValidUTF8(r.remarkPlace(remark), "\uFFFD"))
		for _, line := range remark.Quote {
			fmt.Fprintf(&out, "> %s\n", line)
		}
		out.WriteString(remark.Text)
	}
	return out.String()
}

// remarkPlace is the place of a remark in the present patch, or that at which it
// was made.
func (r *Review) remarkPlace(remark *store.EditRemark) string {
	id := string(remark.Agent)
	for _, e := range r.edits[id] {
		if slices.Contains(r.remarks[e], remark) {
			if w := r.works[id]; w.Attempt == remark.Attempt && remark.Line > 0 {
				return review.Place{Path: e.Path, Line: remark.Line}.String()
			}
			return e.Place().String()
		}
	}
	place := remark.Edit.Path
	if remark.Line > 0 {
		place = review.Place{Path: remark.Edit.Path, Line: remark.Line}.String()
	}
	return fmt.Sprintf("%s of attempt %d", place, remark.Attempt)
}
