package merge

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"agentswarm/worktree/git"
)

var labels = Labels{Ours: "main 1a2b3c4d5e", Base: "before", Theirs: "a2 (web)"}

// mark puts a patch onto a commit.
func (f *fixture) mark(onto git.Hash, p Patch) *Marked {
	f.Helper()
	got, err := Mark(f.Context(), f.q, MarkRequest{Onto: onto, Patch: p, Labels: labels, Committer: committer})
	f.must(err)
	return got
}

// TestMark: changes that fit are applied, and conflicts stand between markers that
// name both sides and show their base.
func TestMark(t *testing.T) {
	t.Parallel()
	base := map[string]string{
		"f": lines("1", "2", "3"), "d/crlf": "1\r\n2\r\n3\r\n", "other": "o\n",
		"doc": lines("Title", "=======", "text"),
	}
	tests := []struct {
		name         string
		ours, theirs map[string]string
		want         map[string]string // of the files that changed against ours
		marks        []MarkedFile
		paths        []string
	}{
		{
			name: "fits", ours: map[string]string{"f": lines("0", "1", "2", "3")},
			theirs: map[string]string{"other": "new\n"}, want: map[string]string{"other": "new\n"},
		},
		{
			name: "contained", ours: map[string]string{"other": "new\n"}, theirs: map[string]string{"other": "new\n"},
			want: map[string]string{},
		},
		{
			name: "lines", ours: map[string]string{"f": lines("1", "ours", "3")},
			theirs: map[string]string{"f": lines("1", "theirs", "3"), "other": "new\n"},
			want: map[string]string{"other": "new\n", "f": lines("1", "<<<<<<< main 1a2b3c4d5e", "ours", "||||||| before", "2",
				"=======", "theirs", ">>>>>>> a2 (web)", "3")},
			marks: []MarkedFile{{Path: "f"}}, paths: []string{"f"},
		},
		{
			name: "lines below a title", ours: map[string]string{"doc": lines("Title", "=======", "ours")},
			theirs: map[string]string{"doc": lines("Title", "=======", "theirs")},
			want: map[string]string{"doc": lines("Title", "=======", "<<<<<<< main 1a2b3c4d5e", "ours", "||||||| before", "text",
				"=======", "theirs", ">>>>>>> a2 (web)")},
			marks: []MarkedFile{{Path: "doc", Separators: 1}}, paths: []string{"doc"},
		},
		{
			name: "carriage returns", ours: map[string]string{"d/crlf": "1\r\nours\r\n3\r\n"},
			theirs: map[string]string{"d/crlf": "1\r\ntheirs\r\n3\r\n"},
			want: map[string]string{"d/crlf": "1\r\n<<<<<<< main 1a2b3c4d5e\r\nours\r\n||||||| before\r\n2\r\n" +
				"=======\r\ntheirs\r\n>>>>>>> a2 (web)\r\n3\r\n"},
			marks: []MarkedFile{{Path: "d/crlf"}}, paths: []string{"d/crlf"},
		},
		{
			name: "longer markers", ours: map[string]string{".gitattributes": "f conflict-marker-size=9\n", "f": lines("1", "ours", "3")},
			theirs: map[string]string{".gitattributes": "f conflict-marker-size=9\n", "f": lines("1", "theirs", "3")},
			marks:  []MarkedFile{{Path: "f"}}, paths: []string{"f"},
		},
		{
			name: "binary", ours: map[string]string{"f": "a\x00ours"}, theirs: map[string]string{"f": "a\x00theirs"},
			want: map[string]string{}, paths: []string{"f"},
		},
		{
			name: "deleted", ours: map[string]string{"f": ""}, theirs: map[string]string{"f": lines("1", "theirs", "3")},
			want: map[string]string{"f": lines("1", "theirs", "3")}, paths: []string{"f"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			from := f.commit(base)
			onto := f.side(from, tt.ours)
			got := f.mark(onto, f.patch("a2", from, tt.theirs))
			if !slices.Equal(got.Marks, tt.marks) {
				t.Errorf("Marks = %v, want %v", got.Marks, tt.marks)
			}
			var paths []string
			if got.Conflict != nil {
				paths = got.Conflict.Paths
			}
			if !slices.Equal(paths, tt.paths) {
				t.Errorf("conflict in %q, want %q", paths, tt.paths)
			}
			if tt.want != nil {
				before, after := f.files(onto), f.files(got.Commit)
				maps.DeleteFunc(after, func(path, text string) bool { return before[path] == text })
				if !maps.Equal(after, tt.want) {
					t.Errorf("changed files are %q, want %q", after, tt.want)
				}
			}
			if len(tt.marks) > 0 {
				left, err := Unresolved(t.Context(), f.q, UnresolvedRequest{From: onto, To: got.Commit, Labels: labels, Marks: got.Marks})
				f.must(err)
				if !slices.Equal(left, tt.paths) {
					t.Errorf("Unresolved = %q, want %q", left, tt.paths)
				}
			}
		})
	}
}

