package terminal

import "golang.org/x/sys/unix"

// Discard drops what was typed and not read.
func Discard(fd int) error { return unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCIFLUSH) }
