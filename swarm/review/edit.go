package review

import (
	"fmt"
	"strings"

	"agentswarm/swarm/task"
)

// Edit is a change that a person reads at once: a run of changed lines, a part
// of it, or a change of a file that has no lines.
type Edit struct {
	Patch, Path      string
	OldLine, NewLine int // of the first line; 0 for a change without lines
	Removed, Added   []string
	Before, After    []string // unchanged lines around it
	// About describes a change without lines, such as "binary"; else empty.
	About string

	Exact, Shape Fingerprint
	Kind         Kind
	Language     string
	Space        bool // only white space changes
	// Follows is the word before the first change; empty where there is none.
	Follows string
	// Sum is that of the text: it differs where Exact is equal and unchanged
	// words are not.
	Sum Fingerprint
	// Nth counts the edits of the same file with equal Exact and Sum, from 1.
	Nth int

	file *File
	run  *Run
	hunk *Run // the run of the file that run is, or is a part of
}

// Lines is the number of lines that reading the edit takes.
func (e *Edit) Lines() int { return max(1, len(e.Removed)+len(e.Added)) }

// Changes are the words that the edit removes and adds, each pair once. They
// are nil where only white space changes.
func (e *Edit) Changes() []Change {
	if e.run == nil || e.Space {
		return nil
	}
	a, b := e.sides()
	return changes(a, b, script(a, b))
}

// Key identifies the edit in a journal.
func (e *Edit) Key() task.EditKey {
	return task.EditKey{Path: e.Path, Exact: string(e.Exact), Sum: string(e.Sum), Nth: e.Nth}
}

// choice is a run as a single edit, and as the parts that it may be cut into.
type choice struct {
	whole *Edit
	parts []*Edit // nil: it is not cut
}

// choices are the edits of a patch, with their fingerprints.
func choices(p *Patch) []choice {
	var all []choice
	for i := range p.Files {
		f := &p.Files[i]
		from, where := len(all), placeOf(f)
		if e := fileEdit(p.ID, f, where); e != nil {
			all = append(all, choice{whole: e})
		}
		for k := range f.Runs {
			run := &f.Runs[k]
			c := choice{whole: newEdit(p.ID, f, where, run)}
			c.whole.hunk = run
			for _, part := range cut(run, where.language) {
				e := newEdit(p.ID, f, where, part)
				e.hunk = run
				c.parts = append(c.parts, e)
			}
			all = append(all, c)
		}
		numberEdits(all[from:])
	}
	return all
}

// numberEdits sets Nth of the edits of a file. It counts the whole runs and their
// parts, so that the number does not depend on which of them are shown.
func numberEdits(file []choice) {
	type same struct{ exact, sum Fingerprint }
	seen := map[same]int{}
	count := func(e *Edit) {
		key := same{e.Exact, e.Sum}
		seen[key]++
		e.Nth = seen[key]
	}
	for _, c := range file {
		count(c.whole)
		for _, part := range c.parts {
			count(part)
		}
	}
}

// newEdit fingerprints a run or a part of a run.
func newEdit(patch string, f *File, where place, run *Run) *Edit {
	e := &Edit{
		Patch: patch, Path: f.Path, OldLine: run.OldLine, NewLine: run.NewLine,
		Removed: run.Removed, Added: run.Added, Before: run.Before, After: run.After,
		Kind: where.kind, Language: where.language, file: f, run: run,
	}
	a, b := e.sides()
	if sameWords(a, b) {
		e.Space = true
		e.Exact = sum(append(where.head("space"), strings.Join(spaceChanges(run), "\x00")...))
		e.Shape = sum(where.head("space"))
	} else {
		spans := script(a, b)
		e.Exact, e.Shape = exactOf(where, a, b, spans), shapeOf(where, a, b, spans)
		e.Follows = wordBefore(a, b, spans[0], run.Before)
	}
	e.Sum = textSum(run)
	return e
}

// sides are the tokens of an edit.
func (e *Edit) sides() (a, b []token) {
	before, after := side{lines: e.Removed}, side{lines: e.Added}
	if indented(e.Language) {
		before.indented, after.indented = true, true
		reference := referenceIndent(e)
		before.reference, after.reference = reference, reference
	}
	return before.tokens(), after.tokens()
}

// referenceIndent is the indentation that those of an edit are compared with:
// that of the first removed line, or of the nearest line before an addition.
func referenceIndent(e *Edit) string {
	for _, line := range e.Removed {
		if !blank(line) {
			return indentation(line)
		}
	}
	for i := len(e.Before) - 1; i >= 0; i-- {
		if !blank(e.Before[i]) {
			return indentation(e.Before[i])
		}
	}
	return ""
}

func textSum(r *Run) Fingerprint {
	var text strings.Builder
	for _, line := range r.Removed {
		fmt.Fprintf(&text, "-%s\n", line)
	}
	for _, line := range r.Added {
		fmt.Fprintf(&text, "+%s\n", line)
	}
	if r.OldBare || r.NewBare {
		fmt.Fprintf(&text, "%t %t", r.OldBare, r.NewBare)
	}
	return sum([]byte(text.String()))
}

// wordBefore is the word before a change: in the lines that change, or at the
// end of the line before.
func wordBefore(a, b []token, s span, context []string) string {
	last := func(tokens []token) string {
		for i := len(tokens) - 1; i >= 0; i-- {
			if tokens[i].sort == word {
				return tokens[i].text
			}
		}
		return ""
	}
	before := last(a[:s.a0])
	if len(a) == 0 {
		before = last(b[:s.b0])
	}
	if before == "" && len(context) > 0 {
		before = last(appendTokens(nil, context[len(context)-1]))
	}
	return before
}

// fileEdit is the change of a file that its lines do not show; nil for none.
func fileEdit(patch string, f *File, where place) *Edit {
	about := ""
	switch {
	case f.Binary:
		about = "binary"
	case f.From != "" && f.From != f.Path:
		about = "renamed"
	case len(f.Runs) > 0 && (f.Added || f.Deleted || f.OldMode == f.NewMode):
		return nil
	case f.Added:
		about = "new empty file"
	case f.Deleted:
		about = "deleted empty file"
	case f.OldMode != f.NewMode:
		about = "mode " + f.OldMode + " to " + f.NewMode
	default:
		return nil
	}
	exact := append(where.head("file"), about...)
	if f.Binary {
		exact = append(exact, "\x00"+f.OldID+"\x00"+f.NewID...)
	}
	return &Edit{
		Patch: patch, Path: f.Path, About: about, Kind: where.kind, Language: where.language, file: f,
		Exact: sum(exact), Shape: sum(append(where.head("file"), about...)), Sum: sum(exact),
	}
}

// Hunk is the run of the file that the edit is, or is a part of; nil for a change
// without lines.
func (e *Edit) Hunk() *Run { return e.hunk }

// File is the file that the edit changes.
func (e *Edit) File() *File { return e.file }
