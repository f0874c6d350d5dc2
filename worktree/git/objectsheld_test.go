package git

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

// TestHold: only the holder sees held objects before the flush. After it git
// reads the same content.
func TestHold(t *testing.T) {
	t.Parallel()
	for _, format := range formats {
		for _, versions := range []int{3, 120} {
			y := newObjectFixture(t, "--object-format="+format)
			o := y.objects()
			o.Hold()
			want := map[Hash]string{}
			blob := y.hash("HEAD:a")
			var entries []TreeEntry
			for i := range 40 {
				entries = append(entries, TreeEntry{fmt.Sprintf("f%02d", i), "100644", blob})
			}
			was := y.hash("HEAD^{tree}")
			for i := range versions {
				entries = append([]TreeEntry(nil), entries...)
				entries[i%40] = TreeEntry{fmt.Sprintf("f%02d", i%40), "100755", blob}
				entries = append(entries, TreeEntry{fmt.Sprintf("new%04d", i), "100644", blob})
				h, err := o.RewriteTree(t.Context(), was, entries)
				y.must(err)
				raw, err := encodeTree(entries)
				y.must(err)
				want[h], was = string(raw), h
			}
			if got, err := o.Tree(t.Context(), was); err != nil || len(got) != len(entries) {
				t.Errorf("%s: a tree that is held: %d entries, %v", format, len(got), err)
			}
			if _, err := y.q.Run(t.Context(), Cmd{Args: []string{"cat-file", "-e", string(was)}}); err == nil {
				t.Errorf("%s: git sees what is held", format)
			}
			y.must(o.Flush())
			y.must(o.Flush())
			for h, raw := range want {
				got, err := y.q.Run(t.Context(), Cmd{Args: []string{"cat-file", "tree", string(h)}})
				if err != nil || string(got) != raw {
					t.Fatalf("%s: git reads %d bytes of %s, %v; want %d", format, len(got), h, err, len(raw))
				}
				o.trees = treeCache{}
				if back, err := o.Tree(t.Context(), h); err != nil || len(back) == 0 {
					t.Fatalf("%s: Tree after Flush: %v", format, err)
				}
			}
			y.checkPacks(versions > looseUpTo)
		}
	}
}

// checkPacks has git check the packs of the quarantine.
func (y *objectFixture) checkPacks(some bool) {
	y.Helper()
	indexes, err := filepath.Glob(filepath.Join(y.q.Dir, "pack", "*.idx"))
	y.must(err)
	if some != (len(indexes) > 0) {
		y.Errorf("packs %q, want some: %v", indexes, some)
	}
	for _, idx := range indexes {
		out, err := y.q.Run(y.Context(), Cmd{Args: []string{"verify-pack", "-v", idx}})
		if err != nil || !strings.Contains(string(out), "chain length") {
			y.Errorf("verify-pack: %v; want deltas in\n%.400s", err, out)
		}
		if long := fmt.Sprintf("chain length = %d:", deepest+1); strings.Contains(string(out), long) {
			y.Errorf("verify-pack: a chain of more than %d", deepest)
		}
	}
	if _, err := y.q.Run(y.Context(), Cmd{Args: []string{"fsck", "--strict", "--full", "--no-dangling"}}); err != nil {
		y.Errorf("fsck: %v", err)
	}
}

// TestHoldIsBounded: more than fits is put down by itself.
func TestHoldIsBounded(t *testing.T) {
	t.Parallel()
	y := newObjectFixture(t)
	o := y.objects()
	o.Hold()
	var first Hash
	for i := range 3 {
		h, err := o.WriteCommit(t.Context(), CommitRequest{
			Tree: y.hash("HEAD^{tree}"), Message: fmt.Sprint(i) + strings.Repeat("x", heldBytes/2),
		})
		y.must(err)
		if i == 0 {
			first = h
		}
	}
	if o.held.bytes > heldBytes {
		t.Errorf("%d bytes are held", o.held.bytes)
	}
	if _, err := y.q.Run(t.Context(), Cmd{Args: []string{"cat-file", "-e", string(first)}}); err != nil {
		t.Errorf("the first of too many: %v, want it put down", err)
	}
	if _, _, err := o.Commit(t.Context(), first); err != nil {
		t.Errorf("read what was put down: %v", err)
	}
}

// FuzzDelta: a delta of two contents makes the second from the first.
func FuzzDelta(f *testing.F) {
	f.Add([]byte("the same in the middle of it"), []byte("the same at the end of it"))
	f.Add([]byte("aaa"), []byte("aaaa"))
	f.Add(bytes.Repeat([]byte("ab"), 1<<16), bytes.Repeat([]byte("ab"), 1<<16+3))
	f.Add([]byte("a"), bytes.Repeat([]byte("b"), 300))
	f.Fuzz(func(t *testing.T, from, to []byte) {
		got, err := packfile.PatchDelta(from, encodeDelta(from, to))
		if len(from) == 0 || len(to) == 0 {
			return // no tree is a delta of content that has no bytes in common with it
		}
		if err != nil || !bytes.Equal(got, to) {
			t.Errorf("PatchDelta(%q, delta to %q) = %q, %v", from, to, got, err)
		}
	})
}
