package demo

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestGateLetsAllThroughAtOnce(t *testing.T) {
	t.Parallel()
	const size = 100
	g := newGate(t, size, time.Minute)
	errs := make([]error, size)
	var all sync.WaitGroup
	for i := range size {
		all.Go(func() {
			leave, err := meet(t.Context(), g.Path, fmt.Sprint("agent", i))
			errs[i] = err
			if err == nil {
				leave()
			}
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
	if got := g.Peak(); got != size {
		t.Errorf("Peak = %d, want %d", got, size)
	}
	// A later agent, such as that of a second attempt, need not wait.
	leave, err := meet(t.Context(), g.Path, "agent0")
	if err != nil {
		t.Fatalf("meet afterwards = %v, want to pass", err)
	}
	leave()
}

func TestGateGivesUp(t *testing.T) {
	t.Parallel()
	g := newGate(t, 2, time.Millisecond)
	for range 2 { // the second comes when all is over
		_, err := meet(t.Context(), g.Path, "alone")
		if err == nil || !strings.HasSuffix(err.Error(), "only 1 of 2 agents were alive after 1ms") {
			t.Errorf("meet = %v, want to hear who is missing", err)
		}
	}
	if got := g.Peak(); got != 1 {
		t.Errorf("Peak = %d, want 1", got)
	}
}

func TestGateCountsWhoIsThere(t *testing.T) {
	t.Parallel()
	g := newGate(t, 2, time.Minute)
	come := func(says string) {
		ours, theirs := net.Pipe()
		if !g.enter(ours) {
			t.Fatal("enter = false, want to be let in")
		}
		var talk sync.WaitGroup
		talk.Go(func() {
			_, _ = theirs.Write([]byte(says))
			_ = theirs.Close()
		})
		g.attend(ours)
		talk.Wait()
	}
	come("a\n")
	come("b\n") // a has gone by now, so they were never there together
	come("")    // says nothing: does not count
	if got := g.Peak(); got != 1 {
		t.Errorf("Peak = %d, want 1", got)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.live) != 0 {
		t.Errorf("%d live after all have gone, want 0", len(g.live))
	}
	ours, theirs := net.Pipe()
	g.live[ours], g.live[theirs] = "same", "same"
	if got := g.count(); got != 1 {
		t.Errorf("count = %d, want two connections of one agent to be 1", got)
	}
	g.live = map[net.Conn]string{}
}

func TestGateCloses(t *testing.T) {
	t.Parallel()
	g, err := openGate(t.Context(), 2, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := new(net.Dialer).DialContext(t.Context(), "unix", g.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := g.Close(); err != nil {
		t.Errorf("Close = %v", err)
	}
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("a waiting connection lives after Close")
	}
	if _, err := os.Stat(filepath.Dir(g.Path)); !os.IsNotExist(err) {
		t.Errorf("%s is left behind: %v", g.Path, err)
	}
	if _, err := meet(t.Context(), g.Path, "late"); err == nil {
		t.Error("meet passed a gate that is closed")
	}
}

func TestMeetIsCancelled(t *testing.T) {
	t.Parallel()
	g := newGate(t, 2, time.Minute)
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	var waiting sync.WaitGroup
	waiting.Go(func() {
		if _, err := meet(ctx, g.Path, "a"); !errors.Is(err, enough) {
			t.Errorf("meet = %v, want %v", err, enough)
		}
	})
	for g.Peak() == 0 { // until it waits
		runtime.Gosched()
	}
	cancel(enough)
	waiting.Wait()
}

func newGate(t *testing.T, size int, patience time.Duration) *gate {
	t.Helper()
	g, err := openGate(t.Context(), size, patience)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	return g
}
