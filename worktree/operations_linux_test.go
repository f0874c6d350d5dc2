package worktree

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentswarm/worktree/workspace"
)

// envRename makes this test binary a program that renames a file.
const envRename = "WORKTREE_TEST_RENAME"

// TestRename is the program of [TestOperations].
func TestRename(t *testing.T) {
	from, to, ok := strings.Cut(os.Getenv(envRename), ":")
	if !ok {
		t.Skip("run by TestOperations")
	}
	must(t, os.Rename(from, to))
}

// operations are actions of programs on files, a script each.
func operations() map[string]string {
	return map[string]string{
		"rename a file":  "git mv a z; test ! -e a; test \"$(cat z)\" = a; git status --porcelain | grep -q '^R'",
		"rename over":    "mv a d/b; test \"$(cat d/b)\" = a; test ! -e a",
		"hard links":     "ln a a2; echo x >> a2; test \"$(cat a)\" = \"$(cat a2)\"; ln n n2 2>/dev/null || :; rm a; grep -q x a2",
		"modes":          "chmod 000 a; chmod 600 a; chmod +x d/b; git status --porcelain | grep -q 'M d/b'",
		"move a folder":  "mv d g; test \"$(cat g/b)\" = b; test ! -e d; git add -A; git status --porcelain | grep -q '^R'",
		"a folder anew":  "rm -r d; mkdir d; test -z \"$(ls d)\"; touch d/new; test \"$(ls d)\" = new",
		"file to folder": "rm a; mkdir a; touch a/x; rm -r a; echo a > a; git diff --quiet a",
		"long names": `p=; for i in 1 2 3 4 5 6 7 8 9; do p=$p$(printf '%0200d' $i)/; done
			mkdir -p $p; echo x > ${p}f; git add -A; git commit -qm long; test "$(cat ${p}f)" = x`,
		"odd names": `mkdir 'a b,c:d\e'; echo x > 'a b,c:d\e/f
g'; git add -A; git commit -qm odd; git status --porcelain | wc -l | grep -qx 0`,
		"mmap": `python3 -c "
import mmap
f = open('a', 'r+b'); m = mmap.mmap(f.fileno(), 0); m[0:1] = b'M'; m.flush(); m.close()
h = open('a', 'r+b'); g = mmap.mmap(h.fileno(), 0); assert g[0:1] == b'M'
"; grep -q M a; git diff --quiet a && exit 1 || :`,
		"sqlite": `python3 -c "
import sqlite3, os
a = sqlite3.connect('db'); assert a.execute('pragma journal_mode=wal').fetchone()[0] == 'wal'
a.execute('create table t(x)'); a.execute('insert into t values(1)'); a.commit()
b = sqlite3.connect('db'); assert b.execute('select x from t').fetchone()[0] == 1
b.execute('insert into t values(2)'); b.commit()
assert a.execute('select count(*) from t').fetchone()[0] == 2 and os.path.exists('db-wal')
"`,
		"inotify": `python3 -c "
import ctypes, os, struct
c = ctypes.CDLL(None); fd = c.inotify_init(); assert c.inotify_add_watch(fd, b'd', 0x100) >= 0
open('d/made', 'w').close()
assert b'made' in os.read(fd, 4096)
"`,
		"locks": `python3 -c "
import fcntl
f = open('a', 'r+'); fcntl.flock(f, fcntl.LOCK_EX); fcntl.lockf(f, fcntl.LOCK_EX)
"`,
	}
}

// renames are programs that rename $1 to $2, by their language.
func renames() map[string]string {
	return map[string]string{
		"Go":     envRename + `="$1:$2" "$SELF" -test.run='^TestRename$'`,
		"Node":   `node -e 'require("fs").renameSync(process.argv[1], process.argv[2])' "$1" "$2"`,
		"Python": `python3 -c 'import os, sys; os.rename(sys.argv[1], sys.argv[2])' "$1" "$2"`,
	}
}

// needs skips a test whose script calls a program that is not installed.
func needs(t *testing.T, script string) {
	t.Helper()
	for _, program := range []string{"python3", "node"} {
		if _, err := exec.LookPath(program); err != nil && strings.Contains(script, program+" ") {
			t.Skip(err)
		}
	}
}

// TestOperations: programs can do the same in a workspace as in a checkout.
func TestOperations(t *testing.T) {
	t.Parallel()
	eachOf(t, operationsOn(t), func(t *testing.T, b workspace.Backend) {
		f := newFixture(t)
		base := f.commit("a", "a\n", "d/b", "b\n", "d/e/f", "f\n")
		f.open()
		namespaces(t, f)
		f.private(b)
		for name, script := range operations() {
			t.Run(name, func(t *testing.T) {
				needs(t, script)
				w := f.lease(base)
				if out, err := f.tryInside(w, script); err != nil {
					t.Errorf("%v\n%s", err, out)
				}
				must(t, f.trees.Drop(t.Context(), *w))
			})
		}
		for name, rename := range renames() {
			t.Run("rename in "+name, func(t *testing.T) {
				needs(t, rename)
				w := f.lease(base)
				rename = "rename() { " + rename + " >&2; }\n"
				out, err := f.tryInside(w, rename+`mkdir -p n/m; echo x > n/m/f
					rename n k; test "$(cat k/m/f)" = x; test ! -e n
					rename a d/z; test "$(cat d/z)" = a; test ! -e a; git status --porcelain | grep -q '^ D a'`)
				if err != nil {
					t.Errorf("%v\n%s", err, out)
				}
				out, err = f.tryInside(w, rename+`rename d y; test "$(cat y/e/f)" = f; test ! -e d`)
				// The kernel refuses it: programs that move folders copy them then.
				if (err != nil) != (b == workspace.Overlay) || err != nil && !strings.Contains(out, "cross-device") {
					t.Errorf("rename a folder of the base: %v\n%s", err, out)
				}
				must(t, f.trees.Drop(t.Context(), *w))
			})
		}
	})
}

