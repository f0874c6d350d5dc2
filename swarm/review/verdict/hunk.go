package verdict

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"agentswarm/swarm/review"
	"agentswarm/swarm/task"
)

// ParseAt reads FILE:LINE.
func ParseAt(text string) (review.Place, error) {
	at := strings.LastIndexByte(text, ':')
	if at < 1 {
		return review.Place{}, fmt.Errorf("%q is not FILE:LINE, such as main.go:12", text)
	}
	line, err := strconv.Atoi(text[at+1:])
	if err != nil || line < 1 {
		return review.Place{}, fmt.Errorf("%q is not FILE:LINE, such as main.go:12", text)
	}
	return review.Place{Path: text[:at], Line: line}, nil
}

// FilePath returns the path in the repository that a person names. A path of an
// edit names itself, as reviews print it. Other paths, and those that begin with
// "./" or "../", start from folder: that is the current folder's path from the top
// of the repository, empty for the top.
func (r *Review) FilePath(folder, name string) string {
	isEdit := func(file string) bool {
		for _, edits := range r.edits {
			if slices.ContainsFunc(edits, func(e *review.Edit) bool { return e.Path == file }) {
				return true
			}
		}
		return false
	}
	relative := strings.HasPrefix(name, "./") || strings.HasPrefix(name, "../")
	if here := path.Join(folder, name); relative || !isEdit(name) && isEdit(here) {
		return here
	}
	return name
}

// HunkError says that a place does not name a single hunk.
type HunkError struct {
	At review.Place
	// Agents are those with a hunk there: several, or none.
	Agents []task.ID
	// Near are the places of the hunks in that file.
	Near []string
}

func (e *HunkError) Error() string {
	switch {
	case len(e.Agents) > 1:
		return fmt.Sprintf("%s is changed by %s; name one of them", e.At, joined(e.Agents))
	case len(e.Near) > 0:
		return fmt.Sprintf("no change at %s; the file has changes at %s", e.At, strings.Join(e.Near[:min(len(e.Near), 5)], ", "))
	}
	return fmt.Sprintf("no change of lines of %s", e.At.Path)
}

func joined(ids []task.ID) string {
	var all []string
	for _, id := range ids {
		all = append(all, string(id))
	}
	if more := len(all) - 8; more > 1 {
		all = append(all[:8], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(all, ", ")
}

// FindHunk returns the edits of the hunk at a place: of the changed lines around
// it, without an unchanged line between them. The line is that of the file after
// the change; for lines that are only removed, also that before it. If several
// agents have a hunk there, only names the agent; empty: all of the run. It
// returns errors of type [*HunkError].
func (r *Review) FindHunk(at review.Place, only []task.ID) ([]*review.Edit, error) {
	failed := &HunkError{At: at}
	var found []*review.Edit
	for _, w := range r.sorted() {
		if len(only) > 0 && !slices.Contains(only, w.ID) {
			continue
		}
		var hunk *review.Run
		for _, e := range r.edits[string(w.ID)] {
			if e.Path != at.Path || e.Hunk() == nil {
				continue
			}
			if near := e.Place().String(); !slices.Contains(failed.Near, near) {
				failed.Near = append(failed.Near, near)
			}
			if hunk == nil && covers(e.Hunk(), at.Line) {
				hunk = e.Hunk()
				failed.Agents = append(failed.Agents, w.ID)
			}
			if hunk != nil && e.Hunk() == hunk {
				found = append(found, e)
			}
		}
	}
	if len(failed.Agents) != 1 {
		return nil, failed
	}
	return found, nil
}

// covers reports whether a line belongs to a hunk.
func covers(h *review.Run, line int) bool {
	return line >= h.NewLine && line < h.NewLine+len(h.Added) ||
		len(h.Added) == 0 && line >= h.OldLine && line < h.OldLine+len(h.Removed)
}
