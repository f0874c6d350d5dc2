package proc

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// Screen is a pseudo-terminal for a visitor, and our end of it. It may be read
// and written at the same time.
type Screen struct {
	master *master
	slave  *os.File // closed once it was handed over
}

// NewScreen makes a terminal of a size. It must be closed.
func NewScreen(size Size) (*Screen, error) {
	if !size.possible() {
		return nil, fmt.Errorf("open a terminal of %s: both must be at least 1", size)
	}
	near, slave, err := pty.Open()
	if err != nil {
		return nil, fmt.Errorf("open a terminal: %w", err)
	}
	m, err := takeMaster(near, size)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open a terminal: %w", err), slave.Close())
	}
	return &Screen{master: m, slave: slave}, nil
}

// Read reads the output. It returns io.EOF when the visit is over and no
// process is left that could print more.
func (s *Screen) Read(b []byte) (int, error) {
	n, err := s.master.Read(b)
	if errors.Is(err, syscall.EIO) {
		err = io.EOF
	}
	return n, err
}

// SetReadDeadline bounds the wait of Read: processes that a visitor has left
// behind keep the terminal open.
func (s *Screen) SetReadDeadline(t time.Time) error { return s.master.SetReadDeadline(t) }

// SyscallConn is for [Hear].
func (s *Screen) SyscallConn() (syscall.RawConn, error) { return s.master.SyscallConn() }

// Write types.
func (s *Screen) Write(b []byte) (int, error) { return s.master.Write(b) }

// Resize changes the size, of which the system tells the visitor.
func (s *Screen) Resize(size Size) error {
	if !size.possible() {
		return fmt.Errorf("resize a terminal to %s: both must be at least 1", size)
	}
	return setSize(s.master, size)
}

// setSize sets the size without the number of the descriptor, whose use would
// make reads block.
func setSize(m *master, s Size) error {
	raw, err := m.SyscallConn()
	if err != nil {
		return err
	}
	var set error
	err = raw.Control(func(fd uintptr) {
		set = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: s.Rows, Col: s.Cols})
	})
	return errors.Join(err, set)
}

// Close hangs up: a visitor that is still there gets SIGHUP.
func (s *Screen) Close() error {
	_ = s.slave.Close() // it may have been handed over
	return s.master.Close()
}
