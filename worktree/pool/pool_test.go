package pool

import "testing"

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
