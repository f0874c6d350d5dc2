package diskwatch

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Written is the amount written to folders.
type Written struct {
	Bytes int64 // on the disk, without holes
	Files int64
}

// more reports whether more was written than by another: the more of the
// bytes, or of the files where inodes are short.
func (w Written) more(than Written, inodes bool) bool {
	if inodes {
		return w.Files > than.Files
	}
	return w.Bytes > than.Bytes
}

// WrittenSince measures the files below folders that were made or changed
// since a time. Only those on the given file system count; device 0 is any.
// Files that cannot be looked at count nothing. It reads no file.
func WrittenSince(ctx context.Context, dirs []string, since time.Time, device uint64) (sum Written, err error) {
	type identity struct{ device, inode uint64 }
	linked := map[identity]bool{}
	for _, dir := range dirs {
		_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, werr error) error {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if werr != nil {
				return nil
			}
			info, ierr := e.Info()
			if ierr != nil {
				return nil
			}
			at := factsOf(info)
			if device != 0 && at.device != device {
				if e.IsDir() {
					return fs.SkipDir
				}
				return nil
			}
			if at.changed.Before(since) {
				return nil
			}
			if at.links > 1 && !e.IsDir() {
				id := identity{at.device, at.inode}
				if linked[id] {
					return nil
				}
				linked[id] = true
			}
			sum.Files++
			sum.Bytes += at.bytes
			return nil
		})
	}
	if ctx.Err() != nil {
		return sum, context.Cause(ctx)
	}
	return sum, nil
}

// facts are the facts of a file that a sum needs.
type facts struct {
	device, inode, links uint64
	bytes                int64 // on the disk
	changed              time.Time
}

func deviceOf(info os.FileInfo) uint64 { return factsOf(info).device }
