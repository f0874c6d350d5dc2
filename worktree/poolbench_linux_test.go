package worktree

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"agentswarm/worktree/pool"
	"agentswarm/worktree/workspace"
)

// BenchmarkFill makes 20 workspaces of 20,000 files at once: as copies, and as
// copies that start from the pool. Git makes linked worktrees in sequence.
// There are fewer of them, and their time is scaled. The figures are seconds
// for 20.
//
// Files are removed at the end of a round only. For minutes after a deletion,
// ext4 searches for inodes that were not deleted lately. Each new file then
// costs up to ten times as much, and the figures would measure the deletions.
func BenchmarkFill(b *testing.B) {
	f := newFixture(b)
	base := manyFiles(f)
	seen := pooled(f)
	f.lease(base) // makes the shared checkout
	const agents, linked = 20, 3
	n := 0
	var plain, first, second time.Duration
	fill := func() (took time.Duration) {
		n++
		all := make([]*workspace.Workspace, agents)
		begun := time.Now()
		group, ctx := errgroup.WithContext(b.Context())
		for i := range all {
			group.Go(func() (err error) {
				all[i], err = f.trees.Lease(ctx, f.leaseRequest(fmt.Sprintf("w%d.%d", n, i), base))
				return err
			})
		}
		must(b, group.Wait())
		took = time.Since(begun)
		for _, w := range all {
			c, err := f.trees.Capture(b.Context(), f.captureRequest(w))
			must(b, err)
			_, err = f.trees.Recycle(b.Context(), *w, c)
			must(b, err)
		}
		return took
	}
	worktree := func(i int) string { return filepath.Join(f.home, fmt.Sprint("plain", i)) }
	for b.Loop() {
		begun := time.Now()
		for i := range linked {
			f.git("worktree", "add", "-q", "--detach", worktree(i), string(base))
		}
		plain += time.Since(begun) * agents / linked
		first += fill()
		before := seen["reused"]
		second += fill()
		if got := seen["reused"] - before; got != agents {
			b.Fatalf("the second run reused %d of %d workspaces: has the disk room for the pool?", got, agents)
		}
		for i := range linked {
			f.git("worktree", "remove", "--force", worktree(i))
		}
		_, err := pool.Sweep(b.Context(), pool.SweepRequest{Pool: f.trees.Pool})
		must(b, err)
	}
	per := float64(b.N)
	b.ReportMetric(plain.Seconds()/per, "git-s")
	b.ReportMetric(first.Seconds()/per, "first-s")
	b.ReportMetric(second.Seconds()/per, "second-s")
	b.ReportMetric(plain.Seconds()/first.Seconds(), "ratio-first")
	b.ReportMetric(plain.Seconds()/second.Seconds(), "ratio-second")
	b.ReportMetric(0, "ns/op")
}
