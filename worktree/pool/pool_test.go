package pool

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestPoolShare: a disk that is nearly full has a small pool, and no other limit
// switches it off.
func TestPoolShare(t *testing.T) {
	t.Parallel()
	const gib = 1 << 30
	for _, tc := range []struct{ disk, free, size, want int64 }{
		{252 * gib, 200 * gib, 0, 20 * gib},
		{252 * gib, 25 * gib, 0, 20 * gib}, // less than a tenth is free
		{252 * gib, 3 * gib, 0, 3 * gib},
		{50 * gib, 40 * gib, 0, 5 * gib},
		{50 * gib, 40 * gib, 1, 1},
		{50 * gib, 40 * gib, 30 * gib, 30 * gib},
		{50 * gib, 0, 30 * gib, 0},
	} {
		if got := poolShare(tc.disk, tc.free, tc.size); got != tc.want {
			t.Errorf("poolShare(%d, %d, %d) = %d, want %d", tc.disk, tc.free, tc.size, got, tc.want)
		}
	}
}

// TestSweepAll checks that the size 0 also removes an entry that takes no blocks.
func TestSweepAll(t *testing.T) {
	t.Parallel()
	for _, size := range []int64{0, 4096} {
		at := filepath.Join(t.TempDir(), "entry")
		if err := os.Mkdir(at, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(at, poolRecordName), fmt.Appendf(nil, `{"size":%d}`, size), 0o600); err != nil {
			t.Fatal(err)
		}
		gone, err := Sweep(t.Context(), SweepRequest{Pool: filepath.Dir(at)})
		if err != nil || len(gone) != 1 || gone[0].Path != at {
			t.Errorf("Sweep of an entry of %d bytes = %v, %v", size, gone, err)
		}
		if left, err := os.ReadDir(filepath.Dir(at)); len(left) > 0 || err != nil {
			t.Errorf("of an entry of %d bytes are left %v, %v", size, left, err)
		}
	}
}
