package worktree

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"agentswarm/worktree/include"
)

// BenchmarkLease measures the cost of 8,000 included files for a lease and a
// capture.
func BenchmarkLease(b *testing.B) {
	for _, files := range []int{0, 8000} {
		b.Run(fmt.Sprintf("included=%d", files), func(b *testing.B) {
			var capture time.Duration
			f := newFixture(b)
			for i := range files {
				f.write(f.root, fmt.Sprintf("node_modules/p%d/lib/f%d.js", i%400, i), strings.Repeat("x", 2000))
			}
			base := f.commit("a", "a\n", ".gitignore", "node_modules/\n", include.FileName, "node_modules/\n")
			f.open()
			f.include(base)
			// No file is removed meanwhile: ext4 makes files slowly where files
			// were just removed.
			for b.Loop() {
				w := f.lease(base)
				b.StopTimer()
				began := time.Now()
				c, err := f.trees.Capture(b.Context(), f.captureRequest(w))
				capture += time.Since(began)
				if err != nil || len(c.Ignored) > 0 {
					b.Fatalf("%v %+v", err, c)
				}
				b.StartTimer()
			}
			b.ReportMetric(float64(capture.Nanoseconds())/float64(b.N), "ns/capture")
		})
	}
}
