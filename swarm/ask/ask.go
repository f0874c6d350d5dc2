// Package ask owns the socket by which what an agent wants to do is asked
// about, both ends, and the one thing that is said on it: these actions, and
// whether they may be.
//
// It decides nothing. An agent reaches only its own socket, and whoever can
// reach it can ask and do no more.
package ask

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"time"
)

// Variable names the socket in the environment of an agent.
const Variable = "SWARM_ASK"

// MaxRequest bounds what is asked, in bytes: a whole file may be in it.
const MaxRequest = 4 << 20

// maxAnswer bounds what is answered, in bytes.
const maxAnswer = 64 << 10

// Action is one thing that an agent wants to do. One of Command, Write, Git
// and Tool is set.
type Action struct {
	Command string   `json:"command,omitempty"` // text for a shell
	Write   string   `json:"write,omitempty"`   // the path of a file
	Removes bool     `json:"removes,omitempty"` // with Write: the file goes
	Git     []string `json:"git,omitempty"`     // arguments of git
	Tool    string   `json:"tool,omitempty"`    // any other tool, by its name
	Target  string   `json:"target,omitempty"`  // with Tool: a URL
	Method  string   `json:"method,omitempty"`  // with Tool: of a request
	Cwd     string   `json:"cwd,omitempty"`     // where; empty: the workspace
}

// Whole reports whether an action is one: it says one thing, and nothing that
// belongs to another.
func (a *Action) Whole() bool {
	set := 0
	for _, is := range []bool{a.Command != "", a.Write != "", len(a.Git) > 0, a.Tool != ""} {
		if is {
			set++
		}
	}
	return set == 1 && (a.Tool != "" || a.Target+a.Method == "") && (a.Write != "" || !a.Removes)
}

// Request asks whether all of some actions may be.
type Request struct {
	Actions []Action `json:"actions"`
}

// Answer says whether they may.
type Answer struct {
	Allow   bool   `json:"allow"`
	Reason  string `json:"reason,omitempty"`  // of a refusal
	Instead string `json:"instead,omitempty"` // what could be done
}

// Ask asks, and waits for as long as it takes. That nobody answers is an error.
func Ask(ctx context.Context, socket string, r Request) (*Answer, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	if len(text) > MaxRequest {
		return nil, fmt.Errorf("the actions take %d bytes, and at most %d are asked about", len(text), MaxRequest)
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })()
	if _, err := conn.Write(append(text, '\n')); err != nil {
		return nil, err
	}
	line, err := bufio.NewReaderSize(conn, maxAnswer).ReadSlice('\n')
	if err != nil {
		return nil, fmt.Errorf("no answer: %w", err)
	}
	var a Answer
	if err := json.Unmarshal(line, &a); err != nil {
		return nil, fmt.Errorf("no answer that can be read: %w", err)
	}
	return &a, nil
}

// crowd is how many actions of one agent may be asked about at once.
const crowd = 64

// patience is how long a peer may take to say what it asks.
const patience = 10 * time.Second

// Socket is the end of it that answers.
type Socket struct {
	listener *net.UnixListener
	path     string
	end      context.CancelFunc
	done     chan struct{}
}

// Listen opens a socket in a folder that only this user can reach. Each request
// is answered by decide, in a goroutine of its own; its context ends when the
// peer is gone, or the socket closed.
func Listen(ctx context.Context, path string, decide func(context.Context, Request) Answer) (*Socket, error) {
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("open the ask socket: %w", err)
	}
	l.SetUnlinkOnClose(false)
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("open the ask socket: %w", err), l.Close(), os.Remove(path))
	}
	ctx, end := context.WithCancel(ctx)
	s := &Socket{listener: l, path: path, end: end, done: make(chan struct{})}
	go func() {
		defer close(s.done)
		s.accept(ctx, decide)
	}()
	return s, nil
}

// Close refuses what is open, waits for all that was at work on it, and removes
// the socket.
func (s *Socket) Close() error {
	s.end()
	err := s.listener.Close()
	<-s.done
	if rerr := os.Remove(s.path); rerr != nil && !errors.Is(rerr, os.ErrNotExist) {
		err = errors.Join(err, rerr)
	}
	return err
}

func (s *Socket) accept(ctx context.Context, decide func(context.Context, Request) Answer) {
	slots := make(chan struct{}, crowd)
	defer func() { // wait for all
		for range crowd {
			slots <- struct{}{}
		}
	}()
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
		case slots <- struct{}{}:
			go func() {
				defer func() { <-slots }()
				serve(ctx, conn, decide)
			}()
		default:
			_ = reply(conn, Answer{Reason: "too many actions are asked about at once; ask again"})
			_ = conn.Close()
		}
	}
}

// serve answers one request.
func serve(ctx context.Context, conn *net.UnixConn, decide func(context.Context, Request) Answer) {
	defer conn.Close()
	ctx, gone := context.WithCancel(ctx)
	defer gone()
	_ = conn.SetReadDeadline(time.Now().Add(patience))
	unhook := context.AfterFunc(ctx, func() { _ = conn.SetReadDeadline(time.Unix(1, 0)) })
	defer unhook()
	lines := bufio.NewReaderSize(conn, 64<<10)
	line, err := read(lines)
	if err != nil {
		_ = reply(conn, Answer{Reason: "what was asked could not be read: " + err.Error()})
		return
	}
	var r Request
	if err := json.Unmarshal(line, &r); err != nil || len(r.Actions) == 0 {
		_ = reply(conn, Answer{Reason: "what was asked could not be read: it names no action"})
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

// read reads one line, of at most MaxRequest.
func read(lines *bufio.Reader) ([]byte, error) {
	var all []byte
	for {
		part, err := lines.ReadSlice('\n')
		all = append(all, part...)
		switch {
		case len(all) > MaxRequest+1:
			return nil, fmt.Errorf("it takes more than %d bytes", MaxRequest)
		case err == nil:
			return all, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

func reply(conn *net.UnixConn, a Answer) error {
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
