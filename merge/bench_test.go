package merge

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"agentswarm/worktree/git"
)

// BenchmarkMerge merges 100 patches of two files each onto 10,000 files.
func BenchmarkMerge(b *testing.B) {
	f := newFixture(b)
	const folders, each = 100, 100
	base := tree{}
	for d := range folders {
		for i := range each {
			base.put(fmt.Sprintf("packages/p%03d/src/f%03d", d, i), text(fmt.Sprintf("%d/%d", d, i)))
		}
	}
	var stream bytes.Buffer
	writeCommit(&stream, 1, 0, base)
	for d := range folders {
		fmt.Fprintf(&stream, "commit refs/heads/p%d\nmark :%d\ncommitter A <a@b> 1700000000 +0000\ndata 0\nfrom :1\n", d, d+2)
		for _, name := range []string{"f001", "new"} {
			fmt.Fprintf(&stream, "M 100644 inline packages/p%03d/src/%s\ndata 4\nnew\n\n", d, name)
		}
	}
	for i := range folders + 1 {
		fmt.Fprintf(&stream, "get-mark :%d\n", i+1)
	}
	marks := strings.Fields(f.gitIn(f.dir, stream.Bytes(), "fast-import", "--quiet", "--cat-blob-fd=1"))
	req := Request{Onto: git.Hash(marks[0]), Committer: committer}
	for i, mark := range marks[1:] {
		req.Patches = append(req.Patches, Patch{
			ID: fmt.Sprint(i), Base: req.Onto, Commit: git.Hash(mark), Author: author,
		})
	}
	for _, splice := range []bool{true, false} {
		b.Run(fmt.Sprintf("splice=%v", splice), func(b *testing.B) {
			for b.Loop() {
				out, err := merge(b.Context(), f.q, req, splice)
				if err != nil || len(out.Landed) != folders {
					b.Fatalf("merge = %+v, %v", out, err)
				}
			}
		})
	}
}
