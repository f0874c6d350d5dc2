package diskwatch

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Space is the space that a file system has for an ordinary user.
type Space struct {
	Free, Total      int64  // bytes
	Inodes, MaxInode int64  // files that can still be made, and in all; 0 in all: no limit
	Device           uint64 // tells file systems apart
}

// SpaceOf returns the space of the file system of dir, or of the nearest folder
// above it that exists.
func SpaceOf(dir string) (Space, error) {
	at, err := os.Stat(dir)
	for errors.Is(err, fs.ErrNotExist) && dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
		at, err = os.Stat(dir)
	}
	if err != nil {
		return Space{}, err
	}
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return Space{}, &os.PathError{Op: "statfs", Path: dir, Err: err}
	}
	block := int64(s.Bsize)
	return Space{
		Free: int64(s.Bavail) * block, Total: int64(s.Blocks) * block,
		Inodes: int64(s.Ffree), MaxInode: int64(s.Files), Device: deviceOf(at),
	}, nil
}

const (
	// maxLow bounds the free bytes below which a file system is low.
	maxLow = 512 << 20
	// maxLowInodes bounds the free inodes below which it is.
	maxLowInodes = 10_000
	// share is the part of a file system that is its threshold, if that is less.
	share = 50 // a fiftieth: 2 %
)

// threshold returns the free bytes and inodes below which no further agent
// starts: 2 % of the file system, at most 512 MiB and 10,000 inodes.
func (s Space) threshold() (bytes, inodes int64) {
	return min(maxLow, s.Total/share), min(maxLowInodes, s.MaxInode/share)
}

// low reports whether a file system is below its threshold. A file system with
// less than four times as much is low, too, if its loss since the last sample
// would fill it before two more samples are taken.
func (s Space) low(before Space) bool {
	bytes, inodes := s.threshold()
	if before.Device == s.Device && before.Total > 0 {
		bytes = max(bytes, min(2*(before.Free-s.Free), 4*bytes))
		inodes = max(inodes, min(2*(before.Inodes-s.Inodes), 4*inodes))
	}
	return s.Free < bytes || s.MaxInode > 0 && s.Inodes < inodes
}

// full reports whether a file system is below its threshold, whatever it lost
// lately.
func (s Space) full() bool { return s.low(Space{}) }

// Short returns the bytes and inodes to free until a file system has twice its
// threshold. Both are 0 for a file system above its threshold.
func (s Space) Short() (bytes, inodes int64) {
	if !s.full() {
		return 0, 0
	}
	bytes, inodes = s.threshold()
	bytes = max(0, 2*bytes-s.Free)
	if s.MaxInode > 0 {
		return bytes, max(0, 2*inodes-s.Inodes)
	}
	return bytes, 0
}

// below reports whether a file system has at most half of the space of another
// sample.
func (s Space) below(other Space) bool {
	return s.Free <= other.Free/2 || s.MaxInode > 0 && s.Inodes <= other.Inodes/2
}

// empty reports whether a file system has nothing left that could be halved.
func (s Space) empty() bool {
	return s.Free == 0 || s.MaxInode > 0 && s.Inodes == 0
}
