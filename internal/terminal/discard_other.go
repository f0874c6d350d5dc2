//go:build !linux

package terminal

import "golang.org/x/sys/unix"

// Discard drops what was typed and not read.
func Discard(fd int) error {
	const fread = 1 // of <sys/fcntl.h>: the queue of what was typed
	return unix.IoctlSetPointerInt(fd, unix.TIOCFLUSH, fread)
}
