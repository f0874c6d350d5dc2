package governor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// lock holds the file of the lane as a stopped process does. A process started
// by another test may hold it a moment longer, until its exec.
func lock(t *testing.T, g *Governor) *os.File {
	t.Helper()
	f, err := lockFile(strings.TrimSuffix(g.shelf.file("p/m"), ".json")+".lock", lockTime)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestStuckFile checks that a process which holds the file for ever costs
// another process a single wait. That process continues meanwhile with the
// record that it has read, and writes its places once the file is free.
func TestStuckFile(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "governor")
	other, told := open(t, dir, real(nil)), 0
	for range 8 {
		enter(t, other)
	}
	g := open(t, dir, real(func(string) { told++ }))
	held := lock(t, g)
	g.shelf.patience = time.Millisecond
	p := enter(t, g) // for any number of places held by others, a single agent can work
	g.shelf.patience = 1000 * time.Hour
	for range 200 {
		p.Passed(0)
		p.since = time.Time{} // as if there was time between them
	}
	why, in := queue(t.Context(), g)
	if got, want := <-why, "waiting for a slot (p/m: 9 of 8)"; got != want {
		t.Errorf("it waits with %q, want %q", got, want)
	}
	if told != 1 {
		t.Errorf("a person was told %d times", told)
	}
	if n := len(readLane(t, dir).Holders); n != 1 {
		t.Errorf("%d hold the lane in a file that is locked", n)
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	if err := lock(t, g).Close(); err != nil { // no process has it any more
		t.Fatal(err)
	}
	l := g.lane("p/m")
	l.mu.Lock() // a waiter reads it
	g.shelf.patience = lockTime
	l.mu.Unlock()
	p.Passed(0)
	if n := len(readLane(t, dir).Holders); n != 2 {
		t.Errorf("%d hold the lane, want both", n)
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	if <-in == nil {
		t.Error("it was not let in")
	}
}

// TestFailedWrite checks that an event of a lane is counted once if it cannot
// be written, and is written as soon as it can be.
func TestFailedWrite(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "governor")
	g := open(t, dir, real(nil))
	file := g.shelf.file("p/m")
	if err := os.MkdirAll(filepath.Join(file, "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	p := enter(t, g)
	for n := range 3 {
		p.Passed(0)
		p.since = time.Time{}
		if got := g.lane("p/m").alone.Window.Good; got != n+1 {
			t.Errorf("%d successes count as %d", n+1, got)
		}
	}
	if err := os.RemoveAll(file); err != nil {
		t.Fatal(err)
	}
	p.Passed(0)
	if r := readLane(t, dir); r.Window.Good != 4 || len(r.Holders) != 1 {
		t.Errorf("in the file are %+v and %d holders", r.Window, len(r.Holders))
	}
}
