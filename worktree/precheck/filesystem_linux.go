package precheck

import (
	"os"

	"golang.org/x/sys/unix"
)

// fileSystem is the name of the file system of a folder; empty if it is not in
// the table.
func fileSystem(dir string) (string, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return "", &os.PathError{Op: "statfs", Path: dir, Err: err}
	}
	return magics()[uint32(s.Type)], nil
}

// magics are the names of file systems by the numbers that statfs(2) gives.
func magics() map[uint32]string {
	return map[uint32]string{
		unix.EXT4_SUPER_MAGIC:      "ext4",
		unix.BTRFS_SUPER_MAGIC:     "btrfs",
		unix.XFS_SUPER_MAGIC:       "XFS",
		0xCA451A4E:                 "bcachefs",
		0x2FC12FC1:                 "ZFS",
		unix.F2FS_SUPER_MAGIC:      "F2FS",
		unix.TMPFS_MAGIC:           "tmpfs",
		unix.OVERLAYFS_SUPER_MAGIC: "overlay",
		unix.NFS_SUPER_MAGIC:       "NFS",
		unix.SMB2_SUPER_MAGIC:      "SMB",
		unix.CIFS_SUPER_MAGIC:      "SMB",
		unix.V9FS_MAGIC:            "9P",
		unix.FUSE_SUPER_MAGIC:      "FUSE",
	}
}
