package review

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Class is a set of edits with equal exact fingerprints. A single edit is a
// class of its own.
type Class struct {
	// ID is "C1" for the class that is read first. It changes as patches settle;
	// Exact does not.
	ID           string
	Exact, Shape Fingerprint
	Kind         Kind
	Language     string
	Space        bool
	// Weight is the highest weight of a mark of its members; see [Report].
	Weight  int
	Members []*Edit // in the order of file and line
	Example *Edit   // the shortest member
	// Follows is the word that most members follow; Elsewhere are the others.
	// Without such a word both are empty.
	Follows   string
	Elsewhere []*Edit
	// Missing are the patches that lack the class although most patches have it,
	// those of [ReportRequest.Idle] included.
	Missing []string
	// Changed is set where a member is new since a person reviewed the patch.
	Changed bool
	// Alike are the other classes with the same shape, by ID.
	Alike []string

	verified float64 // share of members in verified patches
}

// Lines is the number of lines that a person reads of the class.
func (c *Class) Lines() int {
	if len(c.Members) == 1 {
		return c.Example.Lines()
	}
	return 1 + c.Example.Lines() + len(c.Elsewhere)
}

// Patches are the names of the patches with a member, in order.
func (c *Class) Patches() []string {
	var all []string
	for _, m := range c.Members {
		all = append(all, m.Patch)
	}
	slices.SortFunc(all, byName)
	return slices.Compact(all)
}

// byName orders names such as a2 and a10 by their numbers.
func byName(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) }

// Report is the result of [Index.Report].
type Report struct {
	Classes []*Class // in the order of reading
	Patches int
	Edits   int
	Lines   int // changed lines of all patches
	ToRead  int // lines that a person reads of the classes
	// Odd has the reason for each edit that differs from the rest of its patch
	// or of its class.
	Odd map[*Edit]string
}

// ReportRequest decides the order of classes beside their size.
type ReportRequest struct {
	// Weight is the highest weight of the marks of an edit. Nil: no marks.
	Weight func(*Edit) int
	// Verified reports whether the check of a patch passed. Nil: none did.
	Verified func(patch string) bool
	// Changed reports whether an edit is new since a person reviewed its patch.
	// Its class is read first. Nil: none is.
	Changed func(*Edit) bool
	// Idle are the siblings of the patches that changed nothing.
	Idle []string
}

const (
	// OddWeight is the weight of an edit that differs from the rest.
	OddWeight = 4
	// LargeClass is the number of members from which a class counts as a
	// pattern that others can lack.
	LargeClass = 5
)

// most reports whether some are most of all: at least 80 %.
func most(some, all int) bool { return 5*some >= 4*all }

// Report groups the edits into classes. The result does not depend on the
// order in which patches were put.
func (x *Index) Report(req ReportRequest) *Report {
	edits := x.Edits()
	r := &Report{Patches: len(x.patches), Edits: len(edits), Odd: map[*Edit]string{}}
	byExact := map[Fingerprint]*Class{}
	for _, e := range edits {
		c := byExact[e.Exact]
		if c == nil {
			c = &Class{Exact: e.Exact, Shape: e.Shape, Kind: e.Kind, Language: e.Language, Space: e.Space}
			byExact[e.Exact] = c
			r.Classes = append(r.Classes, c)
		}
		c.Members = append(c.Members, e)
		r.Lines += len(e.Removed) + len(e.Added)
	}
	for _, c := range r.Classes {
		c.Example = slices.MinFunc(c.Members, func(a, b *Edit) int { return cmp.Or(cmp.Compare(a.Lines(), b.Lines()), byPlace(a, b)) })
		c.findElsewhere()
		r.ToRead += c.Lines()
	}
	x.findMissing(r, req.Idle)
	r.findOdd()
	r.order(req)
	return r
}

// findElsewhere finds the members that do not follow the word that most do.
func (c *Class) findElsewhere() {
	if len(c.Members) < LargeClass || c.Space {
		return
	}
	count, best := map[string]int{}, ""
	for _, m := range c.Members {
		count[m.Follows]++
		if n := count[m.Follows]; n > count[best] || n == count[best] && m.Follows < best {
			best = m.Follows
		}
	}
	if best == "" || !most(count[best], len(c.Members)) {
		return
	}
	c.Follows = best
	for _, m := range c.Members {
		if m.Follows != best {
			c.Elsewhere = append(c.Elsewhere, m)
		}
	}
}

