package git

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBrokenObjectWords holds what is read from git's words about objects.
func TestBrokenObjectWords(t *testing.T) {
	t.Parallel()
	id := strings.Repeat("ab", 20)
	for said, want := range map[string]string{
		"error: inflate: data stream error\nfatal: loose object " + id + " (stored in /x/ab) is corrupt": "damaged",
		"fatal: packed object " + id + " (stored in /x/p.pack) is corrupt":                               "damaged",
		"fatal: unable to read tree (" + id + ")":                                                        "missing",
		"fatal: unable to read tree " + id:                                                               "missing",
		"error: unable to read sha1 file of d/f (" + id + ")":                                            "missing",
		"error: Could not read " + id:                                                                    "missing",
		"fatal: bad object " + id:                                                                        "missing",
		"error: invalid object 100644 " + id + " for 'f'":                                                "missing",
		"fatal: failed to read object " + id + ": No such file or directory":                             "missing",
		"fatal: not a tree object":                                                                       "",
		"fatal: unable to read askpass":                                                                  "",
	} {
		got := brokenObject(said)
		if (got == "") != (want == "") || !strings.Contains(got, want) || want != "" && !strings.Contains(got, id) {
			t.Errorf("%q: %q, want %q", said, got, want)
		}
	}
}

// TestBrokenObjects holds that a real git's words are among them, whichever
// object is gone or damaged.
func TestBrokenObjects(t *testing.T) {
	t.Parallel()
	for _, rev := range []string{"HEAD:f", "HEAD^{tree}"} {
		for _, damage := range []string{"missing", "damaged"} {
			g := newGround(t)
			g.commit("f", "text\n")
			id := strings.TrimSpace(g.git("rev-parse", rev))
			file := filepath.Join(g.root, ".git", "objects", id[:2], id[2:])
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
			if damage == "damaged" {
				if err := os.WriteFile(file, []byte("junk"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			_, err := g.repo().Run(t.Context(), Cmd{Args: []string{"read-tree", "--reset", "-u", "HEAD"}, Env: []string{"GIT_INDEX_FILE=" + filepath.Join(g.home, "index")}, Writes: true})
			var bad *Error
			if !errors.As(err, &bad) || !strings.Contains(err.Error(), " of this repository is "+damage) {
				t.Errorf("%s %s: %v", rev, damage, err)
			}
		}
	}
}

// TestLostObjects: an object that a ref or a commit leads to is named where git
// itself names none.
func TestLostObjects(t *testing.T) {
	t.Parallel()
	for _, rev := range []string{"HEAD", "HEAD^{tree}"} {
		g := newGround(t)
		g.commit("f", "text\n")
		head := Hash(strings.TrimSpace(g.git("rev-parse", "HEAD")))
		id := strings.TrimSpace(g.git("rev-parse", rev))
		if err := os.Remove(filepath.Join(g.root, ".git", "objects", id[:2], id[2:])); err != nil {
			t.Fatal(err)
		}
		_, err := g.repo().Commit(t.Context(), "HEAD")
		if rev != "HEAD" {
			_, err = g.repo().TreeOf(t.Context(), head)
		}
		var lost *MissingObjectError
		if !errors.As(err, &lost) || string(lost.ID) != id {
			t.Errorf("%s: %v, want the object %s", rev, err, id)
		}
	}
	g := newGround(t)
	g.commit("f", "text\n")
	var bad *RevError
	for _, rev := range []string{"nope", strings.Repeat("ab", 20)} {
		if _, err := g.repo().Commit(t.Context(), rev); !errors.As(err, &bad) {
			t.Errorf("%s: %v, want that it is no commit", rev, err)
		}
	}
}
