package control

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"sync"
	"time"

	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

const (
	// patience bounds the time in which a peer sends or reads a line.
	patience = 5 * time.Second
	// carryOut bounds the time for the engine; a client waits longer.
	carryOut = 10 * time.Second
	// crowd is the number of connections for requests at the same time.
	crowd = 32
	// audience is the number of clients attached to terminals at the same time.
	// They stay for hours, and must not be in the way of requests.
	audience = 256
)

// Target carries requests out. Its methods are called from several
// goroutines.
type Target interface {
	// Carry carries out a request.
	Carry(context.Context, Request) error
	// Attach joins a terminal, and returns the function that serves the open
	// stream. The function must return when ctx, the stream or the terminal
	// ends.
	Attach(context.Context, *Attach) (func(*Stream) error, error)
	// Supervises reports whether a process is a supervisor of the run.
	Supervises(pid int) bool
}

// Server is the run's end of its control socket.
type Server struct {
	run      string
	path     string
	file     fs.FileInfo // of the socket as we made it
	secret   string
	target   Target
	listener *net.UnixListener
	end      context.CancelFunc
	slots    chan struct{}
	seats    chan struct{}
	patience time.Duration  // how long a peer may say nothing; tests have more
	work     sync.WaitGroup // the accept loop and the connections
	once     sync.Once
}

// Listen opens the control socket of a run that this process owns. The
// requests that arrive are bounded by ctx. Close it before giving the run up.
func Listen(ctx context.Context, o *store.Owner, target Target, getenv func(string) string) (*Server, error) {
	s, err := open(o, target, getenv)
	if err != nil {
		return nil, err
	}
	s.begin(ctx)
	return s, nil
}

// begin lets peers in until Close.
func (s *Server) begin(ctx context.Context) {
	ctx, s.end = context.WithCancel(ctx)
	s.work.Go(func() { s.accept(ctx) })
}

// open makes the socket, in the first folder that can hold it.
func open(o *store.Owner, target Target, getenv func(string) string) (*Server, error) {
	secret, err := writeSecret(o.Run)
	if err != nil {
		return nil, err
	}
	path, l, err := listenIn(candidates(o.Run.State(), getenv), o.Run, listen)
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false)
	s := &Server{
		run: o.Run.ID, path: path, secret: secret, target: target, listener: l, patience: patience,
		slots: make(chan struct{}, crowd), seats: make(chan struct{}, audience),
	}
	err = os.Chmod(path, 0o600)
	if err == nil {
		s.file, err = os.Lstat(path)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open control socket: %w", err), l.Close())
	}
	return s, nil
}

// listenIn makes the socket of a run in the first folder whose file system has
// sockets. Those of folders that a virtual machine shares often have none.
func listenIn(dirs []string, run *store.Run, listen func(path string) (*net.UnixListener, error)) (path string, l *net.UnixListener, err error) {
	var failed error
	for _, dir := range dirs {
		if path, err = socket(dir, run); err != nil {
			return "", nil, err
		}
		if err := prepare(dir); err != nil {
			return "", nil, err
		}
		if err := clearStale(path); err != nil {
			return "", nil, err
		}
		if l, err = listen(path); err == nil {
			return path, l, nil
		}
		failed = errors.Join(failed, fmt.Errorf("open control socket: %w", err))
	}
	return "", nil, failed
}

func listen(path string) (*net.UnixListener, error) {
	return net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
}

// clearStale removes the socket of an owner that died: the caller owns the run,
// so that no other process can be listening.
func clearStale(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("open control socket: %w", err)
	case info.Mode().Type() != fs.ModeSocket:
		return fmt.Errorf("open control socket: %s is there and is not a socket; remove it", path)
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("remove stale control socket: %w", err)
	}
	return nil
}

// Close ends all connections, waits for them and removes the socket, if no
// other process replaced it. It returns the errors of the listener and the
// removal.
func (s *Server) Close() error {
	var err error
	s.once.Do(func() {
		s.end()
		err = s.listener.Close()
		s.work.Wait()
		if now, serr := os.Lstat(s.path); serr == nil && os.SameFile(now, s.file) {
			err = errors.Join(err, os.Remove(s.path))
		}
	})
	return err
}

