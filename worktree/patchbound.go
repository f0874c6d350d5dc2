package worktree

import (
	"errors"
	"io"
)

// DefaultMaxPatch is the size in bytes up to which the text of a patch is kept
// as a file. The text of a larger one is made from its commit when it is asked
// for.
const DefaultMaxPatch = 64 << 20

// maxCompare is the size in bytes of a file above which no patch text is tried:
// git holds both versions of a file in memory, and the patch of it as well.
const maxCompare = 256 << 20

// errLongPatch says that the text of a patch is above its bound.
var errLongPatch = errors.New("the text of the patch is too long")

func (t *Trees) maxPatch() int64 {
	if t.MaxPatch > 0 {
		return t.MaxPatch
	}
	return DefaultMaxPatch
}

// boundedWriter fails with [errLongPatch] instead of writing more than its
// bound.
type boundedWriter struct {
	w    io.Writer
	left int64
}

func (b *boundedWriter) Write(p []byte) (int, error) {
	if int64(len(p)) > b.left {
		b.left = -1 // whatever follows is too long, too
		return 0, errLongPatch
	}
	b.left -= int64(len(p))
	return b.w.Write(p)
}

// exceeded reports whether a write was refused.
func (b *boundedWriter) exceeded() bool { return b.left < 0 }
