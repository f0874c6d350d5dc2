package review

import (
	"cmp"
	"slices"
)

// Patch is the change of an agent.
type Patch struct {
	ID    string // required, unique in an index
	Files []File
}

// Index holds the edits of patches. Putting a patch costs its own edits only,
// so that an index can grow while patches settle. It serves a single goroutine
// at a time.
type Index struct{ patches map[string][]choice }

// Put adds a patch, in place of an earlier patch with its name.
func (x *Index) Put(p *Patch) {
	if x.patches == nil {
		x.patches = map[string][]choice{}
	}
	x.patches[p.ID] = choices(p)
}

// Edits are the edits of all patches. A run is cut where that makes it read as
// edits that the whole set has more often. The edits are in the order of file,
// line and patch.
func (x *Index) Edits() []*Edit {
	seen := map[Fingerprint]int{}
	for _, all := range x.patches {
		for _, c := range all {
			seen[c.whole.Exact]++
			for _, part := range c.parts {
				seen[part.Exact]++
			}
		}
	}
	cost := func(e *Edit) float64 { return float64(1+e.Lines()) / float64(seen[e.Exact]) }
	var edits []*Edit
	for _, all := range x.patches {
		for _, c := range all {
			parts := 0.0
			for _, part := range c.parts {
				parts += cost(part)
			}
			if len(c.parts) > 0 && parts < cost(c.whole) {
				edits = append(edits, c.parts...)
			} else {
				edits = append(edits, c.whole)
			}
		}
	}
	slices.SortFunc(edits, byPlace)
	return edits
}

// byPlace orders edits. The name of the patch comes last.
func byPlace(a, b *Edit) int {
	return cmp.Or(
		cmp.Compare(a.Path, b.Path), cmp.Compare(a.OldLine, b.OldLine), cmp.Compare(a.NewLine, b.NewLine),
		cmp.Compare(a.Exact, b.Exact), cmp.Compare(a.Sum, b.Sum), cmp.Compare(a.Nth, b.Nth), cmp.Compare(a.Patch, b.Patch),
	)
}
