package proc

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/creack/pty"
)

const (
	// unread bounds the time in which a typed piece finds no room.
	unread = 2 * time.Second
	// piece is so small that it either fits or waits for a reader.
	piece = 1 << 10
)

var (
	// ErrUnread is the error of a Write to a process that does not read.
	ErrUnread = errors.New("type into a terminal: the process does not read " +
		"what is typed")
	// ErrOver is the error of a call on a terminal whose process is over.
	ErrOver = errors.New("the process on the terminal is over")
)

// Size is the size of a terminal, in characters.
type Size struct {
	Rows uint16 `json:"rows"`
	Cols uint16 `json:"cols"`
}

// String writes it as people do: columns first, as in 80×24.
func (s Size) String() string { return fmt.Sprintf("%d×%d", s.Cols, s.Rows) }

func (s Size) possible() bool { return s.Rows > 0 && s.Cols > 0 }

// Terminal is the engine's end of a pseudo-terminal: the screen and the
// keyboard of a process. It may be used by many goroutines.
type Terminal struct {
	master *master
	out    *output
	// unread bounds the wait of Write for a reader; tests set less.
	unread time.Duration
	typing chan struct{} // with a capacity of 1, held by the writer

	over   chan struct{} // closed when all that was shown is kept
	others sync.WaitGroup

	sizing sync.Mutex // guards size, and orders changes of it
	size   Size

	mu       sync.Mutex // guards the fields below
	watchers map[*Watcher]bool
	shown    int64 // bytes of the file that the watchers were told of
	ended    bool
}

// openTerminal opens a terminal and the files of its process, and returns
// with it the process's own end. An error leaves nothing behind.
func openTerminal(s *Spec) (_ *Terminal, slave *os.File, err error) {
	near, slave, err := pty.Open()
	if err != nil {
		return nil, nil, fmt.Errorf("open a terminal: %w", err)
	}
	m, err := takeMaster(near, *s.Terminal)
	if err != nil {
		return nil, nil, errors.Join(
			fmt.Errorf("open a terminal: %w", err), slave.Close())
	}
	t := &Terminal{
		master: m, out: newOutput(s.OutputLimit), size: *s.Terminal,
		unread: unread, typing: make(chan struct{}, 1),
		over: make(chan struct{}), watchers: map[*Watcher]bool{},
	}
	if err := t.out.create(s); err != nil {
		return nil, nil, errors.Join(err, m.Close(), slave.Close())
	}
	t.out.streams[0].from, t.out.streams[0].show = m, t.show
	return t, slave, nil
}

// takeMaster sets the size and makes a descriptor that supports deadlines; that
// of pty.Open blocks.
func takeMaster(near *os.File, size Size) (*master, error) {
	if err := pty.Setsize(near, size.winsize()); err != nil {
		return nil, errors.Join(err, near.Close())
	}
	return newMaster(near)
}

func (s Size) winsize() *pty.Winsize {
	return &pty.Winsize{Rows: s.Rows, Cols: s.Cols}
}

// begin starts to keep the output; end stops it.
func (t *Terminal) begin(p *Process) {
	t.out.drain()
	t.others.Go(func() { t.out.reportProgress(t.over, p.publish) })
	t.others.Go(func() {
		select {
		case <-t.out.full:
			p.Kill()
		case <-t.over:
		}
	})
}

// end keeps the last output, when all processes are gone, and completes the
// report of a supervisor that knows nothing about output.
func (t *Terminal) end(exit *Exit) {
	t.out.wait()
	close(t.over)
	t.others.Wait()
	t.mu.Lock()
	t.ended = true
	for w := range t.watchers {
		w.end()
	}
	clear(t.watchers)
	t.mu.Unlock()

	reason, text := exit.Reason, exit.Text
	var wrong error
	if text != "" {
		wrong = errors.New(text)
	}
	t.out.settle(exit, wrong)
	if reason != Exited {
		exit.Reason, exit.Text = reason, text
	}
}

// show passes output on to the watchers, once it is in the file.
func (t *Terminal) show(b []byte, kept int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.shown += int64(kept)
	for w := range t.watchers {
		w.push(b)
	}
}

// Write types into the terminal. Text typed while a line is edited becomes part
// of the line. The system drops text that makes the line longer than it allows
// (4095 bytes on Linux).
//
// It waits while the process does not read, but not for ever: then the error is
// ErrUnread, and the count tells how much was typed. A process that never reads
// does not see a Ctrl-C either; Stop and Kill still end it. When the process is
// over the error is ErrOver.
func (t *Terminal) Write(b []byte) (int, error) {
	if !t.sitDown() {
		return 0, ErrUnread
	}
	defer func() { <-t.typing }()
	typed := 0
	for typed < len(b) {
		n, err := t.put(b[typed:min(typed+piece, len(b))])
		typed += n
		if err != nil {
			return typed, t.explain("type into a terminal", err)
		}
	}
	return typed, nil
}

// sitDown makes the caller the only writer. It is false if another caller types
// all the time, to a process that is slow to read.
func (t *Terminal) sitDown() bool {
	select {
	case t.typing <- struct{}{}: // first, however late it is
		return true
	default:
	}
	wait := time.NewTimer(t.unread)
	defer wait.Stop()
	select {
	case t.typing <- struct{}{}:
		return true
	case <-wait.C:
		return false
	}
}

// put types a piece, or as much of it as found room in time. After the deadline
// it still types as much as there is room for: on a busy machine the deadline
// may pass before this goroutine runs.
func (t *Terminal) put(b []byte) (int, error) {
	if err := t.master.SetWriteDeadline(time.Now().Add(t.unread)); err != nil {
		return 0, err
	}
	n, err := t.master.Write(b)
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		return n, err
	}
	raw, rerr := t.master.SyscallConn()
	if rerr != nil {
		return n, err
	}
	more := 0
	rerr = raw.Control(func(fd uintptr) { more, _ = syscall.Write(int(fd), b[n:]) })
	if rerr != nil || more <= 0 {
		return n, err
	}
	return n + more, nil
}

// Resize changes the size. The system tells the foreground processes by
// SIGWINCH, unless the size stays the same. When the process is over the error
// is ErrOver.
func (t *Terminal) Resize(s Size) error {
	if !s.possible() {
		return fmt.Errorf("resize a terminal to %s: both must be at least 1", s)
	}
	t.sizing.Lock()
	defer t.sizing.Unlock()
	if err := setSize(t.master, s); err != nil {
		return t.explain("resize a terminal", err)
	}
	t.size = s
	return nil
}

// Size returns the size that was set last.
func (t *Terminal) Size() Size {
	t.sizing.Lock()
	defer t.sizing.Unlock()
	return t.size
}

// explain maps an error to the errors of this package. The system reports EIO
// when no process has the other end, and different errors for a closed file.
func (t *Terminal) explain(doing string, err error) error {
	select {
	case <-t.over:
		err = ErrOver
	default:
	}
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return ErrUnread
	case errors.Is(err, syscall.EIO):
		err = ErrOver
	}
	return fmt.Errorf("%s: %w", doing, err)
}
