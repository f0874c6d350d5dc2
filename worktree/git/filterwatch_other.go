//go:build !linux

package git

import "context"

// lookBelow looks at the processes below one, by ps.
func lookBelow(ctx context.Context, pid int) activity { return lookByPS(ctx, pid) }
