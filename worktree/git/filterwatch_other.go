//go:build !linux

package git

import "context"

// lookBelow looks at the processes below pid, by ps.
func lookBelow(ctx context.Context, pid int) activity { return lookByPS(ctx, pid) }