func (s *Server) accept(ctx context.Context) {
	for {
		conn, err := s.listener.AcceptUnix()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // too many open files, which passes
			select {
			case <-ctx.Done():
				return
			case <-time.After(100 * time.Millisecond):
			}
			continue
		}
		select {
		case s.slots <- struct{}{}:
			s.work.Go(func() {
				leave := sync.OnceFunc(func() { <-s.slots })
				defer leave()
				s.serve(ctx, conn, leave)
			})
		default:
			// The line fits into the socket's buffer: this does not wait.
			_ = answer(conn, denial(task.Overloaded, errors.New("too many are connected; try again")))
			_ = conn.Close()
		}
	}
}

// serve answers a peer. Errors go to the peer; if that fails too, nothing is
// left to report to. leave gives the peer's slot up early.
func (s *Server) serve(ctx context.Context, conn *net.UnixConn, leave func()) {
	defer conn.Close()
	if err := admit(conn, s.target.Supervises); err != nil {
		_ = answer(conn, denial(task.Refused, refusal(err)))
		return
	}
	// The end of the server wakes a read, but lets a reply go out.
	unhook := context.AfterFunc(ctx, func() { _ = conn.SetReadDeadline(time.Now()) })
	defer unhook()
	lines := bufio.NewReaderSize(conn, maxLine)
	var parts draft
	for {
		_ = conn.SetReadDeadline(time.Now().Add(s.patience))
		if ctx.Err() != nil {
			return
		}
		line, err := lines.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			_ = answer(conn, denial(task.Invalid, fmt.Errorf("a request has at most %d bytes", maxLine)))
			return
		}
		if err != nil {
			return
		}
		r, err := decodeRequest(line)
		if err == nil && !hasSecret(line, s.secret) {
			_ = answer(conn, denial(task.Refused, errors.New("the request lacks the secret of the run, which is in its folder")))
			return
		}
		if err == nil {
			r, err = parts.add(r, len(line))
		}
		if err != nil {
			err = answer(conn, denial(task.Invalid, err))
			if parts.open() {
				return // the peer's next lines would be carried out without those before
			}
		} else if attach, ok := r.(*Attach); ok {
			select {
			case s.seats <- struct{}{}:
				leave()
				s.attach(ctx, attach, &Stream{conn: conn, lines: lines})
				<-s.seats
			default:
				_ = answer(conn, denial(task.Overloaded, errors.New("too many are attached; try again")))
			}
			return
		} else {
			err = answer(conn, s.handle(ctx, r))
		}
		if err != nil {
			return
		}
	}
}

// refusal is the reason why a peer may not send requests, without the word that
// [RefusedError] puts before it at the other end again.
func refusal(err error) error {
	var refused *RefusedError
	if errors.As(err, &refused) {
		return errors.New(refused.Reason)
	}
	return err
}

// attach hands the connection over to a terminal. An error goes into the reply
// or ends the connection.
func (s *Server) attach(ctx context.Context, r *Attach, stream *Stream) {
	conn := stream.conn.(*net.UnixConn)
	join, err := s.target.Attach(ctx, r)
	if err != nil {
		_ = answer(conn, denial(task.Other, err))
		return
	}
	// An attached client may be silent for hours.
	if conn.SetReadDeadline(time.Time{}) != nil || ctx.Err() != nil ||
		answer(conn, reply{OK: true, Run: s.run, Pid: os.Getpid()}) != nil {
		return
	}
	_ = join(stream)
}

func (s *Server) handle(ctx context.Context, r Request) reply {
	ctx, cancel := context.WithTimeout(ctx, carryOut)
	defer cancel()
	if _, ok := r.(*Ping); !ok && r != nil { // nil: a part
		if err := s.target.Carry(ctx, r); err != nil {
			return denial(task.Other, err)
		}
	}
	done := reply{OK: true, Run: s.run, Pid: os.Getpid()}
	if a, ok := r.(*Answer); ok {
		done.Told = a.Told
	}
	return done
}

func answer(conn *net.UnixConn, r reply) error {
	line, err := encodeLine(r)
	if err != nil {
		return err
	}
	if err := conn.SetWriteDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	_, err = conn.Write(line)
	return err
}
