package landing

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"agentswarm/swarm/landing/queue"
)

// TestConflicts: pairs that change a common file and do not merge.
func TestConflicts(t *testing.T) {
	t.Parallel()
	g := newFixture(t, map[string]string{"f": "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "g": "1\n"})
	g.patch("a1", map[string]string{"f": "one\n2\n3\n4\n5\n6\n7\n8\n9\n"})
	g.patch("a2", map[string]string{"f": "uno\n2\n3\n4\n5\n6\n7\n8\n9\n", "g": "eins\n"})
	g.patch("a3", map[string]string{"f": "1\n2\n3\n4\n5\n6\n7\n8\nnine\n"})
	g.patch("a4", map[string]string{"g": "one\n"})
	g.patch("a5", map[string]string{"h": "one\n"})
	gate := g.gate(&checker{})
	got, err := gate.Conflicts(t.Context())
	if want := []queue.Conflict{{First: "a1", Second: "a2"}, {First: "a2", Second: "a4"}}; err != nil || !slices.Equal(got, want) {
		t.Errorf("Conflicts = %v, %v, want %v", got, err, want)
	}
	// All merges are made by now. A landing that was interrupted ends all the same.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := gate.Conflicts(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("an interrupted search gives %v", err)
	}
}

func TestMeetings(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		paths []string // of a1, a2, …
		want  string
	}{
		{"none", nil, ""},
		{"apart", []string{"a b", "c", ""}, ""},
		{"one file", []string{"a b", "c", "b"}, "a1-a3"},
		{"two files", []string{"a b", "b a"}, "a1-a2"},
		{"named twice", []string{"a a", "a a"}, "a1-a2"},
		{"all", []string{"a", "a", "a"}, "a1-a2 a1-a3 a2-a3"},
	} {
		var ids []string
		paths := map[string][]string{}
		for i, list := range tt.paths {
			id := fmt.Sprint("a", i+1)
			ids, paths[id] = append(ids, id), strings.Fields(list)
		}
		met, err := meetings(t.Context(), ids, paths)
		var got []string
		for _, m := range met {
			got = append(got, m.First+"-"+m.Second)
		}
		if err != nil || strings.Join(got, " ") != tt.want {
			t.Errorf("%s: meetings = %v, %v, want %s", tt.name, got, err, tt.want)
		}
	}
}

// TestConflictsOfLargePatches: 500 patches with 2,000 files each. A search that
// compares each path of a patch with each of another makes 500 thousand million
// comparisons, and does not end before the tests are stopped.
func TestConflictsOfLargePatches(t *testing.T) {
	t.Parallel()
	var ids []string
	paths := map[string][]string{}
	for i := range 500 {
		id := fmt.Sprint("a", i)
		ids = append(ids, id)
		for k := range 2000 {
			paths[id] = append(paths[id], fmt.Sprintf("pkg/%04d/%04d", i, k))
		}
	}
	paths["a499"][1999] = paths["a0"][1999]
	met, err := meetings(t.Context(), ids, paths)
	if want := (queue.Conflict{First: "a0", Second: "a499"}); err != nil || len(met) != 1 || met[0] != want {
		t.Errorf("meetings = %v, %v, want %v", met, err, want)
	}
}
