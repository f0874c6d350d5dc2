package review

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// SpliceError says that a change does not fit the content that it is applied to.
type SpliceError struct {
	Path string
	Line int // of the content, from 1
}

func (e *SpliceError) Error() string {
	return fmt.Sprintf("%s: line %d is not the one that the patch changes", e.Path, e.Line)
}

// Splice applies some edits of a file to the content before the change, and
// leaves the others out. The edits are those of a single patch, with lines;
// others of the file need not be given. It returns errors of type
// [*SpliceError].
func Splice(f *File, before []byte, edits []*Edit) ([]byte, error) {
	lines := bytes.SplitAfter(before, []byte("\n"))
	if n := len(lines); n > 0 && len(lines[n-1]) == 0 {
		lines = lines[:n-1]
	}
	s := &splicer{}
	at := 0 // index of the next line
	for i := range f.Runs {
		run := &f.Runs[i]
		from := run.OldLine - 1
		if from < at || from+len(run.Removed) > len(lines) {
			return nil, &SpliceError{f.Path, run.OldLine}
		}
		for k, want := range run.Removed {
			if string(bytes.TrimSuffix(lines[from+k], []byte("\n"))) != want {
				return nil, &SpliceError{f.Path, run.OldLine + k}
			}
		}
		for ; at < from; at++ {
			s.add(lines[at])
		}
		s.run(run, lines[from:from+len(run.Removed)], edits)
		at = from + len(run.Removed)
	}
	for ; at < len(lines); at++ {
		s.add(lines[at])
	}
	return s.out, nil
}

// splicer collects the lines of the result.
type splicer struct{ out []byte }

// add appends a line. A line before it gets the end that it lacked as the last of
// its file.
func (s *splicer) add(line []byte) {
	if n := len(s.out); n > 0 && s.out[n-1] != '\n' {
		s.out = append(s.out, '\n')
	}
	s.out = append(s.out, line...)
}

// added appends an added line of a run.
func (s *splicer) added(run *Run, i int) {
	line := []byte(run.Added[i])
	if !run.NewBare || i < len(run.Added)-1 {
		line = append(line, '\n')
	}
	s.add(line)
}

// run appends a run: all of it, nothing of it, or some of its parts.
func (s *splicer) run(run *Run, removed [][]byte, edits []*Edit) {
	gone, come := make([]bool, len(run.Removed)), make([]bool, len(run.Added))
	slot := slots(run, edits) // of each added line
	for _, e := range edits {
		switch {
		case e.hunk != run:
		case e.run == run:
			fill(gone)
			fill(come)
		default:
			for _, i := range e.run.removedAt {
				gone[i] = true
			}
			for _, j := range e.run.addedAt {
				come[j] = true
			}
		}
	}
	if !slices.Contains(gone, false) && !slices.Contains(come, false) {
		for j := range run.Added {
			s.added(run, j)
		}
		return
	}
	for i := -1; i < len(removed); i++ {
		if i >= 0 && !gone[i] {
			s.add(removed[i])
		}
		for j := range run.Added {
			if come[j] && slot[j] == i {
				s.added(run, j)
			}
		}
	}
}

func fill(all []bool) {
	for i := range all {
		all[i] = true
	}
}

// slots say behind which removed line each added line of a run stands, if only a
// part of the run is applied: a line of a pair takes the place of its partner, and
// another line follows the added line before it. -1 is before all.
func slots(run *Run, edits []*Edit) []int {
	partner := map[int]int{}
	for _, part := range cut(run, languageOf(run, edits)) {
		if len(part.removedAt) == 1 && len(part.addedAt) == 1 {
			partner[part.addedAt[0]] = part.removedAt[0]
		}
	}
	all, last := make([]int, len(run.Added)), -1
	for j := range all {
		if i, ok := partner[j]; ok {
			last = i
		}
		all[j] = last
	}
	return all
}

// languageOf is the language by which a run was cut.
func languageOf(run *Run, edits []*Edit) string {
	for _, e := range edits {
		if e.hunk == run {
			return e.Language
		}
	}
	return ""
}

// Text is an edit as the lines of a patch, without a header.
func (e *Edit) Text() string {
	var out strings.Builder
	for _, line := range e.Removed {
		out.WriteString("-" + line + "\n")
	}
	for _, line := range e.Added {
		out.WriteString("+" + line + "\n")
	}
	return out.String()
}
