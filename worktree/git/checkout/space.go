package checkout

import (
	"os"

	"golang.org/x/sys/unix"
)

// slack is how many bytes must stay free beside the new files: for folders,
// records, and the refs that git writes.
const slack = 256 << 10

// readOnly is the flag of a file system that is mounted so.
const readOnly = 1

// slackInodes is the same for inodes.
const slackInodes = 16

// room is the space that new files need on a file system.
type room struct{ bytes, inodes int64 }

// add counts a file of a size.
func (r *room) add(size, block int64) {
	if block <= 0 {
		block = 4 << 10
	}
	r.bytes += (size + block - 1) / block * block
	r.inodes++
}

// enough checks the free bytes and inodes of the file system that dir is on. A
// file system that does not count inodes says that it has none in all.
func (r *room) enough(dir string) error {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return &os.PathError{Op: "statfs", Path: dir, Err: err}
	}
	if int64(s.Flags)&readOnly != 0 {
		return &WriteError{Dir: dir, Path: dir, Err: unix.EROFS}
	}
	free := int64(s.Bavail) * int64(s.Bsize)
	if need := r.bytes + slack; free < need {
		return &SpaceError{Dir: dir, Need: need, Have: free}
	}
	if need := r.inodes + slackInodes; s.Files > 0 && int64(s.Ffree) < need {
		return &SpaceError{Dir: dir, Need: need, Have: int64(s.Ffree), Inodes: true}
	}
	return nil
}
