//go:build !linux

package cli

import "golang.org/x/sys/unix"

// discard drops what was typed and not read.
func discard(fd int) error {
	const fread = 1 // of <sys/fcntl.h>: the queue of what was typed
	return unix.IoctlSetPointerInt(fd, unix.TIOCFLUSH, fread)
}
