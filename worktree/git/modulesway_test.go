package git

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheckMoveModules: a checkout of a submodule blocks files in its place, and the
// record of another commit. It does not block the record of its own commit.
func TestCheckMoveModules(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	lib := filepath.Join(g.home, "lib")
	g.in(g.home, "init", "-q", "-b", "main", lib)
	id := []string{"-c", "user.name=u", "-c", "user.email=u"}
	g.ok(os.WriteFile(filepath.Join(lib, "x"), []byte("1\n"), 0o644), os.WriteFile(filepath.Join(lib, ".gitignore"), []byte("built\n"), 0o644))
	g.in(lib, "add", "-A")
	g.in(lib, append(id, "commit", "-q", "-m", "lib")...)
	g.write("f", "1\n")
	g.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", lib, "sm")
	with := g.commit()
	variant := func(entries ...string) Hash {
		g.git("read-tree", string(with))
		g.git("rm", "-q", "--cached", "sm")
		blob := g.git("rev-parse", string(with)+":f")
		for _, e := range entries {
			mode, path, _ := strings.Cut(e, " ")
			g.git("update-index", "--add", "--cacheinfo", mode+","+blob+","+path)
		}
		tree := g.git("write-tree")
		return Hash(g.git("commit-tree", "-p", string(with), "-m", "next", tree))
	}
	gone, file, link, files := variant(), variant("100644 sm"), variant("120000 sm"), variant("100644 sm/new")
	repo, sm := g.repo(), filepath.Join(g.root, "sm")
	for _, tt := range []struct {
		name        string
		from, to    Hash
		dirty       string // a file of the submodule that the user makes
		head        string // the commit there; empty: the recorded commit
		paths, ways string // of the error; both empty: none
		hint        string
	}{
		{name: "removed", from: with, to: gone},
		{name: "recorded again", from: gone, to: with},
		{name: "recorded again with changes in it", from: gone, to: with, dirty: "mine"},
		{name: "another commit", from: gone, to: with, head: "other", ways: "sm", hint: "check out commit"},
		{name: "a file", from: with, to: file, ways: "sm", hint: "git submodule deinit"},
		{name: "a symlink", from: with, to: link, ways: "sm", hint: "git submodule deinit"},
		{name: "files", from: with, to: files, ways: "sm", hint: "git submodule deinit"},
		{name: "files over a change", from: with, to: files, dirty: "x", paths: "sm/x", hint: "commit, stash"},
		{name: "files over an untracked file", from: with, to: files, dirty: "mine", paths: "sm/mine", hint: "commit, stash"},
		{name: "files over an ignored file", from: with, to: files, dirty: "built", paths: "sm/built", hint: "commit, stash"},
	} {
		g.git("read-tree", string(tt.from))
		if tt.head != "" {
			g.in(sm, append(id, "commit", "-q", "--allow-empty", "-m", tt.head)...)
		}
		if tt.dirty != "" {
			g.ok(os.WriteFile(filepath.Join(sm, tt.dirty), []byte("mine\n"), 0o644))
		}
		changes, err := repo.Changes(t.Context(), tt.from, tt.to)
		g.ok(err)
		err = repo.CheckMove(t.Context(), CheckRequest{From: tt.from, Changes: changes, Scratch: g.home})
		var dirty *DirtyError
		var ways []string
		if errors.As(err, &dirty) {
			for _, m := range dirty.Modules {
				ways = append(ways, m.Path)
			}
		} else {
			g.ok(err)
			dirty = &DirtyError{}
		}
		if paths := strings.Join(dirty.Paths, " "); paths != tt.paths || strings.Join(ways, " ") != tt.ways {
			t.Errorf("%s: paths %q, submodules %q; want %q, %q", tt.name, paths, ways, tt.paths, tt.ways)
		}
		if !strings.Contains(dirty.Hint(), tt.hint) {
			t.Errorf("%s: hint %q, want %q", tt.name, dirty.Hint(), tt.hint)
		}
		g.in(sm, "reset", "-q", "--hard", "origin/main")
		g.in(sm, "clean", "-q", "-fdx")
	}
}
