package git

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"
)

// Outline is a changed path and the places of its changed lines, without their
// text.
type Outline struct {
	Change
	Added, Deleted int
	Binary         bool
	// Spans are the places where the new text differs from the old text.
	Spans []Span
}

// Span is a run of lines of a file that were put in, or, where there are none,
// the place behind the line First where some were taken out.
type Span struct{ First, Lines int }

// maxSpans bounds the number of spans kept for a file.
const maxSpans = 64

// Outline lists the differences between two trees or commits, by path.
func (q *Quarantine) Outline(ctx context.Context, from, to Hash) ([]Outline, error) {
	changes, err := q.Changes(ctx, from, to)
	if err != nil {
		return nil, err
	}
	s := &outliner{}
	_, err = q.Run(ctx, Cmd{
		Stdout: s, Config: []string{"diff.algorithm=myers", "diff.suppressBlankEmpty=false"},
		Args: []string{
			"diff-tree", "-r", "-p", "--unified=0", "--inter-hunk-context=0", "--no-renames", "--no-ext-diff",
			"--no-textconv", "--no-color", "--submodule=short", "--ignore-submodules=none", "--diff-algorithm=myers",
			string(from), string(to),
		},
	})
	if err != nil {
		return nil, fmt.Errorf("outline change: %w", err)
	}
	s.line(s.part)
	return s.join(changes), nil
}

// outliner reads a patch without context as it is written and keeps the
// headers of hunks only. Every line of a file has a sign before it there, so
// that none can be taken for a header.
type outliner struct {
	part  []byte // of a line that has not ended
	files []Outline
}

// longestHeader is how much of a line is kept.
const longestHeader = 256

func (s *outliner) Write(p []byte) (int, error) {
	n := len(p)
	for {
		line, rest, ok := bytes.Cut(p, []byte{'\n'})
		if room := longestHeader - len(s.part); room > 0 {
			s.part = append(s.part, line[:min(room, len(line))]...)
		}
		if !ok {
			return n, nil
		}
		s.line(s.part)
		s.part, p = s.part[:0], rest
	}
}

func (s *outliner) line(text []byte) {
	if bytes.HasPrefix(text, []byte("diff --git ")) {
		s.files = append(s.files, Outline{})
		return
	}
	if len(s.files) == 0 {
		return
	}
	f := &s.files[len(s.files)-1]
	if bytes.HasPrefix(text, []byte("Binary files ")) {
		f.Binary = true
		return
	}
	head, ok := strings.CutPrefix(string(text), "@@ -")
	if !ok {
		return
	}
	was, rest, _ := strings.Cut(head, " +")
	is, _, ok := strings.Cut(rest, " @@")
	if !ok {
		return
	}
	_, deleted := extent(was)
	first, added := extent(is)
	f.Deleted += deleted
	f.Added += added
	if len(f.Spans) < maxSpans {
		f.Spans = append(f.Spans, Span{first, added})
	}
}

// extent reads "first,lines" or "first".
func extent(text string) (first, lines int) {
	a, b, two := strings.Cut(text, ",")
	first, _ = strconv.Atoi(a)
	if !two {
		return first, 1
	}
	lines, _ = strconv.Atoi(b)
	return first, lines
}

// join puts the names and the sizes of files together, which git lists in the
// same order. A file whose type changed is listed twice: as deleted and as new.
func (s *outliner) join(changes []Change) []Outline {
	all, at := make([]Outline, 0, len(changes)), 0
	for _, c := range changes {
		o := Outline{Change: c}
		parts := 1
		if c.Status == 'T' {
			parts = 2
		}
		for range parts {
			if at < len(s.files) {
				f := s.files[at]
				o.Added, o.Deleted, o.Binary = o.Added+f.Added, o.Deleted+f.Deleted, o.Binary || f.Binary
				o.Spans = append(o.Spans, f.Spans...)
				at++
			}
		}
		all = append(all, o)
	}
	return all
}
