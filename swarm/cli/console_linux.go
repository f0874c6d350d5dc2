package cli

import "golang.org/x/sys/unix"

// discard drops what was typed and not read.
func discard(fd int) error { return unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCIFLUSH) }
