// Package asksocket owns the answering end of the ask socket, by which an agent's
// actions are judged.
//
// It decides nothing. An agent in a sandbox reaches only its own socket.
// Without a sandbox it can reach the sockets of others, but it does not have
// their secrets. A process with the secret can ask and do no more.
package asksocket

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"agentswarm/swarm/ask"
	"agentswarm/swarm/strict"
)

// crowd is how many requests of an agent are served at once. More requests wait
// their turn, as most are answered at once, but not for long behind requests
// that a person has to answer.
const crowd = 64

// turn bounds their wait while no slot becomes free.
const turn = 5 * time.Second

// patience is how long a peer may take to send its request.
const patience = 10 * time.Second

// Socket is the end of it that answers.
type Socket struct {
	listener *net.UnixListener
	path     string
	secret   string
	end      context.CancelFunc
	done     chan struct{}
}

// Listen opens a socket in a folder that only this user can reach. Each request
// is answered by decide, in a goroutine of its own; its context ends when the
// peer is gone, or the socket closed.
func Listen(ctx context.Context, path string, decide func(context.Context, ask.Request) ask.Answer) (*Socket, error) {
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("open the ask socket: %w", err)
	}
	l.SetUnlinkOnClose(false)
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("open the ask socket: %w", err), l.Close(), os.Remove(path))
	}
	ctx, end := context.WithCancel(ctx)
	s := &Socket{listener: l, path: path, secret: rand.Text(), end: end, done: make(chan struct{})}
	go func() {
		defer close(s.done)
		s.accept(ctx, decide)
	}()
	return s, nil
}

// Address is the value of [ask.Variable] for the agent.
func (s *Socket) Address() string { return ask.Address(s.path, s.secret) }

// Close refuses the open requests, waits until all have been answered, and
// removes the socket. It returns the errors of the listener and the removal.
func (s *Socket) Close() error {
	s.end()
	err := s.listener.Close()
	<-s.done
	if rerr := os.Remove(s.path); rerr != nil && !errors.Is(rerr, os.ErrNotExist) {
		err = errors.Join(err, rerr)
	}
	return err
}

func (s *Socket) accept(ctx context.Context, decide func(context.Context, ask.Request) ask.Answer) {
	slots := make(chan struct{}, crowd)
	defer func() { // wait for all
		for range crowd {
			slots <- struct{}{}
		}
	}()
	moved := time.Now()
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
		if !wait(ctx, slots, moved) {
			_ = reply(conn, ask.Answer{Reason: "too many actions at once; ask again"})
			_ = conn.Close()
			continue
		}
		moved = time.Now()
		go func() {
			defer func() { <-slots }()
			s.serve(ctx, conn, decide)
		}()
	}
}

// wait takes a slot, and is false if none was free for a turn. A free slot
// counts, even if the timer or ctx has ended meanwhile.
func wait(ctx context.Context, slots chan<- struct{}, moved time.Time) bool {
	timer := time.NewTimer(time.Until(moved.Add(turn)))
	defer timer.Stop()
	select {
	case slots <- struct{}{}:
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	select {
	case slots <- struct{}{}:
		return true
	default:
		return false
	}
}

// serve answers a request.
func (s *Socket) serve(ctx context.Context, conn *net.UnixConn, decide func(context.Context, ask.Request) ask.Answer) {
	defer conn.Close()
	ctx, gone := context.WithCancel(ctx)
	defer gone()
	_ = conn.SetReadDeadline(time.Now().Add(patience))
	unhook := context.AfterFunc(ctx, func() { _ = conn.SetReadDeadline(time.Unix(1, 0)) })
	defer unhook()
	lines := bufio.NewReaderSize(conn, 64<<10)
	line, err := read(lines)
	if err != nil {
		_ = reply(conn, ask.Answer{Reason: "the action could not be read: " + err.Error()})
		return
	}
	if err := strict.Object(line); err != nil {
		_ = reply(conn, ask.Answer{Reason: "the action could not be read: " + err.Error()})
		return
	}
	var r ask.Request
	if err := json.Unmarshal(line, &r); err != nil || len(r.Actions) == 0 {
		_ = reply(conn, ask.Answer{Reason: "the action could not be read: it names no action"})
		return
	}
	if subtle.ConstantTimeCompare([]byte(r.Secret), []byte(s.secret)) != 1 {
		_ = reply(conn, ask.Answer{Reason: "this socket is another agent's: " + ask.Variable + " has the address of its own"})
		return
	}
	// A peer says no more. That it is gone is seen by a read that ends.
	_ = conn.SetReadDeadline(time.Time{})
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		_, _ = lines.ReadByte()
		gone()
	}()
	_ = reply(conn, decide(ctx, r))
	_ = conn.CloseRead()
	<-watched
}

// read reads a line, of at most ask.MaxRequest.
func read(lines *bufio.Reader) ([]byte, error) {
	var all []byte
	for {
		part, err := lines.ReadSlice('\n')
		all = append(all, part...)
		switch {
		case len(all) > ask.MaxRequest+1:
			return nil, fmt.Errorf("it takes more than %d bytes", ask.MaxRequest)
		case err == nil:
			return all, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

func reply(conn *net.UnixConn, a ask.Answer) error {
	if len(a.Reason) > 16<<10 {
		a.Reason = a.Reason[:16<<10]
	}
	if len(a.Instead) > 8<<10 {
		a.Instead = a.Instead[:8<<10]
	}
	text, err := json.Marshal(a)
	if err != nil {
		return err
	}
	_ = conn.SetWriteDeadline(time.Now().Add(patience))
	_, err = conn.Write(append(text, '\n'))
	return err
}
