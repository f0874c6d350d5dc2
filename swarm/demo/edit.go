package demo

import (
	"cmp"
	"slices"
	"strings"
)

// edit replaces the bytes [start, end) of a text; where both are equal it
// inserts.
type edit struct {
	start, end int
	with       string
}

// apply makes all edits, which must not overlap. Working on the bytes, and
// not printing the tree anew, leaves everything else as its author wrote it.
func apply(src string, edits []edit) string {
	slices.SortStableFunc(edits, func(a, b edit) int { return cmp.Compare(a.start, b.start) })
	var out strings.Builder
	at := 0
	for _, e := range edits {
		out.WriteString(src[at:e.start])
		out.WriteString(e.with)
		at = e.end
	}
	out.WriteString(src[at:])
	return out.String()
}
