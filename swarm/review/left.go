package review

import (
	"fmt"
	"slices"
	"strings"
)

// Place is a line of a file.
type Place struct {
	Path string
	Line int // from 1; 0 for the file
}

func (p Place) String() string {
	if p.Line == 0 {
		return p.Path
	}
	return fmt.Sprintf("%s:%d", p.Path, p.Line)
}

// Place is the first line of an edit: in the new file, or in the old file if
// the edit only removes lines.
func (e *Edit) Place() Place {
	if len(e.Added) == 0 && len(e.Removed) > 0 {
		return Place{e.Path, e.OldLine}
	}
	return Place{e.Path, e.NewLine}
}

const (
	// leastSought is the length from which a word is looked for elsewhere.
	leastSought = 3
	// keptPlaces bounds the places that are kept for a class.
	keptPlaces = 1000
)

// Left are the places that still have the words that a class removes, although
// the class is a pattern.
type Left struct {
	Lines  int     // all of them
	Places []Place // the first of them, in the order of file and line
}

// Leftovers finds the places of the base that still have the words that large
// classes remove, and that no patch changes. Put all lines of the base that
// have any of [Leftovers.Words].
type Leftovers struct {
	sought  []*sought
	removed map[Place]bool
	// elsewhere counts lines that patches with another base remove, by file.
	elsewhere map[string]map[string]int
	left      map[*Class]*Left
}

// sought is the part of a class that is looked for.
type sought struct {
	class          *Class
	removed, added []string // words of a line
	anchor         string   // the longest of the removed words
}

// Leftovers begins a search for the classes of a report. otherBase reports
// whether a patch does not start from the base; nil: all do.
func (r *Report) Leftovers(patches []*Patch, otherBase func(patch string) bool) *Leftovers {
	l := &Leftovers{removed: map[Place]bool{}, elsewhere: map[string]map[string]int{}, left: map[*Class]*Left{}}
	for _, c := range r.Classes {
		if len(c.Members) >= LargeClass && !c.Space {
			l.seek(c)
		}
	}
	for _, p := range patches {
		other := otherBase != nil && otherBase(p.ID)
		for i := range p.Files {
			l.exclude(&p.Files[i], other)
		}
	}
	return l
}

// seek adds the changes of a class whose removed words stand on a single line.
func (l *Leftovers) seek(c *Class) {
	for _, change := range c.Example.Changes() {
		s := &sought{class: c, removed: change.Removed, added: change.Added}
		for _, w := range change.Removed {
			if len(w) >= leastSought && len(w) > len(s.anchor) && strings.ContainsFunc(w, isLetter) {
				s.anchor = w
			}
		}
		oneLine := slices.ContainsFunc(c.Example.Removed, func(line string) bool { return occurrences(Words(line), s.removed) > 0 })
		if s.anchor != "" && oneLine {
			l.sought = append(l.sought, s)
		}
	}
}

// exclude notes the lines that a patch removes.
func (l *Leftovers) exclude(f *File, otherBase bool) {
	name := f.Path
	if f.From != "" {
		name = f.From
	}
	gone := map[string]int{}
	for k := range f.Runs {
		run := &f.Runs[k]
		for i, line := range run.Removed {
			if otherBase {
				gone[line]++
			} else {
				l.removed[Place{name, run.OldLine + i}] = true
			}
		}
	}
	for line, n := range gone {
		if l.elsewhere[name] == nil {
			l.elsewhere[name] = map[string]int{}
		}
		l.elsewhere[name][line] = max(l.elsewhere[name][line], n)
	}
}

// Words are the words of which each leftover line has at least one.
func (l *Leftovers) Words() []string {
	var all []string
	for _, s := range l.sought {
		all = append(all, s.anchor)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Put takes a line of the base. Lines of a file come in their order.
func (l *Leftovers) Put(p Place, text string) {
	text = strings.TrimSuffix(text, "\n")
	if l.removed[p] {
		return
	}
	if l.elsewhere[p.Path][text] > 0 {
		l.elsewhere[p.Path][text]--
		return
	}
	language := Language(p.Path)
	var words []string
	for _, s := range l.sought {
		if s.class.Language != language || !strings.Contains(text, s.anchor) {
			continue
		}
		if words == nil {
			words = Words(text)
		}
		if s.stands(words) {
			l.note(s.class, p)
		}
	}
}

func (l *Leftovers) note(c *Class, p Place) {
	left := l.left[c]
	if left == nil {
		left = &Left{}
		l.left[c] = left
	}
	if n := len(left.Places); n > 0 && left.Places[n-1] == p {
		return // another change of the class has found it
	}
	left.Lines++
	if len(left.Places) < keptPlaces {
		left.Places = append(left.Places, p)
	}
}

// stands reports whether the removed words stand in a line, other than as a part
// of those that are added.
func (s *sought) stands(line []string) bool {
	n := occurrences(line, s.removed)
	if within := occurrences(s.added, s.removed); within > 0 {
		n -= within * occurrences(line, s.added)
	}
	return n > 0
}

// occurrences counts how often words stand in a line.
func occurrences(line, words []string) int {
	n := 0
	for i := 0; len(words) > 0 && i+len(words) <= len(line); i++ {
		if slices.Equal(line[i:i+len(words)], words) {
			n++
		}
	}
	return n
}

// Class returns the leftovers of a class; nil for none.
func (l *Leftovers) Class(c *Class) *Left {
	if l == nil {
		return nil
	}
	return l.left[c]
}
