package takeback

import "slices"

// hunk is a run of lines that differs between two texts. Both ends are indexes,
// and the second is exclusive.
type hunk struct{ a0, a1, b0, b1 int }

// maxEdits bounds the search for the shortest edit of lines that have no unique
// line in common. A longer edit becomes a single hunk.
const maxEdits = 400

// diff returns the hunks between two texts, in order. Lines that both texts have
// once hold them together.
func diff(a, b []string) []hunk {
	d := differ{a: a, b: b}
	d.between(hunk{0, len(a), 0, len(b)})
	return d.joined()
}

// differ collects the hunks of two texts.
type differ struct {
	a, b  []string
	hunks []hunk
}

// joined are the hunks; adjacent hunks are merged.
func (d *differ) joined() []hunk {
	var out []hunk
	for _, h := range d.hunks {
		if n := len(out); n > 0 && out[n-1].a1 == h.a0 && out[n-1].b1 == h.b0 {
			out[n-1].a1, out[n-1].b1 = h.a1, h.b1
			continue
		}
		out = append(out, h)
	}
	return out
}

// between finds the hunks in a part of both texts.
func (d *differ) between(h hunk) {
	for h.a0 < h.a1 && h.b0 < h.b1 && d.a[h.a0] == d.b[h.b0] {
		h.a0, h.b0 = h.a0+1, h.b0+1
	}
	for h.a0 < h.a1 && h.b0 < h.b1 && d.a[h.a1-1] == d.b[h.b1-1] {
		h.a1, h.b1 = h.a1-1, h.b1-1
	}
	switch anchors := d.anchors(h); {
	case h.a0 == h.a1 && h.b0 == h.b1:
	case h.a0 == h.a1 || h.b0 == h.b1:
		d.hunks = append(d.hunks, h)
	case len(anchors) == 0:
		d.hunks = append(d.hunks, d.shortest(h)...)
	default:
		for _, at := range anchors {
			d.between(hunk{h.a0, at[0], h.b0, at[1]})
			h.a0, h.b0 = at[0]+1, at[1]+1
		}
		d.between(h)
	}
}

// anchors are the longest list of pairs of equal lines that stand in the same order
// in both parts and only once in each.
func (d *differ) anchors(h hunk) [][2]int {
	once := func(text []string, from, to int) map[string]int {
		at := map[string]int{}
		for i := from; i < to; i++ {
			if _, again := at[text[i]]; again {
				at[text[i]] = -1
			} else {
				at[text[i]] = i
			}
		}
		return at
	}
	inB := once(d.b, h.b0, h.b1)
	inA := once(d.a, h.a0, h.a1)
	var pairs [][2]int
	for i := h.a0; i < h.a1; i++ {
		if j, there := inB[d.a[i]]; there && j >= 0 && inA[d.a[i]] == i {
			pairs = append(pairs, [2]int{i, j})
		}
	}
	return rising(pairs)
}

// rising is the longest list of pairs whose second numbers rise.
func rising(pairs [][2]int) [][2]int {
	var ends []int // index of the pair that ends the best list of each length
	before := make([]int, len(pairs))
	for i, p := range pairs {
		n, _ := slices.BinarySearchFunc(ends, p[1], func(at, second int) int { return pairs[at][1] - second })
		before[i] = -1
		if n > 0 {
			before[i] = ends[n-1]
		}
		if n == len(ends) {
			ends = append(ends, i)
		} else {
			ends[n] = i
		}
	}
	if len(ends) == 0 {
		return nil
	}
	out := make([][2]int, len(ends))
	for n, i := len(ends)-1, ends[len(ends)-1]; i >= 0; n, i = n-1, before[i] {
		out[n] = pairs[i]
	}
	return out
}

// shortest finds the shortest edit of a part by the algorithm of Myers. It is the
// whole part if that needs more than [maxEdits] lines.
func (d *differ) shortest(h hunk) []hunk {
	a, b := d.a[h.a0:h.a1], d.b[h.b0:h.b1]
	most := min(len(a)+len(b), maxEdits)
	reach := make([]int, 2*most+2) // by diagonal
	var trace [][]int
	for n := 0; n <= most; n++ {
		trace = append(trace, slices.Clone(reach))
		for k := -n; k <= n; k += 2 {
			x := 0
			switch {
			case n == 0:
			case k == -n || k != n && reach[most+k-1] < reach[most+k+1]:
				x = reach[most+k+1]
			default:
				x = reach[most+k-1] + 1
			}
			y := x - k
			for x < len(a) && y >= 0 && y < len(b) && a[x] == b[y] {
				x, y = x+1, y+1
			}
			reach[most+k] = x
			if x >= len(a) && y >= len(b) {
				return edits(h, trace, most)
			}
		}
	}
	return []hunk{h}
}

// edits reads the hunks of an edit back from its end.
func edits(h hunk, trace [][]int, most int) []hunk {
	var out []hunk
	x, y := h.a1-h.a0, h.b1-h.b0
	for n := len(trace) - 1; n > 0; n-- {
		reach, k := trace[n], x-y
		before := k - 1
		if k == -n || k != n && reach[most+k-1] < reach[most+k+1] {
			before = k + 1
		}
		px := reach[most+before]
		py := px - before
		at := hunk{a0: px, b0: py, a1: px, b1: py}
		if before == k+1 {
			at.b1++
		} else {
			at.a1++
		}
		out = append(out, hunk{h.a0 + at.a0, h.a0 + at.a1, h.b0 + at.b0, h.b0 + at.b1})
		x, y = px, py
	}
	slices.Reverse(out)
	return out
}
