package git

import (
	"fmt"
	"reflect"
	"testing"
)

// TestGrep: it finds fixed strings with path and line, also in names that are not
// plain, and stops after the most lines.
func TestGrep(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	commit := g.commit("a.go", "one\nio.Read(x)\n", "dir/b: c.txt", "io.Read\nioXRead\n[io.Read]\n", "bin", "io.Read\x00")
	find := func(most int, words ...string) (all []string, more bool) {
		more, err := g.repo().Grep(t.Context(), GrepRequest{Commit: commit, Words: words, Most: most, Take: func(path string, line int, text string) {
			all = append(all, fmt.Sprintf("%s:%d:%s", path, line, text))
		}})
		if err != nil {
			t.Fatal(err)
		}
		return all, more
	}
	all, more := find(9, "io.Read", "one")
	if want := []string{"a.go:1:one", "a.go:2:io.Read(x)", "dir/b: c.txt:1:io.Read", "dir/b: c.txt:3:[io.Read]"}; more || !reflect.DeepEqual(all, want) {
		t.Errorf("Grep = %q, more: %t; want %q", all, more, want)
	}
	if all, more := find(1, "io.Read"); !more || len(all) != 1 {
		t.Errorf("Grep of at most 1 line = %q, more: %t", all, more)
	}
	for _, words := range [][]string{nil, {"not there"}} {
		if all, more := find(9, words...); more || len(all) != 0 {
			t.Errorf("Grep(%q) = %q", words, all)
		}
	}
	if _, err := g.repo().Grep(t.Context(), GrepRequest{Commit: "0123456789012345678901234567890123456789", Words: []string{"x"}, Most: 1}); err == nil {
		t.Error("Grep of a commit that is missing found nothing, without an error")
	}
}
