package control

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// peerOf asks the kernel who connected.
func peerOf(conn *net.UnixConn) (peer, error) {
	var cred *unix.Ucred
	err := onSocket(conn, func(fd int) (err error) {
		cred, err = unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
		return err
	})
	if err != nil {
		return peer{}, fmt.Errorf("read peer credentials: %w", err)
	}
	return peer{pid: int(cred.Pid), uid: int(cred.Uid)}, nil
}

func onSocket(conn *net.UnixConn, do func(fd int) error) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	err = raw.Control(func(fd uintptr) { inner = do(int(fd)) })
	return errors.Join(err, inner)
}

// refuseForeign refuses a process of another PID namespace: a sandbox has its
// own.
func refuseForeign(pid int) error {
	ours, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return &RefusedError{Reason: "our own namespace cannot be read: " + err.Error()}
	}
	theirs, err := os.Readlink(procFile(pid, "ns/pid"))
	if err != nil {
		return &RefusedError{Reason: "its namespace cannot be read: " + err.Error()}
	}
	if ours != theirs {
		return &RefusedError{Reason: "a process in another PID namespace may not control a run"}
	}
	return nil
}

// belowUs reports whether a process is in a PID namespace below ours. A process
// of a namespace above has no number here, and an ended process is in none.
func belowUs(pid int) bool {
	ours, err := os.Readlink("/proc/self/ns/pid")
	theirs, terr := os.Readlink(procFile(pid, "ns/pid"))
	return pid > 0 && err == nil && terr == nil && ours != theirs
}

// isAgent tells whether a process was started with SWARM_AGENT set.
func isAgent(pid int) (bool, error) {
	text, err := os.ReadFile(procFile(pid, "environ"))
	if err != nil {
		return false, err
	}
	return bytes.HasPrefix(text, []byte("SWARM_AGENT=")) ||
		bytes.Contains(text, []byte("\x00SWARM_AGENT=")), nil
}

func procFile(pid int, name string) string { return fmt.Sprintf("/proc/%d/%s", pid, name) }

// stillThere proves that the process that connected has not ended: its number
// was then not given to another while it was looked at.
func stillThere(conn *net.UnixConn) error {
	return onSocket(conn, func(fd int) error {
		pidfd, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_PEERPIDFD)
		if errors.Is(err, unix.ENOPROTOOPT) || errors.Is(err, unix.EINVAL) {
			return nil // before Linux 6.5 there is no such proof
		}
		if err == nil {
			err = errors.Join(unix.PidfdSendSignal(pidfd, 0, nil, 0), unix.Close(pidfd))
		}
		if err != nil {
			return &RefusedError{Reason: "the process that connected has ended"}
		}
		return nil
	})
}
