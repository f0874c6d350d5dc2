package proc

import (
	"errors"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// master is the engine's end of a terminal. The runtime cannot wait for it
// here: kqueue reports terminals unreliably (golang/go#22099), and a read
// that blocks is not ended by Close. So it never blocks, and is polled.
type master struct {
	*os.File
	readBy, writeBy atomic.Int64 // deadlines in Unix nanoseconds; 0: none
}

// glance is the time between two looks at the deadline, or at Close.
const glance = 100 * time.Millisecond

func newMaster(near *os.File) (*master, error) {
	if err := unix.SetNonblock(int(near.Fd()), true); err != nil {
		return nil, errors.Join(err, near.Close())
	}
	return &master{File: near}, nil
}

// Read reads the output. It waits until there is some.
func (m *master) Read(b []byte) (int, error) {
	for {
		n, err := m.File.Read(b)
		if !errors.Is(err, syscall.EAGAIN) {
			return n, err
		}
		if err := m.wait(unix.POLLIN, &m.readBy); err != nil {
			return 0, err
		}
	}
}

// Write types. It waits while there is no room.
func (m *master) Write(b []byte) (typed int, err error) {
	for {
		n, err := m.File.Write(b[typed:])
		typed += n
		if !errors.Is(err, syscall.EAGAIN) {
			return typed, err
		}
		if err := m.wait(unix.POLLOUT, &m.writeBy); err != nil {
			return typed, err
		}
	}
}

// SetReadDeadline bounds how long Read waits.
func (m *master) SetReadDeadline(t time.Time) error {
	m.readBy.Store(t.UnixNano())
	return nil
}

// SetWriteDeadline bounds how long Write waits.
func (m *master) SetWriteDeadline(t time.Time) error {
	m.writeBy.Store(t.UnixNano())
	return nil
}

// wait waits for an event, for a while.
func (m *master) wait(event int16, deadline *atomic.Int64) error {
	if by := deadline.Load(); by != 0 && time.Now().UnixNano() >= by {
		return os.ErrDeadlineExceeded
	}
	raw, err := m.SyscallConn()
	if err != nil {
		return err
	}
	return raw.Control(func(fd uintptr) {
		// An error here comes again with the next Read or Write.
		_, _ = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: event}},
			int(glance.Milliseconds()))
	})
}
