package diskwatch

import (
	"os"

	"golang.org/x/sys/unix"
)

// allocate takes bytes of the disk for an empty file.
func allocate(f *os.File, size int64) error { return unix.Fallocate(int(f.Fd()), 0, 0, size) }
