package git

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// gathering is a repository into which packs are landed.
type gathering struct {
	*fixture
	repo   *Repo
	frozen *Frozen
	landed *Landed
	base   Hash
}

func newGathering(t *testing.T) *gathering {
	t.Helper()
	g := newFixture(t)
	g.git("commit", "-q", "--allow-empty", "-m", "x")
	r, err := New(g.environ()).Discover(t.Context(), g.root)
	g.ok(err)
	frozen, err := r.Freeze(t.Context(), filepath.Join(g.home, "frozen"))
	g.ok(err)
	return &gathering{fixture: g, repo: r, frozen: frozen, landed: r.Landed(), base: Hash(g.git("rev-parse", "HEAD"))}
}

// land brings a commit into the repository in a pack of its own.
func (g *gathering) land(t *testing.T, i int) {
	t.Helper()
	q := g.frozen.Lazy(filepath.Join(g.home, "q"))
	p, err := q.Pack()
	g.ok(err)
	same, err := p.Blob([]byte("the same in all\n"))
	g.ok(err)
	own, err := p.Blob(fmt.Appendf(nil, "%d\n", i))
	g.ok(err)
	tree, err := p.Tree([]TreeEntry{{Name: "own", Mode: "100644", ID: own}, {Name: "same", Mode: "100644", ID: same}})
	g.ok(err)
	commit, err := p.Commit(CommitRequest{
		Tree: tree, Parents: []Hash{g.base}, Message: "x", Author: Swarm(time.Unix(1, 0)), Committer: Swarm(time.Unix(1, 0)),
	})
	g.ok(err, p.Close())
	g.ok(q.Publish(t.Context(), PublishRequest{
		Refs: []RefUpdate{{Ref: fmt.Sprint("refs/x/", i), New: commit}}, Have: []Hash{g.base}, Pack: p, Plain: true,
		Landed: g.landed,
	}))
	g.ok(p.Discard(), q.Discard())
}

func (g *gathering) packs(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(g.repo.CommonDir, "objects", "pack", "*"))
	g.ok(err)
	return found
}

// whole sees that all that was landed is there.
func (g *gathering) whole(t *testing.T, n int) {
	t.Helper()
	g.git("fsck", "--strict", "--no-dangling")
	for i := range n {
		if got := g.git("cat-file", "-p", fmt.Sprintf("refs/x/%d:own", i)); got != fmt.Sprint(i) {
			t.Errorf("refs/x/%d holds %q", i, got)
		}
	}
}

// TestLandedGathered: any number of landed packs leaves few packs meanwhile and
// one at the end, with all of their objects.
func TestLandedGathered(t *testing.T) {
	t.Parallel()
	g := newGathering(t)
	const n = 2*packsApart + 5
	for i := range n {
		g.land(t, i)
		if most := 2 * (packsApart + n/packsApart); len(g.packs(t)) > most {
			t.Fatalf("after %d: %d files of packs, want %d at most", i, len(g.packs(t)), most)
		}
	}
	g.whole(t, n)
	g.ok(g.landed.Gather())
	if packs := g.packs(t); len(packs) != 2 {
		t.Errorf("%d files of packs, want 2", len(packs))
	}
	g.whole(t, n)
	// Another Gather changes no pack, and the user's git may repack freely.
	before := g.packs(t)
	g.ok(g.landed.Gather())
	if after := g.packs(t); !slices.Equal(before, after) {
		t.Errorf("gathered again: %v, want %v", after, before)
	}
	g.git("gc", "-q", "--prune=now")
	g.land(t, n)
	g.ok(g.landed.Gather())
	g.whole(t, n+1)
}

// TestLandedLeftAlone: a pack that is not fully understood, or that another
// process is landing, is not touched. The other packs are joined.
func TestLandedLeftAlone(t *testing.T) {
	t.Parallel()
	spoil := func(end string, at int64) func(*testing.T, *gathering, string) {
		return func(t *testing.T, g *gathering, stem string) {
			text, err := os.ReadFile(stem + end)
			g.ok(err)
			if at < 0 {
				at += int64(len(text))
			}
			text[at] ^= 0x40
			g.ok(os.Remove(stem+end), os.WriteFile(stem+end, text, 0o644))
		}
	}
	for _, c := range []struct {
		name string
		do   func(t *testing.T, g *gathering, stem string)
	}{
		{"in use", func(_ *testing.T, g *gathering, stem string) {
			g.ok(writeText(stem+".keep", KeepMark+"\n"))
		}},
		{"an object is spoiled", spoil(".pack", 14)},
		{"the number of objects", spoil(".pack", 11)},
		{"its sum", spoil(".pack", -1)},
		{"a sum in the index", spoil(".idx", int64(idxNames)+4*20)},
		{"a place in the index", spoil(".idx", -41)},
		{"a longer index", func(_ *testing.T, g *gathering, stem string) {
			text, err := os.ReadFile(stem + ".idx")
			g.ok(err, os.Remove(stem+".idx"), os.WriteFile(stem+".idx", append(text, 0), 0o644))
		}},
		{"a folder", func(_ *testing.T, g *gathering, stem string) {
			g.ok(os.Remove(stem+".pack"), os.Mkdir(stem+".pack", 0o700))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			g := newGathering(t)
			for i := range 3 {
				g.land(t, i)
			}
			stem := g.landed.small[0]
			c.do(t, g, stem)
			g.ok(g.landed.Gather())
			for _, end := range []string{".pack", ".idx"} {
				if _, err := os.Lstat(stem + end); err != nil {
					t.Errorf("it was touched: %v", err)
				}
			}
			if others, err := filepath.Glob(filepath.Join(filepath.Dir(stem), "*.idx")); err != nil || len(others) != 2 {
				t.Errorf("%d indexes, want 2: %v", len(others), err)
			}
		})
	}
}

// TestLandedDelta holds that a pack in which objects need others is left as
// git made it.
func TestLandedDelta(t *testing.T) {
	t.Parallel()
	g := newGathering(t)
	text := ""
	for i := range 2000 {
		text += fmt.Sprintln("line", i)
	}
	for i := range 3 {
		g.ok(writeText(filepath.Join(g.root, "big"), text+fmt.Sprint(i)))
		g.git("add", "-A")
		g.git("commit", "-q", "-m", "x")
	}
	g.git("repack", "-adfq")
	indexes, err := filepath.Glob(filepath.Join(g.repo.CommonDir, "objects", "pack", "*.idx"))
	g.ok(err)
	g.land(t, 0)
	g.landed.small = append(g.landed.small, stemOf(indexes[0]))
	g.land(t, 1)
	g.ok(g.landed.Gather())
	if _, err := os.Lstat(indexes[0]); err != nil {
		t.Error(err)
	}
	g.whole(t, 2)
}

// TestLandedReaders: a reader that opened packs before they were joined finds
// their objects.
func TestLandedReaders(t *testing.T) {
	t.Parallel()
	g := newGathering(t)
	for i := range 5 {
		g.land(t, i)
	}
	q := g.frozen.Lazy(filepath.Join(g.home, "reader"))
	files := newObjectFiles(q)
	read := func(i int) {
		id := Hash(g.git("rev-parse", fmt.Sprintf("refs/x/%d:own", i)))
		got, err := files.read(want{id: id, kind: "blob", limit: 100})
		if err != nil || string(got) != fmt.Sprintln(i) {
			t.Errorf("%d: %q, %v", i, got, err)
		}
	}
	read(0)
	g.ok(g.landed.Gather())
	for i := range 5 {
		read(i)
	}
	g.ok(files.close())
}
