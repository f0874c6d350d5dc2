package diskwatch

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"agentswarm/internal/bytesize"
)

// Writer is an agent at work.
type Writer struct {
	ID      string
	Attempt int // tells the attempts of an agent apart
	Began   time.Time
	Dirs    []string // all that it writes to
}

// Agents are the agents of a run. All methods return at once.
type Agents interface {
	// Writers are the agents at work.
	Writers() []Writer
	// HoldForDisk starts no further agent, for a reason; empty: it does again.
	// With full set, no agent that ends can be expected to make room.
	HoldForDisk(reason string, full bool)
	// StopWriter stops an agent at work, for a reason.
	StopWriter(w Writer, reason string)
}

// Watch watches the file systems of a run.
type Watch struct {
	Dirs    []string          // required: a folder of each file system
	MaxSize int64             // bytes that an agent may write; 0: any number
	Agents  Agents            // required
	Warn    func(text string) // required: tells a person

	space   func(dir string) (Space, error)                                     // nil: [SpaceOf]
	written func(context.Context, []string, time.Time, uint64) (Written, error) // nil: [WrittenSince]
	now     func() time.Time                                                    // nil: time.Now
	disks   map[uint64]*disk                                                    // by device
	ending  map[attempt]time.Time                                               // the attempts that were stopped, and when they had begun
	told    string                                                              // why agents were held last
	idle    int                                                                 // samples in a row of a full disk without a writer
	due     time.Time                                                           // when the size limit is looked at next
}

type attempt struct {
	id string
	n  int
}

func (a Writer) attempt() attempt { return attempt{a.ID, a.Attempt} }

// patience is the number of samples of a full disk after the last running agent
// ended, before the waiting agents fail. Meanwhile workspaces are removed.
const patience = 8

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
	if w.disks == nil {
		w.disks, w.ending = map[uint64]*disk{}, map[attempt]time.Time{}
	}
}

// look takes a sample of each file system and acts on it.
func (w *Watch) look(ctx context.Context) {
	w.defaults()
	low, full, seen := "", "", map[uint64]bool{}
	for _, dir := range w.Dirs {
		s, err := w.space(dir)
		if err != nil || seen[s.Device] || s.Total == 0 {
			continue // a disk that cannot be measured is not watched
		}
		seen[s.Device] = true
		d := w.disks[s.Device]
		if d == nil {
			d = &disk{}
			w.disks[s.Device] = d
		}
		if !d.take(sample{s, w.now()}) {
			continue
		}
		low = cmp.Or(low, shortage(s, dir))
		if s.full() {
			full = cmp.Or(full, shortage(s, dir))
		}
		w.relieve(ctx, d)
	}
	w.hold(low, full)
	w.holdToSize(ctx)
}

// hold tells the agents when the disks become low, full for good, or neither.
func (w *Watch) hold(low, full string) {
	if (low == "") != (w.told == "") {
		w.told = low
		w.Agents.HoldForDisk(low, false)
		if low != "" {
			w.Warn(low + "; no further agent starts until there is more")
		}
	}
	switch {
	case full == "" || len(w.Agents.Writers()) > 0:
		if w.idle >= patience && low != "" {
			w.Agents.HoldForDisk(low, false)
		}
		w.idle = 0
	default:
		if w.idle++; w.idle == patience {
			w.Agents.HoldForDisk(full, true)
		}
	}
}

// shortage names the resource that a file system is short of.
func shortage(s Space, dir string) string {
	if s.lacksInodes() {
		return fmt.Sprintf("no inodes: %d left on the disk of %s", s.Inodes, dir)
	}
	return fmt.Sprintf("no space: %s left on the disk of %s", bytesize.Format(s.Free), dir)
}

// lacksInodes reports whether inodes are shorter than bytes, each by its
// threshold.
func (s Space) lacksInodes() bool {
	bytes, inodes := s.threshold()
	return s.MaxInode > 0 && float64(s.Inodes)*float64(bytes) < float64(s.Free)*float64(inodes)
}

// Least amounts that an agent must have written to be stopped for it.
const (
	leastBytes = 1 << 20
	leastFiles = 1000
)

// lag is the largest delay of file times behind the clock.
const lag = 100 * time.Millisecond

// relieve stops the agent that wrote most to a low file system, if the agents
// wrote at least half of the loss. It stops a second agent only once half of
// the space at that time is gone.
func (w *Watch) relieve(ctx context.Context, d *disk) {
	s, began := d.last.Space, w.now()
	if began.Before(d.due) || !w.mayStop(d) {
		return
	}
	inodes := s.lacksInodes()
	since, lost := d.lost(inodes)
	if lost <= 0 {
		return // it was low before, and no program fills it
	}
	var most Writer
	var wrote, all Written
	for _, a := range w.writers() {
		sum, err := w.written(ctx, a.Dirs, later(a.Began, since.Add(-lag)), s.Device)
		if err != nil {
			return
		}
		all.Bytes, all.Files = all.Bytes+sum.Bytes, all.Files+sum.Files
		if sum.more(wrote, inodes) {
			most, wrote = a, sum
		}
	}
	d.due = nextWalk(began, w.now())
	switch {
	case inodes && (wrote.Files < leastFiles || all.Files < lost/2):
	case !inodes && (wrote.Bytes < leastBytes || all.Bytes < lost/2):
	default:
		d.stopped = &s
		took := began.Sub(later(most.Began, since))
		if inodes {
			w.stop(most, fmt.Sprintf("wrote %d files in %s; %d inodes left on the disk", wrote.Files, span(took), s.Inodes))
			return
		}
		w.stop(most, fmt.Sprintf("wrote %s in %s; %s left on the disk", bytesize.Format(wrote.Bytes), span(took), bytesize.Format(s.Free)))
	}
}

// mayStop reports whether another agent may be stopped for a disk.
func (w *Watch) mayStop(d *disk) bool {
	switch {
	case d.stopped == nil:
		return true
	case d.stopped.empty():
		// The space cannot fall any more. The stopped agent ends first.
		return len(w.writers()) == len(w.Agents.Writers())
	default:
		return d.last.below(*d.stopped)
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// nextWalk is the time after which folders may be walked again: walks take at
// most a tenth of the time.
func nextWalk(began, ended time.Time) time.Time {
	return ended.Add(max(time.Second, 10*ended.Sub(began)))
}

// writers are the agents at work that were not stopped.
func (w *Watch) writers() []Writer {
	return slices.DeleteFunc(w.Agents.Writers(), func(a Writer) bool {
		began, ok := w.ending[a.attempt()]
		return ok && began.Equal(a.Began)
	})
}

func (w *Watch) stop(a Writer, reason string) {
	w.ending[a.attempt()] = a.Began
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
	w.due = nextWalk(began, w.now())
}

// span is a time for people: whole seconds, and less only below a second.
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
