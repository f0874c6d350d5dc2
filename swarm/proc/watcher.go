package proc

import "sync"

// behind bounds the unread bytes of a watcher. Above it half of them are kept,
// so that dropping costs little for each byte.
const behind = 256 << 10

// Watcher receives the output of a terminal from some moment on.
type Watcher struct {
	// From is the number of bytes of the process's Stdout file before the first
	// chunk. A reader of these bytes and then the chunks has the whole output,
	// with no gap and nothing twice.
	From int64

	terminal *Terminal
	out      chan []byte
	wake     chan struct{} // with a capacity of 1; there is something to take
	quit     chan struct{} // closed by Close
	once     sync.Once     // closes quit
	pumped   sync.WaitGroup

	mu    sync.Mutex // guards the fields below
	next  []byte
	gap   bool // something was dropped before next
	ended bool
}

// Watch subscribes to the output from now on. The watcher must be closed.
func (t *Terminal) Watch() *Watcher {
	w := &Watcher{
		terminal: t, out: make(chan []byte),
		wake: make(chan struct{}, 1), quit: make(chan struct{}),
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	w.From = t.shown
	if t.ended {
		close(w.out)
		return w
	}
	t.watchers[w] = true
	w.pumped.Go(w.pump)
	return w
}

// Output delivers the output, in chunks that belong to the receiver. A
// character or a sequence may be cut in two by the end of a chunk.
//
// A slow watcher does not hold up the terminal. When it is more than 256 KiB
// behind it loses the oldest unread output, and an empty chunk marks the gap.
// Bytes that the file had no room for are delivered all the same.
//
// The channel is closed when all was delivered and the process is over, and by
// Close.
func (w *Watcher) Output() <-chan []byte { return w.out }

// Close unsubscribes. It may be called more than once.
func (w *Watcher) Close() {
	w.terminal.mu.Lock()
	delete(w.terminal.watchers, w)
	w.terminal.mu.Unlock()
	w.once.Do(func() { close(w.quit) })
	w.pumped.Wait()
}

// push adds output. It never waits.
func (w *Watcher) push(b []byte) {
	w.mu.Lock()
	w.next = append(w.next, b...)
	if over := len(w.next) - behind; over > 0 {
		w.next = append(w.next[:0], w.next[len(w.next)-behind/2:]...)
		w.gap = true
	}
	w.mu.Unlock()
	w.poke()
}

// end says that there will be no more.
func (w *Watcher) end() {
	w.mu.Lock()
	w.ended = true
	w.mu.Unlock()
	w.poke()
}

func (w *Watcher) poke() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// take returns all that has come meanwhile.
func (w *Watcher) take() (b []byte, gap, ended bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	b, gap = w.next, w.gap
	w.next, w.gap = nil, false
	return b, gap, w.ended
}

// pump delivers until the end or Close.
func (w *Watcher) pump() {
	defer close(w.out)
	for {
		b, gap, ended := w.take()
		if gap && !w.deliver([]byte{}) {
			return
		}
		if len(b) > 0 {
			if !w.deliver(b) {
				return
			}
			continue
		}
		if ended {
			return
		}
		select {
		case <-w.wake:
		case <-w.quit:
			return
		}
	}
}

// deliver reports whether a chunk was taken; after Close none is.
func (w *Watcher) deliver(b []byte) bool {
	select {
	case w.out <- b:
		return true
	case <-w.quit:
		return false
	}
}
