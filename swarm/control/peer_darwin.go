package control

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net"

	"golang.org/x/sys/unix"
)

// peerOf asks the kernel who connected.
func peerOf(conn *net.UnixConn) (peer, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return peer{}, err
	}
	var (
		p     peer
		inner error
	)
	err = raw.Control(func(fd uintptr) {
		var cred *unix.Xucred
		if cred, inner = unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED); inner != nil {
			return
		}
		p.uid = int(cred.Uid)
		p.pid, inner = unix.GetsockoptInt(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERPID)
	})
	if err := errors.Join(err, inner); err != nil {
		return peer{}, fmt.Errorf("read peer credentials: %w", err)
	}
	return p, nil
}

// refuseForeign has nothing to refuse: this system has no PID namespaces.
func refuseForeign(int) error { return nil }

func belowUs(int) bool { return false }

// isAgent tells whether a process was started with SWARM_AGENT set.
func isAgent(pid int) (bool, error) {
	text, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil {
		return false, err
	}
	// The count of arguments, the program's path, zeros, the arguments, the
	// environment.
	if len(text) < 4 {
		return false, fmt.Errorf("process %d has no arguments", pid)
	}
	count := int(binary.NativeEndian.Uint32(text))
	_, rest, _ := bytes.Cut(text[4:], []byte{0})
	rest = bytes.TrimLeft(rest, "\x00")
	for range count {
		_, rest, _ = bytes.Cut(rest, []byte{0})
	}
	return bytes.HasPrefix(rest, []byte("SWARM_AGENT=")) ||
		bytes.Contains(rest, []byte("\x00SWARM_AGENT=")), nil
}

// stillThere has no proof to ask for: this system has no handle on a process,
// and a number that was reused while we looked would not be noticed.
func stillThere(*net.UnixConn) error { return nil }
