package disk

import (
	"cmp"
	"io/fs"
	"path/filepath"
	"syscall"
)

// Block is the space on disk that even a small file takes, in bytes.
const Block = 4096

// Blocks rounds a size up to whole blocks.
func Blocks(n int64) int64 { return (n + Block - 1) / Block * Block }

// Use is about the room that a folder takes, without the holes of its files.
// Files that cannot be looked at count nothing.
func Use(root string) (bytes, files int64) {
	_ = filepath.WalkDir(root, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if at, err := e.Info(); err == nil {
			bytes += blocksOf(at)
			files++
		}
		return nil
	})
	return bytes, files
}

// blocksOf is the number of bytes that a file takes on the disk, at least a block.
func blocksOf(at fs.FileInfo) int64 {
	s, ok := at.Sys().(*syscall.Stat_t)
	if !ok {
		return Blocks(cmp.Or(at.Size(), 1))
	}
	return max(Block, int64(s.Blocks)*512)
}

// MaxCache bounds a cache of checkouts in bytes, however large the disk is.
const MaxCache = 20 << 30

// CacheBound is how many bytes a cache of checkouts may take of a disk: a tenth,
// and at most [maxCache].
func CacheBound(disk int64) int64 { return min(MaxCache, disk/10) }
