package store

import (
	"os"

	"golang.org/x/sys/unix"
)

// allocate takes room on the disk without making the file longer.
func allocate(f *os.File, from, length int64) error {
	return unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_KEEP_SIZE, from, length)
}
