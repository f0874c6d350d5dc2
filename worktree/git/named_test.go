package git

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"testing"
)

func TestNamed(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	g.write("NOTE", "top\n", "a b/NOTE", "", "a b/c/NOTE", "x\x00\ny", "KEYNOTE", "no\n", "note", "no\n", "d/NOTE/x", "no\n")
	g.ok(os.Mkdir(g.root+"/l", 0o755), os.Symlink("../NOTE", g.root+"/l/NOTE"))
	base := g.commit()
	ask := func(most, limit int) ([]NamedFile, error) {
		return g.repo().Named(t.Context(), NamedRequest{Commit: base, Name: "NOTE", Max: most, Limit: limit})
	}
	got, err := ask(4, 4096)
	g.ok(err)
	var words []string
	for _, f := range got {
		text := string(f.Text)
		if f.Text == nil {
			text = "none"
		}
		words = append(words, f.Path+" "+f.Mode+" "+text)
	}
	if want := []string{"NOTE 100644 top\n", "a b/NOTE 100644 ", "a b/c/NOTE 100644 x\x00\ny", "l/NOTE 120000 none"}; !slices.Equal(words, want) {
		t.Errorf("Named = %q, want %q", words, want)
	}
	var many *ManyError
	if _, err := ask(3, 4096); !errors.As(err, &many) {
		t.Errorf("of four files where three may be: %v", err)
	}
	var long *LongError
	if _, err := ask(4, 64); !errors.As(err, &long) {
		t.Errorf("of files that are too long: %v", err)
	}
	if got, err := g.repo().Named(t.Context(), NamedRequest{Commit: base, Name: "none", Max: 1, Limit: 1}); len(got) != 0 || err != nil {
		t.Errorf("of no files: %v, %v", got, err)
	}
	if _, err := g.repo().Named(t.Context(), NamedRequest{Commit: "1111111111111111111111111111111111111111", Name: "NOTE", Max: 1, Limit: 1}); err == nil {
		t.Error("no error for a commit that is not there")
	}
}

// TestNamedEntriesInPieces: the end of a write need not be the end of a record.
func TestNamedEntriesInPieces(t *testing.T) {
	t.Parallel()
	text := []byte("100644 blob 1111\tx/NOTE\x00100644 blob 2222\tOTHER\x00120000 blob 3333\tNOTE\x00")
	for size := 1; size <= len(text); size++ {
		n := namedEntries{name: "NOTE", most: 2}
		for part := range slices.Chunk(text, size) {
			if _, err := n.Write(part); err != nil {
				t.Fatal(err)
			}
		}
		want := []Entry{{Path: "x/NOTE", Mode: "100644", ID: "1111"}, {Path: "NOTE", Mode: "120000", ID: "3333"}}
		if !slices.Equal(n.all, want) {
			t.Errorf("in pieces of %d: %v, want %v", size, n.all, want)
		}
	}
}

func FuzzBatched(f *testing.F) {
	f.Add([]byte("11 blob 3\nabc\nrest"), "11")
	f.Add([]byte("11 blob 99999999999999999999\nabc\n"), "11")
	f.Add([]byte("11 missing\n"), "11")
	f.Fuzz(func(t *testing.T, text []byte, id string) {
		blob, rest, err := batched(text, Hash(id))
		if err == nil && !bytes.Contains(text, blob) || len(blob)+len(rest) > len(text) {
			t.Errorf("batched(%q) = %q, %q, %v", text, blob, rest, err)
		}
	})
}

func TestPublished(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	g.commit("a", "1\n")
	g.git("update-ref", "refs/remotes/origin/main", "HEAD")
	g.commit("a", "2\n")
	r := g.repo()
	for rev, want := range map[string]bool{"HEAD": false, "HEAD~1": true} {
		if got, err := r.Published(t.Context(), rev); got != want || err != nil {
			t.Errorf("Published(%q) = %v, %v, want %v", rev, got, err, want)
		}
		if got, err := r.Leads(t.Context(), rev); !got || err != nil {
			t.Errorf("Leads(%q) = %v, %v", rev, got, err)
		}
	}
	for _, rev := range []string{"", "none", "--all", "a\nb"} {
		var bad *RevError
		if _, err := r.Published(t.Context(), rev); !errors.As(err, &bad) {
			t.Errorf("Published(%q): %v", rev, err)
		}
		if got, err := r.Leads(t.Context(), rev); got || err != nil {
			t.Errorf("Leads(%q) = %v, %v", rev, got, err)
		}
	}
	names, err := r.RefNames(t.Context(), "refs/heads", "refs/remotes")
	if want := []string{"refs/heads/main", "refs/remotes/origin/main"}; !slices.Equal(names, want) || err != nil {
		t.Errorf("RefNames = %q, %v, want %q", names, err, want)
	}
}