// operationsOn are the backends of TestOperations. In the gate it is the overlay,
// in which renames differ, and clones on the disks of TestFileSystems: the files
// of the others are as in any checkout.
func operationsOn(t *testing.T) []workspace.Backend {
	t.Helper()
	if os.Getenv(envEach) == string(workspace.Reflink) {
		return []workspace.Backend{workspace.Reflink}
	}
	return inGate(t, workspace.Overlay)
}

// TestUserKeepsHouse has the user's git remove all it thinks is of no use while
// agents work.
func TestUserKeepsHouse(t *testing.T) {
	t.Parallel()
	eachOf(t, slices.DeleteFunc(inGate(t, workspace.Overlay), func(b workspace.Backend) bool { return b == workspace.Linked }), userKeepsHouse)
}

func userKeepsHouse(t *testing.T, b workspace.Backend) {
	f := newFixture(t)
	f.commit("a", "a\n", "d/b", "b\n")
	base := f.commit("a", "2\n")
	far := filepath.Join(f.home, "far")
	f.in(f.home, "clone", "-q", "--bare", f.root, far)
	f.git("remote", "add", "origin", far)
	f.git("update-ref", "refs/swarm/k3x9q2/base", string(base))
	f.open()
	namespaces(t, f)
	f.private(b)
	w := f.lease(base)
	f.inside(w, "echo 1 > n; git add n; git commit -qm one")
	for _, args := range [][]string{
		{"worktree", "prune", "--expire=now"}, {"fetch", "-q", "origin"}, {"gc", "-q", "--prune=now"}, {"repack", "-q", "-a", "-d"},
		{"reflog", "expire", "--expire=now", "--all"}, {"pack-refs", "--all"}, {"prune", "--expire=now"},
		{"log", "--all", "--oneline"}, {"fsck", "--strict"},
	} {
		f.git(args...)
		f.inside(w, "git status --porcelain; git log -p --oneline; echo x >> n; git commit -qam more; git fsck --strict")
	}
	next := f.lease(base)
	if got := f.inside(next, "cat a; git log --oneline | wc -l"); got != "2\n2" {
		t.Errorf("a new one: %q", got)
	}
	if got := f.git("worktree", "list"); strings.Contains(got, "\n") {
		t.Errorf("worktrees: %s", got)
	}
}

// TestUpperIsFull has the disk of the changes fill up.
func TestUpperIsFull(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	base := f.commit("a", "a\n", "d/b", "b\n")
	f.open()
	namespaces(t, f)
	f.private(workspace.Overlay)
	w := f.lease(base)
	f.small = w.Dir
	out, err := f.tryInside(w, `
		! dd if=/dev/zero of=big bs=1M count=4 2>/dev/null
		! echo x >> d/b 2>/dev/null || :
		test "$(cat a)" = a; rm big; echo y > d/b; test "$(cat d/b)" = y; rm a; test ! -e a
		echo went on`)
	if err != nil || !strings.HasSuffix(out, "went on") {
		t.Errorf("%v: %s", err, out)
	}
}

// TestOddPlaces has a repository and a state folder at paths that the options of
// a mount could not hold.
func TestOddPlaces(t *testing.T) {
	t.Parallel()
	each(t, oddPlaces)
}

func oddPlaces(t *testing.T, b workspace.Backend) {
	long := strings.Repeat(strings.Repeat("x", 190)+"/", 5)
	for i, dir := range []string{"a b,c:d", `x\040y\`, "a'\"\nb", long, "é☂"} {
		if b != workspace.Overlay && !hasTurn(t, i, b) { // the options of its mount hold the paths
			continue
		}
		name := []string{"blank, comma, colon", "backslash", "quote, newline", "long", "not ASCII"}[i]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			moved := filepath.Join(filepath.Dir(f.root), "repo", dir)
			f.mkdir(filepath.Dir(moved))
			must(t, os.Rename(f.root, moved))
			f.root = moved
			f.state = filepath.Join(f.state, dir)
			base := f.commit("a", "a\n", "d/b", "b\n")
			f.open()
			namespaces(t, f)
			f.private(b)
			w := f.lease(base)
			got := f.inside(w, "rm a; echo c > d/c; git add -A; git commit -qm x; git ls-files; git log --oneline | wc -l")
			if got != "d/b\nd/c\n2" {
				t.Errorf("inside: %q", got)
			}
			must(t, f.trees.Drop(t.Context(), *w))
			f.clean(w)
		})
	}
}
