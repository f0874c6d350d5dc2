package git

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestPack: git reads our packs, and the names equal git's.
func TestPack(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	g.git("commit", "-q", "--allow-empty", "-m", "x")
	base := Hash(g.git("rev-parse", "HEAD"))
	r, err := New(g.environ()).Discover(t.Context(), g.root)
	g.ok(err)
	frozen, err := r.Freeze(t.Context(), filepath.Join(g.home, "frozen"))
	g.ok(err)
	q := frozen.Lazy(filepath.Join(g.home, "q"))
	p, err := q.Pack()
	g.ok(err)
	random := rand.New(rand.NewPCG(1, 2))
	var entries []TreeEntry
	for i, size := range []int{0, 1, 15, 16, 17, 2047, 2048, 300_000} {
		text := make([]byte, size)
		for j := range text {
			text[j] = byte(random.IntN(7))
		}
		id, err := p.Blob(text)
		g.ok(err)
		if again, err := p.Blob(text); again != id || err != nil || p.Name(text) != id {
			t.Errorf("the same blob is %s, %v, want %s", again, err, id)
		}
		entries = append(entries, TreeEntry{Name: fmt.Sprint("f", i), Mode: "100644", ID: id})
	}
	tree, err := p.Tree(entries)
	g.ok(err)
	who := Person{Name: " A <x> ", Email: "a@x", When: time.Unix(1, 0).UTC()}
	request := CommitRequest{Tree: tree, Parents: []Hash{base}, Message: "no line end", Author: who, Committer: Swarm(who.When)}
	commit, err := p.Commit(request)
	g.ok(err, p.Close())
	if want, err := q.CommitTree(t.Context(), request); want != commit || err != nil {
		t.Errorf("commit = %s, want %s, %v", commit, want, err)
	}
	var patch, again bytes.Buffer
	g.ok(q.WritePatch(t.Context(), &patch, base, tree))
	baseTree, err := r.TreeOf(t.Context(), base)
	g.ok(err)
	d, err := q.Differ(t.Context())
	g.ok(err)
	for range 2 {
		again.Reset()
		g.ok(d.WritePatch(t.Context(), &again, baseTree, tree))
		if !bytes.Equal(patch.Bytes(), again.Bytes()) {
			t.Errorf("a patch of %d bytes, want the %d of git", again.Len(), patch.Len())
		}
	}
	if err := d.WritePatch(t.Context(), &again, baseTree, Hash(strings.Repeat("1", 40))); err == nil {
		t.Error("a patch to a tree that is not there")
	}
	g.ok(d.Close())
	g.ok(q.Publish(t.Context(), PublishRequest{
		Refs: []RefUpdate{{Ref: "refs/x/y", New: commit}}, Have: []Hash{base}, Pack: p, Plain: true,
	}))
	g.ok(p.Discard(), q.Discard())
	g.git("fsck", "--strict", "--no-dangling")
	g.git("verify-pack", filepath.Join(r.CommonDir, "objects", "pack", p.name+".idx"))
	if got := g.git("cat-file", "-s", "refs/x/y:f7"); got != "300000" {
		t.Errorf("f7 has %s bytes", got)
	}
	if left, err := filepath.Glob(filepath.Join(r.CommonDir, "objects", "pack", "*.keep")); err != nil || len(left) > 0 {
		t.Errorf("kept: %v, %v", left, err)
	}
}

// TestPatchCount holds that the lines of a patch are counted as git counts
// them, in whatever pieces they come.
func TestPatchCount(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	put := func(files ...string) Hash {
		for i := 0; i < len(files); i += 2 {
			g.ok(writeText(filepath.Join(g.root, files[i]), files[i+1]))
		}
		g.git("add", "-A")
		g.git("commit", "-q", "-m", "x")
		return Hash(g.git("rev-parse", "HEAD^{tree}"))
	}
	from := put("a", "1\n2\n3\n", "b", "--- x\n", "c", "@@ -1 +1 @@\n", "d", "a\x00b", "e", "no end")
	to := put("a", "1\nx\n3\n\n4", "b", "+++ y\n-- z\n", "c", "@@ -9,9 +9,9 @@\n@@ -1,4 +1 @@\n", "d", "c\x00", "e", "no end\n", "n", "n\n")
	r, err := New(g.environ()).Discover(t.Context(), g.root)
	g.ok(err)
	q, err := r.Quarantine(filepath.Join(g.home, "q"))
	g.ok(err)
	var patch bytes.Buffer
	g.ok(q.WritePatch(t.Context(), &patch, from, to))
	want, err := q.Stat(t.Context(), from, to)
	g.ok(err)
	for _, size := range []int{1, 7, 100, patch.Len()} {
		var c PatchCount
		for text := patch.Bytes(); len(text) > 0; {
			n, err := c.Write(text[:min(size, len(text))])
			g.ok(err)
			text = text[n:]
		}
		if c.Added != want.Added || c.Deleted != want.Deleted {
			t.Errorf("in pieces of %d: %d added, %d deleted, want %+v", size, c.Added, c.Deleted, want)
		}
	}
}

func writeText(path, text string) error { return os.WriteFile(path, []byte(text), 0o644) }
