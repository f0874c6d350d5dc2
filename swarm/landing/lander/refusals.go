package lander

import (
	"slices"
	"strings"

	"agentswarm/merge"
	"agentswarm/swarm/event"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/task"
)

// maxTakenBack bounds the text of a line that a patch takes back, in characters.
const maxTakenBack = 200

// Refusals are the patches that were left out for another reason than a conflict: those
// that the check refused, those that take landed lines back, and those whose changes the
// branch has.
func (r *Report) Refusals() []event.Refusal {
	return append(slices.Clone(r.Queue.Refusals()), r.unchecked()...)
}

// unchecked are the refusals that need no check.
func (r *Report) unchecked() (all []event.Refusal) {
	if r.Outcome == nil {
		return nil
	}
	for _, u := range r.Outcome.Undoing {
		all = append(all, r.undoing(u))
	}
	for _, id := range r.there() {
		all = append(all, event.Refusal{Agent: id, Kind: event.RefusedStale, Command: r.command, On: r.madeBy(id)})
	}
	return all
}

// undoing is a patch that takes landed lines back, as the journal has it.
func (r *Report) undoing(u merge.Undoing) event.Refusal {
	out := event.Refusal{Agent: task.ID(u.ID), Kind: event.RefusedUndoes, Command: r.command, On: taskIDs(u.With), More: u.More}
	for _, l := range u.Lines {
		out.Lines = append(out.Lines, event.TakenBack{
			Path: l.Path, Line: l.Number, Text: cutLine(l.Text), Back: l.Back,
		})
	}
	return out
}

// cutLine is the start of a line of a file, in UTF-8.
func cutLine(text string) string {
	runes := []rune(strings.ToValidUTF8(text, "\uFFFD"))
	if len(runes) <= maxTakenBack {
		return string(runes)
	}
	return string(runes[:maxTakenBack]) + "…"
}

// madeBy are the agents whose patches are on the branch and change files of this patch.
func (r *Report) madeBy(id task.ID) (ids []task.ID) {
	own := r.View.Agent(id).Patch()
	for _, a := range r.View.Agents {
		landed := landing.LandedOn(r.View, a, r.Ref) || slices.ContainsFunc(r.Outcome.Landed, func(l merge.Landed) bool { return l.ID == string(a.ID) })
		if a.ID == id || !landed || own == nil || a.Patch() == nil {
			continue
		}
		if slices.ContainsFunc(a.Patch().Paths, func(path string) bool { return slices.Contains(own.Paths, path) }) {
			ids = append(ids, a.ID)
		}
	}
	return ids
}
