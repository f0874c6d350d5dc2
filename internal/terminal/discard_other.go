//go:build !linux

package terminal

import "golang.org/x/sys/unix"

// Discard drops typed input that was not read.
func Discard(fd int) error {
	const fread = 1 // of <sys/fcntl.h>: the queue of typed input
	return unix.IoctlSetPointerInt(fd, unix.TIOCFLUSH, fread)
}
