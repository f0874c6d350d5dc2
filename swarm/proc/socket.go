package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// The sockets of doors are used without the package net, on purpose: it would
// make each of a hundred supervisors wait for the initialisation of much that
// none of them needs.

// openDoor makes a listening socket at a path that is free. Connections may
// come from now on; they wait for the supervisor.
func openDoor(path string) (*os.File, error) {
	if err := checkDoorway(filepath.Dir(path)); err != nil {
		return nil, fmt.Errorf("make a door: %w", err)
	}
	at, done, err := doorAddress(path)
	if err != nil {
		return nil, fmt.Errorf("make a door: %w", err)
	}
	defer done()
	fd, err := newSocket()
	if err != nil {
		return nil, fmt.Errorf("make a door: %w", err)
	}
	f := os.NewFile(uintptr(fd), "door")
	if err := unix.Bind(fd, at); err != nil {
		return nil, errors.Join(fmt.Errorf("make a door: bind %s: %w", path, err), f.Close())
	}
	// Until here no other process could reach it either: the folder is closed.
	err = os.Chmod(path, 0o600)
	if err == nil {
		err = unix.Listen(fd, mostVisits)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make a door: %w", err), f.Close(), os.Remove(path))
	}
	return f, nil
}

// checkDoorway refuses a folder that others may enter.
func checkDoorway(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.IsDir():
		return fmt.Errorf("%s is not a folder", dir)
	case info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("%s has mode %v: others than its owner could enter", dir, info.Mode().Perm())
	case ok && int(st.Uid) != os.Geteuid():
		return fmt.Errorf("%s belongs to another user", dir)
	}
	return nil
}

// shutDoor removes the socket of a process that is over; without a door, and
// where somebody has removed it already, there is nothing to do.
func shutDoor(path string) error {
	if path == "" {
		return nil
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("shut a door: %w", err)
	}
	return nil
}

// waitable makes a file of a descriptor, whose reads have deadlines and end
// with Close.
func waitable(fd int, name string) (*os.File, error) {
	if err := unix.SetNonblock(fd, true); err != nil {
		return nil, errors.Join(err, unix.Close(fd))
	}
	return os.NewFile(uintptr(fd), name), nil
}

// accept waits for somebody to come.
func accept(door *os.File) (*os.File, error) {
	fd := -1
	err := untilReady(door, syscall.RawConn.Read, func(at int) (err error) {
		fd, err = acceptNow(at)
		return err
	})
	if err != nil {
		return nil, err
	}
	return waitable(fd, "visit")
}

// receive reads the bytes that are there, and the descriptors that came with
// them, at most mostPassed. It closes all of them on an error. At the end it
// returns 0.
func receive(c *os.File, b []byte) (n int, files []*os.File, err error) {
	oob := make([]byte, unix.CmsgSpace(4*mostPassed))
	var oobn, flags int
	err = untilReady(c, syscall.RawConn.Read, func(at int) (err error) {
		n, oobn, flags, _, err = unix.Recvmsg(at, b, oob, receiveFlags)
		return err
	})
	if err != nil {
		return 0, nil, err
	}
	messages, err := unix.ParseSocketControlMessage(oob[:oobn])
	for _, m := range messages {
		fds, rerr := unix.ParseUnixRights(&m)
		err = errors.Join(err, rerr)
		for _, fd := range fds {
			unix.CloseOnExec(fd)
			files = append(files, os.NewFile(uintptr(fd), "passed"))
		}
	}
	if flags&unix.MSG_CTRUNC != 0 {
		err = errors.Join(err, errors.New("more descriptors came than are needed"))
	}
	if err != nil {
		closeAll(files)
		return 0, nil, err
	}
	return n, files, nil
}

// pass writes b, and hands descriptors over with its first byte.
func pass(c *os.File, b []byte, files []*os.File) error {
	fds := make([]int, len(files))
	for i, f := range files {
		fds[i] = int(f.Fd())
	}
	sent := 0
	err := untilReady(c, syscall.RawConn.Write, func(at int) (err error) {
		sent, err = unix.SendmsgN(at, b, unix.UnixRights(fds...), nil, 0)
		return err
	})
	if err != nil {
		return err
	}
	_, err = c.Write(b[sent:])
	return err
}

// untilReady tries again whenever the descriptor is ready.
func untilReady(
	f *os.File, wait func(syscall.RawConn, func(uintptr) bool) error, do func(fd int) error,
) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	err = wait(raw, func(fd uintptr) bool {
		for {
			inner = do(int(fd))
			if !errors.Is(inner, unix.EINTR) {
				return !errors.Is(inner, unix.EAGAIN)
			}
		}
	})
	if err == nil {
		err = inner
	}
	return err
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close() // passed on, or of no use
	}
}
