package queue

import "slices"

// Conflict is a pair of patches that do not merge with each other.
type Conflict struct{ First, Second string }

// Order returns the patches in an order in which as many as possible land. Among
// patches in conflict with each other, the patch with the fewest open conflicts
// comes first, and the earlier among equals. The remaining patches come last.
// Both parts keep the order of the request, and no patch comes before a patch
// that it needs.
func Order(patches []Patch, conflicts []Conflict) []Patch {
	against := map[string]map[string]bool{}
	for _, c := range conflicts {
		for _, pair := range [][2]string{{c.First, c.Second}, {c.Second, c.First}} {
			if against[pair[0]] == nil {
				against[pair[0]] = map[string]bool{}
			}
			against[pair[0]][pair[1]] = true
		}
	}
	open := slices.Clone(patches)
	lost := map[string]bool{}
	for len(open) > 0 {
		count := func(p Patch) int {
			n := 0
			for _, other := range open {
				if against[p.ID][other.ID] {
					n++
				}
			}
			return n
		}
		best, fewest := 0, count(open[0])
		for i, p := range open {
			if n := count(p); n < fewest {
				best, fewest = i, n
			}
		}
		won := open[best]
		open = slices.DeleteFunc(open, func(p Patch) bool {
			if against[won.ID][p.ID] {
				lost[p.ID] = true
			}
			return p.ID == won.ID || lost[p.ID]
		})
	}
	var first, last []Patch
	for _, p := range patches {
		if lost[p.ID] {
			last = append(last, p)
		} else {
			first = append(first, p)
		}
	}
	return afterNeeds(append(first, last...))
}

// afterNeeds moves patches behind those that they need, and leaves the order as
// it is apart from that. Patches that need each other keep their order.
func afterNeeds(patches []Patch) []Patch {
	var out []Patch
	open := slices.Clone(patches)
	for len(open) > 0 {
		at := slices.IndexFunc(open, func(p Patch) bool {
			return !slices.ContainsFunc(open, func(o Patch) bool { return o.ID != p.ID && slices.Contains(p.Needs, o.ID) })
		})
		at = max(at, 0)
		out, open = append(out, open[at]), slices.Delete(open, at, at+1)
	}
	return out
}
