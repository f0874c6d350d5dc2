package proc

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	receiveFlags = 0
	// longest is the size limit of a socket's path here.
	longest = 103
)

// doorAddress is the address of a socket, for bind and connect.
func doorAddress(path string) (at *unix.SockaddrUnix, done func(), err error) {
	if len(path) > longest {
		return nil, nil, fmt.Errorf("%s is longer than the %d bytes that a socket may have", path, longest)
	}
	return &unix.SockaddrUnix{Name: path}, func() {}, nil
}

func newSocket() (int, error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.CloseOnExec(fd)
	}
	return fd, err
}

func acceptNow(door int) (int, error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	fd, _, err := unix.Accept(door)
	if err == nil {
		unix.CloseOnExec(fd)
	}
	return fd, err
}

// peerOf asks the kernel who is at the other end: for a door, who made it.
func peerOf(c *os.File) (pid, uid int, err error) {
	err = onDescriptor(c, func(fd int) error {
		cred, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
		if err != nil {
			return err
		}
		uid = int(cred.Uid)
		pid, err = unix.GetsockoptInt(fd, unix.SOL_LOCAL, unix.LOCAL_PEERPID)
		return err
	})
	return pid, uid, err
}

// openWitness opens a stand-in for the proof of a namespace: this system has no
// namespaces.
func openWitness() (*os.File, error) { return os.Open(os.DevNull) }
