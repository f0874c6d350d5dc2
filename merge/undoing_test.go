package merge

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// shownUndoing is an undoing in short.
func shownUndoing(all []Undoing) string {
	var out []string
	for _, u := range all {
		for _, l := range u.Lines {
			out = append(out, fmt.Sprintf("%s with %s: %s:%d:%s", u.ID, strings.Join(u.With, ","), l.Path, l.Number, l.Text))
		}
		if u.More > 0 {
			out = append(out, fmt.Sprintf("%d more", u.More))
		}
	}
	return strings.Join(out, "; ")
}

// TestMergeUndoing: a patch whose work began before lines landed is left out if it takes
// these back. The others land.
func TestMergeUndoing(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	old := lines("1", "2", "3", "4", "5", "6", "7", "8", "9")
	origin := f.commit(map[string]string{"f": old, "g": "g\n", "h": "h\n", "bin": "a\x00b"})
	landed := strings.Replace(old, "3", "three", 1)
	base := f.side(origin, map[string]string{"f": landed, "g": "g\nmore\n", "bin": "a\x00c"})
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"a whole file from the old version", map[string]string{"f": strings.Replace(old, "8", "eight", 1)}, "a2 with : f:3:three"},
		{"an edit on the new version", map[string]string{"f": strings.Replace(landed, "8", "eight", 1)}, ""},
		{"an edit of the landed line", map[string]string{"f": strings.Replace(landed, "three", "three and more", 1)}, ""},
		{"the line moves to another file", map[string]string{"g": "g\n", "new": "more\n"}, ""},
		{"the line is gone", map[string]string{"g": "g\n", "new": "other\n"}, "a2 with : g:2:more"},
		{"a landed file is removed", map[string]string{"g": ""}, "a2 with : g:2:more"},
		{"no text", map[string]string{"bin": "a\x00b"}, "a2 with : bin:0:"},
		{"a new version of no text", map[string]string{"bin": "a\x00d"}, ""},
	} {
		p := f.patch("a2", base, tt.files)
		other := f.patch("a3", base, map[string]string{"h": "hh\n"})
		p.Origin = origin
		out := f.merge(base, p, other)
		if got := shownUndoing(out.Undoing); got != tt.want {
			t.Errorf("%s: undoing %q, want %q", tt.name, got, tt.want)
		}
		landed := []string{"a2", "a3"}
		if tt.want != "" {
			landed = landed[1:]
		}
		if got := ids(out); !slices.Equal(got, landed) || len(out.Conflicts) > 0 {
			t.Errorf("%s: landed %q, want %q", tt.name, got, landed)
		}
		p.Origin = ""
		if out := f.merge(base, p); len(out.Undoing) > 0 {
			t.Errorf("%s: a patch without an origin is left out", tt.name)
		}
	}

	// The lines may have landed in the same merge, and the patch is named.
	first := f.patch("a1", origin, map[string]string{"h": "h\nadded\n"})
	same := f.side(origin, map[string]string{"h": "h\nadded\n"})
	late := f.patch("a2", same, map[string]string{"h": "h\n"})
	late.Origin = origin
	if got, want := shownUndoing(f.merge(origin, first, late).Undoing), "a2 with a1: h:2:added"; got != want {
		t.Errorf("after a patch of the same merge: undoing %q, want %q", got, want)
	}

	// Many lines are counted.
	long := strings.Repeat("line of a long file\n", 1) + numbered(40)
	base = f.side(origin, map[string]string{"f": old + long})
	p := f.patch("a2", base, map[string]string{"f": old})
	p.Origin = origin
	out := f.merge(base, p)
	if u := out.Undoing; len(u) != 1 || len(u[0].Lines) != maxUndoing || u[0].More != 21 {
		t.Errorf("41 lines: undoing %s", shownUndoing(u))
	}
}

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "added %d\n", i)
	}
	return b.String()
}

// TestMergeUndoingResolution: a resolution combines both sides of a conflict, and keeps
// each line that landed elsewhere.
func TestMergeUndoingResolution(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	old := lines("1", "2", "3", "4", "5", "6", "7", "8", "9")
	origin := f.commit(map[string]string{"f": old})
	tip := f.side(origin, map[string]string{"f": lines("1", "2", "one", "4", "5", "6", "7", "8", "nine")})
	conflicting := f.patch("a2", origin, map[string]string{"f": strings.Replace(old, "3", "two", 1)})
	marked, err := Mark(t.Context(), f.q, MarkRequest{
		Onto: tip, Patch: conflicting, Labels: Labels{Ours: "main", Base: "base", Theirs: "a2"}, Committer: committer,
	})
	f.must(err)
	if marked.Conflict == nil {
		t.Fatal("the patches do not conflict")
	}
	resolves := &Resolution{Patch: conflicting.Commit, Hunks: marked.Conflict.Hunks}
	for _, tt := range []struct{ name, text, want string }{
		{"both are kept", lines("1", "2", "one and two", "4", "5", "6", "7", "8", "nine"), ""},
		{"its own side wins", lines("1", "2", "two", "4", "5", "6", "7", "8", "nine"), "a2 with : f:3:one"},
		{"a line elsewhere is changed", lines("1", "2", "one and two", "4", "5", "6", "7", "8", "NINE"), "a2 with : f:9:nine"},
	} {
		p := f.patch("a2", tip, map[string]string{"f": tt.text})
		p.Origin, p.Resolves = origin, resolves
		if got := shownUndoing(f.merge(tip, p).Undoing); got != tt.want {
			t.Errorf("%s: undoing %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestMergeUnresolved: a patch that began with conflict markers is in conflict while it
// has any of them. A separator that the file has itself does not count.
func TestMergeUnresolved(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	base := f.commit(map[string]string{"f": "one\n", "doc": "title\n=======\n"})
	labels := Labels{Ours: "main 1", Base: "before both", Theirs: "a2"}
	markers := &Markers{Labels: labels, Files: []MarkedFile{{Path: "f"}, {Path: "doc", Separators: 1}}}
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{"resolved", map[string]string{"f": "one and two\n", "doc": "new title\n=======\n"}, nil},
		{"a marker", map[string]string{"f": "<<<<<<< main 1\none\n=======\ntwo\n>>>>>>> a2\n"}, []string{"f"}},
		{"only a separator", map[string]string{"f": "one\n=======\ntwo\n"}, []string{"f"}},
		{"a marker in another file", map[string]string{"new": ">>>>>>> a2\n"}, []string{"new"}},
		{"a marker of others", map[string]string{"new": "<<<<<<< HEAD\n"}, nil},
	} {
		p := f.patch("a2", base, tt.files)
		p.Markers = markers
		out := f.merge(base, p)
		var got []string
		for _, c := range out.Conflicts {
			got = append(got, c.Paths...)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: in conflict %q, want %q", tt.name, got, tt.want)
		}
	}
}
