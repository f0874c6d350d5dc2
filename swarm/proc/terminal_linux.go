package proc

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// master is the engine's end of a terminal. The runtime can wait for it.
type master = os.File

// newMaster takes over what pty.Open returned. That file was switched to
// blocking by the use of its number, and cannot be switched back; a second
// descriptor of the same terminal can.
func newMaster(near *os.File) (_ *master, err error) {
	defer func() { err = errors.Join(err, near.Close()) }()
	fd, err := unix.FcntlInt(near.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		return nil, errors.Join(err, unix.Close(fd))
	}
	return os.NewFile(uintptr(fd), "terminal"), nil
}
