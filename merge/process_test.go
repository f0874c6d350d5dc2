package merge

import (
	"encoding/hex"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"agentswarm/internal/testing/campaign"
	"agentswarm/worktree/git"
)

// counter counts the gits that are started.
type counter struct{ started int }

func (c *counter) Group() (int, error) { c.started++; return 0, nil }
func (c *counter) Stop(int) error      { return nil }

// TestMergeProcesses: patches that change different paths need no git, and the
// others share a single process.
func TestMergeProcesses(t *testing.T) {
	t.Parallel()
	files := campaign.Rounds(t, 6, 12) // a file for each patch
	for _, format := range []string{"sha1", "sha256"} {
		f := newFixture(t, "--object-format="+format)
		texts := map[string]string{}
		for i := range files {
			var list []string
			for k := range 30 {
				list = append(list, fmt.Sprintf("line %d of %d", k, i))
			}
			texts[fmt.Sprintf("p%d/src/f", i)] = lines(list...)
		}
		base := f.commit(texts)
		var apart, close []Patch
		for i := range files {
			path, id := fmt.Sprintf("p%d/src/f", i), fmt.Sprint("a", i)
			apart = append(apart, f.patch(id, base, map[string]string{path: "changed\n", path + "2": "new\n"}))
			if i < 6 {
				text := strings.Split(texts["p0/src/f"], "\n")
				text[i*5] = "changed"
				close = append(close, f.patch(id, base, map[string]string{"p0/src/f": strings.Join(text, "\n")}))
			}
		}
		f.git("gc", "-q")
		c := &counter{}
		f.repo.Keep(c)
		for _, tt := range []struct {
			name    string
			patches []Patch
			want    int
		}{{"apart", apart, 0}, {"close together", close, 1}} {
			var out *Outcome
			// A git that a busy machine lets answer late is started anew.
			started := len(tt.patches)
			for try := 0; started != tt.want && try < 5; try++ {
				c.started = 0
				var err error
				out, err = Merge(t.Context(), f.q, Request{Onto: base, Patches: tt.patches, Committer: committer})
				if err != nil || len(out.Landed) != len(tt.patches) {
					t.Fatalf("%s, %s: Merge = %+v, %v", format, tt.name, out, err)
				}
				started = min(started, c.started)
			}
			if started != tt.want {
				t.Errorf("%s, %s: %d gits were started, want %d", format, tt.name, started, tt.want)
			}
			if _, err := f.q.Run(t.Context(), git.Cmd{Args: []string{"fsck", "--strict", "--no-dangling", string(out.Commit)}}); err != nil {
				t.Errorf("%s, %s: fsck of what was merged: %v", format, tt.name, err)
			}
		}
	}
}

// TestMergeWritesWhatChanged: the cost of a patch depends on its changes, and
// not on the number of other files.
func TestMergeWritesWhatChanged(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	base := tree{}
	for i := range 3000 {
		base[fmt.Sprintf("wide/f%04d", i)] = file{mode: "100644", text: fmt.Sprint(i)}
	}
	req := Request{Committer: committer}
	var stream strings.Builder
	commit := func(mark int, t tree) {
		var b strings.Builder
		fmt.Fprintf(&b, "commit refs/heads/c%d\nmark :%d\ncommitter A <a@b> 1700000000 +0000\ndata 0\n", mark, mark)
		if mark > 1 {
			b.WriteString("from :1\n")
		}
		for _, p := range t.paths() {
			fmt.Fprintf(&b, "M %s inline %s\ndata %d\n%s\n", t[p].mode, p, len(t[p].text), t[p].text)
		}
		stream.WriteString(b.String())
	}
	commit(1, base)
	const patches = 60
	for i := range patches {
		commit(2+i, tree{fmt.Sprintf("wide/f%04d", 49*i): file{mode: "100644", text: "changed"}})
	}
	for i := range patches + 1 {
		fmt.Fprintf(&stream, "get-mark :%d\n", i+1)
	}
	marks := strings.Fields(f.gitIn(f.dir, []byte(stream.String()), "fast-import", "--quiet", "--cat-blob-fd=1"))
	req.Onto = git.Hash(marks[0])
	for i, mark := range marks[1:] {
		req.Patches = append(req.Patches, Patch{ID: fmt.Sprint(i), Base: req.Onto, Commit: git.Hash(mark), Author: author})
	}
	out, err := Merge(t.Context(), f.q, req)
	f.must(err)
	if len(out.Landed) != patches {
		t.Fatalf("landed %d of %d", len(out.Landed), patches)
	}
	// The folder alone has more than 90 kB, and is another after each patch.
	size := folderSize(t, f.q.Dir)
	if limit := int64(400 << 10); size > limit {
		t.Errorf("the quarantine has %d bytes, want at most %d", size, limit)
	}
	if _, err := f.q.Run(t.Context(), git.Cmd{Args: []string{"fsck", "--strict", "--no-dangling", string(out.Commit)}}); err != nil {
		t.Errorf("fsck of what was merged: %v", err)
	}
}

func folderSize(t *testing.T, dir string) (size int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			size += info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return size
}

// TestMergeOddTrees: a tree that no git would write is git's to merge.
func TestMergeOddTrees(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	base := f.commit(map[string]string{"a": "1\n", "b/c": "1\n"})
	odd := func(entries string, parents ...string) git.Hash {
		raw, err := f.repo.Run(t.Context(), git.Cmd{
			Args: []string{"hash-object", "-t", "tree", "-w", "--literally", "--stdin"}, Stdin: strings.NewReader(entries), Writes: true,
		})
		f.must(err)
		return git.Hash(f.git(append([]string{"commit-tree", "-m", "odd", strings.TrimSpace(string(raw))}, parents...)...))
	}
	blob, err := hex.DecodeString(f.git("rev-parse", string(base)+":a"))
	f.must(err)
	from := odd("100644 z\x00" + string(blob) + "100644 a\x00" + string(blob))
	patch := Patch{ID: "a1", Base: from, Author: author,
		Commit: odd("100644 z\x00"+string(blob)+"100644 a\x00"+string(blob)+"100644 q\x00"+string(blob), "-p", string(from))}
	out, err := Merge(t.Context(), f.q, Request{Onto: base, Patches: []Patch{patch}, Committer: committer})
	slow, slowErr := merge(t.Context(), f.q, Request{Onto: base, Patches: []Patch{patch}, Committer: committer}, plain)
	if (err == nil) != (slowErr == nil) {
		t.Fatalf("Merge: %v, git alone: %v", err, slowErr)
	}
	if err == nil && different(out, slow) != "" {
		t.Errorf("spliced and not spliced differ: %s", different(out, slow))
	}
	for _, l := range out.Landed {
		if l.Spliced {
			t.Error("a tree out of order was spliced")
		}
	}
}
