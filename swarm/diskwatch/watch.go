package diskwatch

import (
	"context"
	"fmt"
	"slices"
	"time"

	"agentswarm/internal/bytesize"
)

// Writer is an agent at work.
type Writer struct {
	ID    string
	Began time.Time
	Dirs  []string // all that it writes to
}

// Agents are the agents of a run. All methods return at once.
type Agents interface {
	// Writers are the agents at work.
	Writers() []Writer
	// HoldForDisk starts no further agent, for a reason; empty: it does again.
	HoldForDisk(reason string)
	// StopWriter stops an agent at work, for a reason.
	StopWriter(w Writer, reason string)
}

// Watch watches the file systems of a run.
type Watch struct {
	Dirs    []string          // required: a folder of each file system
	MaxSize int64             // bytes that one agent may write; 0: any number
	Agents  Agents            // required
	Warn    func(text string) // required: tells a person

	space   func(dir string) (Space, error)                                     // nil: [SpaceOf]
	written func(context.Context, []string, time.Time, uint64) (Written, error) // nil: [WrittenSince]
	now     func() time.Time                                                    // nil: time.Now
	last    map[uint64]Space                                                    // the sample before, by device
	stopped map[uint64]Space                                                    // the sample when an agent was stopped
	ending  map[string]time.Time                                                // the agents that were stopped, and when they had begun
	told    string                                                              // why agents were held last
	due     time.Time                                                           // when the size limit is looked at next
}

// gap is the time between two samples.
const gap = 250 * time.Millisecond

// Run takes samples until ctx ends.
func (w *Watch) Run(ctx context.Context) {
	tick := time.NewTicker(gap)
	defer tick.Stop()
	for {
		w.look(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (w *Watch) defaults() {
	if w.space == nil {
		w.space = SpaceOf
	}
	if w.written == nil {
		w.written = WrittenSince
	}
	if w.now == nil {
		w.now = time.Now
	}
	if w.last == nil {
		w.last, w.stopped, w.ending = map[uint64]Space{}, map[uint64]Space{}, map[string]time.Time{}
	}
}

// look takes one sample of each file system and acts on it.
func (w *Watch) look(ctx context.Context) {
	w.defaults()
	low, seen := "", map[uint64]bool{}
	for _, dir := range w.Dirs {
		s, err := w.space(dir)
		if err != nil || seen[s.Device] || s.Total == 0 {
			continue // what cannot be measured is not watched
		}
		seen[s.Device] = true
		before := w.last[s.Device]
		w.last[s.Device] = s
		if !s.low(before) {
			delete(w.stopped, s.Device)
			continue
		}
		if low == "" {
			low = shortage(s, dir)
		}
		w.relieve(ctx, s)
	}
	if (low == "") != (w.told == "") {
		w.told = low
		w.Agents.HoldForDisk(low)
		if low != "" {
			w.Warn(low + "; no further agent starts until there is more")
		}
	}
	w.holdToSize(ctx)
}

// shortage says what a file system is short of.
func shortage(s Space, dir string) string {
	if s.lacksInodes() {
		return fmt.Sprintf("no inodes: %d left on the disk of %s", s.Inodes, dir)
	}
	return fmt.Sprintf("no space: %s left on the disk of %s", bytesize.Format(s.Free), dir)
}

// lacksInodes reports whether inodes are what is short, and not bytes.
func (s Space) lacksInodes() bool {
	bytes, inodes := s.threshold()
	return s.MaxInode > 0 && s.Inodes < inodes && s.Free >= bytes
}

// least is what an agent must have written to be stopped for it.
const (
	leastBytes = 1 << 20
	leastFiles = 1000
)

// relieve stops the agent that wrote most to a file system that is low. A
// second one is stopped only once half of what was left then is gone.
func (w *Watch) relieve(ctx context.Context, s Space) {
	if then, ok := w.stopped[s.Device]; ok && !s.below(then) {
		return
	}
	inodes := s.lacksInodes()
	var most Writer
	var wrote Written
	for _, a := range w.writers() {
		sum, err := w.written(ctx, a.Dirs, a.Began, s.Device)
		if err != nil {
			return
		}
		if sum.more(wrote, inodes) {
			most, wrote = a, sum
		}
	}
	if inodes && wrote.Files < leastFiles || !inodes && wrote.Bytes < leastBytes {
		return // somebody else fills the disk
	}
	w.stopped[s.Device] = s
	took := w.now().Sub(most.Began)
	if inodes {
		w.stop(most, fmt.Sprintf("wrote %d files in %s; %d inodes left on the disk", wrote.Files, span(took), s.Inodes))
		return
	}
	w.stop(most, fmt.Sprintf("wrote %s in %s; %s left on the disk", bytesize.Format(wrote.Bytes), span(took), bytesize.Format(s.Free)))
}

// writers are the agents at work that were not stopped.
func (w *Watch) writers() []Writer {
	return slices.DeleteFunc(w.Agents.Writers(), func(a Writer) bool {
		began, ok := w.ending[a.ID]
		return ok && began.Equal(a.Began)
	})
}

func (w *Watch) stop(a Writer, reason string) {
	w.ending[a.ID] = a.Began
	w.Agents.StopWriter(a, reason)
	w.Warn(a.ID + ": stopped: " + reason)
}

// holdToSize stops the agents that wrote more than the fixed limit. It takes at
// most a tenth of the time.
func (w *Watch) holdToSize(ctx context.Context) {
	began := w.now()
	if w.MaxSize <= 0 || began.Before(w.due) {
		return
	}
	for _, a := range w.writers() {
		sum, err := w.written(ctx, a.Dirs, a.Began, 0)
		if err != nil {
			return
		}
		if sum.Bytes > w.MaxSize {
			w.stop(a, fmt.Sprintf("wrote %s in %s; workspace.max_size is %s",
				bytesize.Format(sum.Bytes), span(began.Sub(a.Began)), bytesize.Format(w.MaxSize)))
		}
	}
	w.due = w.now().Add(max(time.Second, 10*w.now().Sub(began)))
}

// span is a time for people: whole seconds, and less only below one.
func span(d time.Duration) string {
	if d < time.Second {
		return max(d, 0).Round(time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

// Folders returns the folders without those that are empty or twice in the list.
func Folders(dirs ...string) []string {
	dirs = slices.DeleteFunc(dirs, func(d string) bool { return d == "" })
	slices.Sort(dirs)
	return slices.Compact(dirs)
}
