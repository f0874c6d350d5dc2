package demo

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// The answers of the gate to an agent: a line, then the end.
const (
	sayGo     = "go"
	printLate = "late "
)

// gate is where all agents meet: a socket at which each says its name and
// waits. They are let through when all are there, which proves that all were
// alive at once, or turned away when that takes too long.
type gate struct {
	Path string // of the socket

	size     int
	patience time.Duration // from the first arrival on
	listener net.Listener
	serving  sync.WaitGroup

	mu     sync.Mutex // guards the fields below
	live   map[net.Conn]string
	peak   int
	answer string // empty while all wait
	closed bool
	timer  *time.Timer
}

// openGate opens a gate for size agents. Its socket lies in a fresh folder of
// its own, since only a short path can be the path of a socket.
func openGate(ctx context.Context, size int, patience time.Duration) (*gate, error) {
	dir, err := os.MkdirTemp("", "swarm-gate-")
	if err == nil && len(dir) > 90 {
		err = os.Remove(dir)
		if err == nil {
			dir, err = os.MkdirTemp("/tmp", "swarm-gate-")
		}
	}
	if err != nil {
		return nil, fmt.Errorf("open the gate: %w", err)
	}
	g := &gate{
		Path: filepath.Join(dir, "s"), size: size, patience: patience,
		live: map[net.Conn]string{},
	}
	g.listener, err = new(net.ListenConfig).Listen(ctx, "unix", g.Path)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the gate: %w", err), os.Remove(dir))
	}
	g.serving.Go(g.serve)
	return g, nil
}

// Close refuses new agents, waits until no agent is served any more, and
// removes the socket's folder. It returns an error if either cannot be closed
// or removed.
func (g *gate) Close() error {
	err := g.listener.Close()
	g.mu.Lock()
	g.closed = true
	for conn := range g.live {
		_ = conn.Close() // its reader ends and says so
	}
	if g.timer != nil {
		g.timer.Stop()
	}
	g.mu.Unlock()
	g.serving.Wait()
	if err = errors.Join(err, os.RemoveAll(filepath.Dir(g.Path))); err != nil {
		return fmt.Errorf("close the gate: %w", err)
	}
	return nil
}

// Peak is the largest number of packages whose agents were there at once.
func (g *gate) Peak() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.peak
}

func (g *gate) serve() {
	for {
		conn, err := g.listener.Accept()
		if err != nil {
			return // closed
		}
		if g.enter(conn) {
			g.serving.Go(func() { g.attend(conn) })
		}
	}
}

// enter takes note of a connection, so that Close can end it.
func (g *gate) enter(conn net.Conn) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		_ = conn.Close()
		return false
	}
	g.live[conn] = ""
	return true
}

// attend serves an agent until it hangs up, which it does only by ending: the
// connection is the proof that it lives.
func (g *gate) attend(conn net.Conn) {
	defer func() {
		g.mu.Lock()
		delete(g.live, conn)
		g.mu.Unlock()
		_ = conn.Close()
	}()
	lines := bufio.NewScanner(conn)
	for lines.Scan() {
		g.arrive(conn, lines.Text())
	}
}

// arrive counts an agent in and lets all through if it was the last.
func (g *gate) arrive(conn net.Conn, name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return
	}
	g.live[conn] = name
	here := g.count()
	g.peak = max(g.peak, here)
	switch {
	case g.answer != "":
		fmt.Fprintln(conn, g.answer)
	case here == g.size:
		g.print(sayGo)
	case g.timer == nil:
		g.timer = time.AfterFunc(g.patience, g.giveUp)
	}
}

// count is the number of different names that are here; g.mu is held.
func (g *gate) count() int {
	names := map[string]bool{}
	for _, name := range g.live {
		if name != "" {
			names[name] = true
		}
	}
	return len(names)
}

// giveUp turns away who has waited for too long.
func (g *gate) giveUp() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.answer == "" && !g.closed {
		g.print(fmt.Sprintf("%sonly %d of %d agents were alive after %s", printLate, g.peak, g.size, g.patience))
	}
}

// print answers everybody who waits; g.mu is held. A line fits into the buffer
// of any socket, so this does not block. Who cannot be told has ended.
func (g *gate) print(answer string) {
	g.answer = answer
	for conn, name := range g.live {
		if name != "" {
			fmt.Fprintln(conn, answer)
		}
	}
}

// meet waits at the gate until all agents are there. The returned function
// hangs up.
func meet(ctx context.Context, at, name string) (leave func(), err error) {
	defer func() {
		if err != nil {
			if ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			err = fmt.Errorf("meet the others: %w", err)
		}
	}()
	conn, err := new(net.Dialer).DialContext(ctx, "unix", at)
	if err != nil {
		return nil, err
	}
	hangUp := context.AfterFunc(ctx, func() { _ = conn.Close() })
	leave = func() {
		if hangUp() {
			_ = conn.Close()
		}
	}
	if _, err = fmt.Fprintln(conn, name); err == nil {
		var line string
		line, err = bufio.NewReader(conn).ReadString('\n')
		late, isLate := strings.CutPrefix(strings.TrimSpace(line), printLate)
		switch {
		case err != nil:
		case isLate:
			err = errors.New(late)
		default:
			return leave, nil
		}
	}
	leave()
	return nil, err
}
