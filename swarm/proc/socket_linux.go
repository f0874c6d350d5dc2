package proc

import (
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

const receiveFlags = unix.MSG_CMSG_CLOEXEC

// doorAddress is the address of a socket, for bind and connect. An address
// holds 107 bytes, and a path may be longer, so it names a descriptor of the
// folder, which done closes.
func doorAddress(path string) (at *unix.SockaddrUnix, done func(), err error) {
	dir, err := unix.Open(filepath.Dir(path), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, nil, &os.PathError{Op: "open", Path: filepath.Dir(path), Err: err}
	}
	name := "/proc/self/fd/" + strconv.Itoa(dir) + "/" + filepath.Base(path)
	return &unix.SockaddrUnix{Name: name}, func() { _ = unix.Close(dir) }, nil
}

func newSocket() (int, error) {
	return unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
}

func acceptNow(door int) (int, error) {
	fd, _, err := unix.Accept4(door, unix.SOCK_CLOEXEC)
	return fd, err
}

// peerOf asks the kernel for the process at the other end: for a door, its
// maker. The number of a process that this process cannot see is 0.
func peerOf(c *os.File) (pid, uid int, err error) {
	err = onDescriptor(c, func(fd int) error {
		cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
		if err == nil {
			pid, uid = int(cred.Pid), int(cred.Uid)
		}
		return err
	})
	return pid, uid, err
}

// openWitness opens a descriptor that only who is in this process's PID namespace
// can open.
func openWitness() (*os.File, error) { return os.Open("/proc/self/ns/pid") }
