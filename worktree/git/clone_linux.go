package git

import (
	"os"

	"golang.org/x/sys/unix"
)

// Reflink makes an empty file share the content of another, where the file
// system can (FICLONE, ioctl_ficlone(2)).
func Reflink(to, from *os.File) error {
	return unix.IoctlFileClone(int(to.Fd()), int(from.Fd()))
}
