package git

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBrokenObjectWords checks the errors that are read from git's messages
// about objects.
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
		"error: unable to unpack " + id + " header\nfatal: git cat-file: could not get object info":      "damaged",
		"error: unable to unpack " + id + " header\nerror: unable to read sha1 file of f (" + id + ")":   "damaged",
		"error: object file .git/objects/" + id[:2] + "/" + id[2:] + " is empty":                         "damaged",
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
			g := newFixture(t)
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
		g := newFixture(t)
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
	g := newFixture(t)
	g.commit("f", "text\n")
	var bad *RevError
	for _, rev := range []string{"nope", strings.Repeat("ab", 20)} {
		if _, err := g.repo().Commit(t.Context(), rev); !errors.As(err, &bad) {
			t.Errorf("%s: %v, want that it is no commit", rev, err)
		}
	}
}

// TestDamagedObjects: an object whose file holds garbage, or nothing, is damaged,
// and not missing. That is the same for a commit, its tree and a file.
func TestDamagedObjects(t *testing.T) {
	t.Parallel()
	for _, rev := range []string{"HEAD", "HEAD^{tree}", "HEAD:f"} {
		for _, junk := range []string{"junk", ""} {
			g := newFixture(t)
			g.commit("f", "text\n")
			head := Hash(g.git("rev-parse", "HEAD"))
			id := g.git("rev-parse", rev)
			file := filepath.Join(g.root, ".git", "objects", id[:2], id[2:])
			g.ok(os.Remove(file), os.WriteFile(file, []byte(junk), 0o600))
			repo := g.repo()
			errs := map[string]error{}
			switch rev {
			case "HEAD":
				_, errs["Commit"] = repo.Commit(t.Context(), "HEAD")
			case "HEAD^{tree}":
				_, errs["TreeOf"] = repo.TreeOf(t.Context(), head)
				_, _, errs["CommitTree"] = repo.CommitTree(t.Context(), "HEAD")
			default:
				_, errs["Sizes"] = repo.Sizes(t.Context(), head)
				q, err := repo.Quarantine(filepath.Join(t.TempDir(), "q"))
				g.ok(err)
				objects := q.Objects()
				_, errs["Blob"] = objects.Blob(t.Context(), Hash(id), 100)
				g.ok(objects.Close())
			}
			for call, err := range errs {
				var lost *MissingObjectError
				if !errors.As(err, &lost) || string(lost.ID) != id || !lost.Damaged || !strings.Contains(err.Error(), " is damaged: ") {
					t.Errorf("%s %q: %s: %v, want that %s is damaged", rev, junk, call, err, id)
				}
			}
		}
	}
}

// TestDamagedIndex: git's messages about an unreadable index become an error
// with a hint. The error tells an index of our own from that of the user.
func TestDamagedIndex(t *testing.T) {
	t.Parallel()
	for _, junk := range []string{"", "junk", strings.Repeat("junk", 100), "DIRC\x00\x00\x00\x09" + strings.Repeat("x", 100)} {
		g := newFixture(t)
		g.commit("f", "text\n")
		index := filepath.Join(g.root, ".git", "index")
		g.ok(os.WriteFile(index, []byte(junk), 0o600))
		_, err := g.repo().Run(t.Context(), Cmd{Args: []string{"ls-files"}, Dir: g.root})
		if junk == "" { // an empty file is an index without entries to some versions of git
			continue
		}
		if err == nil || !strings.HasPrefix(err.Error(), "git ls-files: the index of this repository is damaged: `rm ") {
			t.Errorf("%q: %v, want that the index is damaged", junk, err)
		}
		_, err = g.repo().Run(t.Context(), Cmd{Args: []string{"ls-files"}, Dir: g.root, Env: []string{"GIT_INDEX_FILE=" + index}})
		if err == nil || strings.Contains(err.Error(), "is damaged") {
			t.Errorf("%q: %v, want git's words about an index of our own", junk, err)
		}
		g.ok(os.Remove(index)) // as the line says
		g.git("reset", "-q")
		if out := g.git("status", "--porcelain"); out != "" {
			t.Errorf("%q: after the advice: %s", junk, out)
		}
	}
}

// TestDamagedRef: a ref whose file holds no id is named with its reflog, and the
// advice puts it back.
func TestDamagedRef(t *testing.T) {
	t.Parallel()
	for _, junk := range []string{"", "junk\n", strings.Repeat("\x00", 41)} {
		for _, rev := range []string{"HEAD", "main"} {
			g := newFixture(t)
			g.commit("f", "text\n")
			id := g.git("rev-parse", "HEAD")
			file := filepath.Join(g.root, ".git", "refs", "heads", "main")
			g.ok(os.WriteFile(file, []byte(junk), 0o600))
			_, _, err := g.repo().CommitTree(t.Context(), rev)
			var damaged *DamagedRefError
			if !errors.As(err, &damaged) || damaged.File != file || damaged.Last != Hash(id) || damaged.Log != filepath.Join(g.root, ".git", "logs", "refs", "heads", "main") {
				t.Errorf("%s %q: %v, want the damaged ref and its reflog", rev, junk, err)
				continue
			}
			g.ok(os.Remove(file)) // as the line says
			g.git("update-ref", damaged.Ref, string(damaged.Last))
			if at, err := g.repo().Commit(t.Context(), rev); err != nil || string(at) != id {
				t.Errorf("%s %q: after the advice: %s, %v", rev, junk, at, err)
			}
		}
	}
	g := newFixture(t)
	var unborn *RevError
	if _, err := g.repo().Commit(t.Context(), "HEAD"); !errors.As(err, &unborn) {
		t.Errorf("an empty repository: %v, want that HEAD is no commit", err)
	}
	g.commit("f", "text\n")
	g.ok(os.WriteFile(filepath.Join(g.root, ".git", "refs", "heads", "main"), nil, 0o600), os.RemoveAll(filepath.Join(g.root, ".git", "logs")))
	if _, err := g.repo().Commit(t.Context(), "HEAD"); err == nil || !strings.HasSuffix(err.Error(), "it has no reflog; `git fsck --lost-found` lists commits that no ref names") {
		t.Errorf("without a reflog: %v", err)
	}
}
