package terminal

import "golang.org/x/sys/unix"

// Discard drops typed input that was not read.
func Discard(fd int) error { return unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCIFLUSH) }
