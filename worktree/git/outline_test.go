package git

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOutline: which lines changed, without any of them; lines that look like
// headers of a patch, and names that git quotes, change nothing in that.
func TestOutline(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	from := g.commit("a", strings.Repeat("x\n", 30), "gone", "1\n2\n", "tricky", "@@ -1,9 +1,9 @@\ndiff --git a/a b/a\n", "link", "1\n", "bin", "\x00a")
	g.write("a", "y\n"+strings.Repeat("x\n", 20)+"y\ny\n"+strings.Repeat("x\n", 8), "tricky", "diff --git a/b b/b\n@@ -1,9 +1,9 @@\n@@ -5 +5 @@\n",
		"new \tname", "1\n2\n3\n", "bin", "\x00b")
	g.ok(os.Remove(filepath.Join(g.root, "gone")))
	g.ok(os.Remove(filepath.Join(g.root, "link")))
	g.ok(os.Symlink("a", filepath.Join(g.root, "link")))
	q, err := g.repo().Quarantine(filepath.Join(g.home, "objects"))
	g.ok(err)
	to, err := q.Snapshot(t.Context(), from)
	g.ok(err)
	all, err := q.Outline(t.Context(), from, to)
	g.ok(err)
	var got []string
	for _, o := range all {
		got = append(got, fmt.Sprintf("%c %s +%d -%d %t %v", o.Status, o.Path, o.Added, o.Deleted, o.Binary, o.Spans))
	}
	want := []string{
		"M a +3 -2 false [{1 1} {22 2}]",
		"M bin +0 -0 true []",
		"D gone +0 -2 false [{0 0}]",
		"T link +1 -1 false [{0 0} {1 1}]",
		"A new \tname +3 -0 false [{1 3}]",
		"M tricky +2 -1 false [{1 1} {3 1}]",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("Outline =\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	stat, err := q.Stat(t.Context(), from, to)
	g.ok(err)
	added, deleted := 0, 0
	for _, o := range all {
		added, deleted = added+o.Added, deleted+o.Deleted
	}
	if len(all) != stat.Files || added != stat.Added || deleted != stat.Deleted {
		t.Errorf("Outline counts %d files, +%d -%d, and Stat says %+v", len(all), added, deleted, stat)
	}
}

// FuzzOutliner: whatever is written to it, in whatever pieces, it neither
// panics nor grows with the text.
func FuzzOutliner(f *testing.F) {
	f.Add([]byte("diff --git a/a b/a\n@@ -1,2 +3 @@ x\n+y\n"), 3)
	f.Add([]byte("@@ -1 +1 @@\ndiff --git\nBinary files a and b differ\n@@ -,, +-1,9 @@"), 1)
	f.Fuzz(func(t *testing.T, text []byte, size int) {
		whole, parts := &outliner{}, &outliner{}
		write := func(s *outliner, p []byte) {
			if n, err := s.Write(p); n != len(p) || err != nil {
				t.Fatalf("Write = %d, %v", n, err)
			}
		}
		write(whole, text)
		size = max(1, min(size, len(text)))
		for rest := text; len(rest) > 0; {
			n := min(size, len(rest))
			write(parts, rest[:n])
			rest = rest[n:]
		}
		if fmt.Sprint(whole.files) != fmt.Sprint(parts.files) || len(whole.part) > longestHeader {
			t.Errorf("in pieces of %d: %v, whole: %v", size, parts.files, whole.files)
		}
	})
}