// findMissing finds the patches without a class that most patches have.
func (x *Index) findMissing(r *Report, idle []string) {
	names := slices.Clone(idle)
	for id, all := range x.patches {
		if len(all) > 0 {
			names = append(names, id)
		}
	}
	slices.SortFunc(names, byName)
	for _, c := range r.Classes {
		have := map[string]bool{}
		for _, m := range c.Members {
			have[m.Patch] = true
		}
		if len(have) < LargeClass || !most(len(have), len(names)) {
			continue
		}
		for _, id := range names {
			if !have[id] {
				c.Missing = append(c.Missing, id)
			}
		}
	}
}

// findOdd finds the edits that differ: those of a patch that lacks a class
// which most have, single ones beside large classes, and those elsewhere.
func (r *Report) findOdd() {
	lacks := map[string]*Class{} // by patch: the largest class that it lacks
	large, single := map[string]int{}, map[string]int{}
	for _, c := range r.Classes {
		for _, id := range c.Missing {
			if have := lacks[id]; have == nil || cmp.Or(len(c.Members)-len(have.Members), cmp.Compare(have.Exact, c.Exact)) > 0 {
				lacks[id] = c
			}
		}
		for _, m := range c.Members {
			if len(c.Members) >= LargeClass {
				large[m.Patch]++
			} else if len(c.Members) == 1 {
				single[m.Patch]++
			}
		}
	}
	for _, c := range r.Classes {
		for _, m := range c.Members {
			switch isLarge := len(c.Members) >= LargeClass; {
			case isLarge:
			case lacks[m.Patch] != nil:
				r.Odd[m] = "in " + m.Patch + ", which lacks a change that most patches have"
			case len(c.Members) == 1 && single[m.Patch] == 1 && large[m.Patch] > 0:
				r.Odd[m] = "alone in " + m.Patch + ", whose other edits are in large classes"
			}
		}
		for _, m := range c.Elsewhere {
			r.Odd[m] = "does not follow " + strconv.Quote(c.Follows) + " as most of its class do"
		}
	}
}

// order sorts the classes in the order of reading and names them.
func (r *Report) order(req ReportRequest) {
	for _, c := range r.Classes {
		verified := 0
		for _, m := range c.Members {
			if req.Weight != nil {
				c.Weight = max(c.Weight, req.Weight(m))
			}
			if _, odd := r.Odd[m]; odd && len(c.Members) < LargeClass {
				c.Weight = max(c.Weight, OddWeight)
			}
			if req.Verified != nil && req.Verified(m.Patch) {
				verified++
			}
			c.Changed = c.Changed || req.Changed != nil && req.Changed(m)
		}
		c.verified = float64(verified) / float64(len(c.Members))
	}
	slices.SortFunc(r.Classes, func(a, b *Class) int {
		return cmp.Or(
			compareBool(b.Changed, a.Changed), cmp.Compare(b.Weight, a.Weight), cmp.Compare(a.verified, b.verified),
			cmp.Compare(len(b.Members), len(a.Members)), cmp.Compare(a.Exact, b.Exact),
		)
	})
	byShape := map[Fingerprint][]*Class{}
	for i, c := range r.Classes {
		c.ID = "C" + strconv.Itoa(i+1)
		byShape[c.Shape] = append(byShape[c.Shape], c)
	}
	for _, c := range r.Classes {
		for _, other := range byShape[c.Shape] {
			if other != c {
				c.Alike = append(c.Alike, other.ID)
			}
		}
	}
}

// compareBool orders false before true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// Find returns the class with a name such as "C3", or with a fingerprint that
// begins with the name. It returns nil if no class or several classes fit.
func (r *Report) Find(name string) *Class {
	var found *Class
	for _, c := range r.Classes {
		if c.ID == name {
			return c
		}
		if len(name) >= 6 && strings.HasPrefix(string(c.Exact), name) {
			if found != nil {
				return nil
			}
			found = c
		}
	}
	return found
}
