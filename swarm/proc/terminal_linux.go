package proc

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// master is the engine's end of a terminal. The runtime can wait for it.
type master = os.File

// newMaster takes over the file of pty.Open. Its number was used, which
// switched it to blocking for good; a second descriptor of the same terminal
// can be switched back.
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