// TestMarkHunks: the places of a conflict are those of the sides, also where the
// markers show more beside them.
func TestMarkHunks(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	base := f.commit(map[string]string{"f": lines("1", "2", "3", "4")})
	onto := f.side(base, map[string]string{"f": lines("0", "1", "a", "b", "4")})
	got := f.mark(onto, f.patch("a2", base, map[string]string{"f": lines("1", "c", "4")}))
	if len(got.Conflict.Hunks) != 1 {
		t.Fatalf("hunks are %v, want one", got.Conflict.Hunks)
	}
	h := got.Conflict.Hunks[0]
	if h.OursStart != 3 || h.OursLines != 2 || h.TheirsStart != 2 || h.TheirsLines != 1 {
		t.Errorf("hunk is %+v, want lines 3-4 and 2", h)
	}
}

func TestUnresolved(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		separators int
		want       bool
	}{
		{"resolved", lines("1", "both", "3"), 0, false},
		{"the first marker", lines("<<<<<<< main 1a2b3c4d5e", "1"), 0, true},
		{"the last marker", lines("1", ">>>>>>> a2 (web)"), 0, true},
		{"the marker of the base", lines("1", "||||||| before"), 0, true},
		{"without an end of line", "1\n>>>>>>> a2 (web)", 0, true},
		{"a carriage return", "1\r\n>>>>>>> a2 (web)\r\n", 0, true},
		{"a path", lines(">>>>>>> a2 (web):old/name"), 0, true},
		{"a separator", lines("1", "======="), 0, true},
		{"its own separator", lines("Title", "======="), 1, false},
		{"a file that had no markers", lines("Title", "======="), -1, false},
		{"markers of others", lines("<<<<<<< HEAD", "1", ">>>>>>> topic"), 0, false},
		{"a longer name", lines(">>>>>>> a2 (web) and more"), 0, false},
		{"fewer signs", lines("<<<<<< main 1a2b3c4d5e"), 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := unresolved([]byte(tt.text), labels, tt.separators); got != tt.want {
				t.Errorf("unresolved(%q) = %v, want %v", tt.text, got, tt.want)
			}
		})
	}
}

// FuzzRenameMarkers: only names in markers change, and every marker that was
// renamed is found again.
func FuzzRenameMarkers(f *testing.F) {
	ours, theirs, base := strings.Repeat("a", 40), strings.Repeat("b", 40), strings.Repeat("c", 40)
	f.Add("1\n<<<<<<< " + ours + "\nx\n||||||| ccccccc\n=======\ny\n>>>>>>> " + theirs + "\n")
	f.Add("=======\n<<<<<<<<< " + ours + ":f\r\n=========\n>>>>>>>>> " + theirs)
	f.Add("<<<<<<<\n>>>>>>>\n|||||||")
	names := markerNames{r: merged{ours: git.Hash(ours), theirs: git.Hash(theirs)}, base: git.Hash(base), labels: labels}
	f.Fuzz(func(t *testing.T, text string) {
		out, separators, found := renameMarkers([]byte(text), names)
		if !found && string(out) != text {
			t.Errorf("no markers, and %q became %q", text, out)
		}
		if found && !unresolved(out, labels, separators) {
			t.Errorf("markers of %q are not found in %q", text, out)
		}
		if a, b := strings.Count(text, "\n"), strings.Count(string(out), "\n"); a != b {
			t.Errorf("%d lines became %d", a, b)
		}
	})
}

// TestConflictOfSubmodule: two commits of a submodule are a conflict in words of
// ours. Git's own words are about a checkout, and depend on the version.
func TestConflictOfSubmodule(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	link := func(from git.Hash, digit string) git.Hash {
		f.git("read-tree", string(from))
		f.git("update-index", "--add", "--cacheinfo", git.Gitlink+","+strings.Repeat(digit, 40)+",d/sub")
		return git.Hash(f.git("commit-tree", "-m", "link "+digit, "-p", string(from), f.git("write-tree")))
	}
	base := link(f.commit(map[string]string{"f": "1\n"}), "1")
	ours := link(base, "2")
	p := Patch{ID: "a2", Base: base, Commit: link(base, "3"), Subject: "m", Author: committer}
	for name, c := range map[string]*Conflict{
		"Merge": &f.merge(ours, p).Conflicts[0], "Mark": f.mark(ours, p).Conflict,
	} {
		want := []ModuleConflict{{Path: "d/sub", Ours: git.Hash(strings.Repeat("2", 40)), Theirs: git.Hash(strings.Repeat("3", 40))}}
		if !slices.Equal(c.Modules, want) || !slices.Equal(c.Paths, []string{"d/sub"}) {
			t.Errorf("%s: submodules %v in %q, want %v", name, c.Modules, c.Paths, want)
		}
		if text := `submodule "d/sub": commit 2222222222 in the target, commit 3333333333 in a2`; c.Text != text {
			t.Errorf("%s: text %q, want %q", name, c.Text, text)
		}
	}
}
