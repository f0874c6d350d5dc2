package proc

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
)

// remaining reads a watcher to its end, and the gaps it was told of.
func remaining(w *Watcher) (all []byte, gaps int) {
	for b := range w.Output() {
		if len(b) == 0 {
			gaps++
		}
		all = append(all, b...)
	}
	return all, gaps
}

// TestWatchFrom has watchers come at many moments: some before any output, and
// another whenever a watcher receives some. Each must see exactly the bytes of
// the file from its start.
func TestWatchFrom(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		// Less than a watcher may be behind, so that none loses anything.
		spec := m.shell(t, "sh", "-c", "read go; seq 35000")
		p := m.start(t, spec)
		type view struct {
			from int64
			all  []byte
			gaps int
		}
		var mu sync.Mutex // guards views
		var views []view
		var watching sync.WaitGroup
		var watch func(*Watcher)
		watch = func(w *Watcher) {
			defer w.Close()
			first, open := <-w.Output()
			if open {
				next := p.Terminal().Watch()
				watching.Go(func() { watch(next) })
			}
			rest, gaps := remaining(w)
			mu.Lock()
			defer mu.Unlock()
			views = append(views, view{w.From, slices.Concat(first, rest), gaps})
		}
		for range 3 {
			w := p.Terminal().Watch()
			watching.Go(func() { watch(w) })
		}
		_, err := p.Terminal().Write([]byte("\n"))
		exit := p.Wait()
		watching.Wait()
		file := read(t, spec.Stdout)
		if err != nil || exit.StdoutBytes != int64(len(file)) || len(views) < 6 {
			t.Fatalf("%d views, %+v, %v", len(views), exit, err)
		}
		for _, v := range views {
			if v.gaps > 0 || file[v.from:] != string(v.all) {
				t.Errorf("from %d of %d: %d bytes, %d gaps",
					v.from, len(file), len(v.all), v.gaps)
			}
		}
	})
}

// TestSlowWatcher has a watcher that does not read until all is over, beside a
// watcher that does, and a watcher that comes too late.
func TestSlowWatcher(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		const much = 4 * behind
		spec := m.onTerminal(t, "waits", fmt.Sprint(much))
		p, s := m.look(t, spec)
		slow, left := p.Terminal().Watch(), p.Terminal().Watch()
		defer slow.Close()
		left.Close()
		left.Close()
		if b, open := <-left.Output(); open {
			t.Errorf("after Close it is told %q", b)
		}
		s.await(t, "ready\r\n")
		s.enter(t, "\n")
		s.await(t, strings.Repeat("z", 1000))
		p.Wait() // for no watcher
		file := read(t, spec.Stdout)
		if len(file) < much {
			t.Fatalf("the file has %d bytes, want %d and more", len(file), much)
		}

		// A second gap, if the first was found while more was shown.
		all, gaps := remaining(slow)
		if gaps < 1 || gaps > 2 || len(all) > 3*behind || !strings.HasSuffix(file, string(all[len(all)-1000:])) {
			t.Errorf("the slow one saw %d bytes, %d gaps", len(all), gaps)
		}
		seen, _ := remaining(s.watcher)
		if !bytes.HasSuffix(append(s.seen, seen...), []byte("zzz")) {
			t.Error("the one that looked did not see the end")
		}

		late := p.Terminal().Watch()
		defer late.Close()
		if all, gaps := remaining(late); late.From != int64(len(file)) || len(all)+gaps != 0 {
			t.Errorf("after the end: from %d, %d bytes, want %d, 0",
				late.From, len(all), len(file))
		}
	})
}

// TestWatcherDrops shows where the mark of a gap stands.
func TestWatcherDrops(t *testing.T) {
	t.Parallel()
	w := &Watcher{wake: make(chan struct{}, 1)}
	w.push([]byte("old"))
	w.push(bytes.Repeat([]byte("x"), behind-3))
	if b, gap, _ := w.take(); gap || len(b) != behind {
		t.Errorf("as much as is allowed: %d bytes, gap %v", len(b), gap)
	}
	w.push([]byte("old"))
	w.push(bytes.Repeat([]byte("x"), behind-3))
	w.push([]byte("new"))
	b, gap, ended := w.take()
	if !gap || ended || len(b) != behind/2 || !bytes.HasSuffix(b, []byte("xnew")) {
		t.Errorf("more: %d bytes, gap %v, ended %v", len(b), gap, ended)
	}
	w.push([]byte("x"))
	w.end()
	if b, gap, ended := w.take(); gap || !ended || string(b) != "x" {
		t.Errorf("after a gap was told: %q, gap %v, ended %v", b, gap, ended)
	}
}
