package store

import (
	"context"
	"fmt"
	"io"
	"iter"
	"os"
	"time"

	"agentswarm/swarm/event"
)

// Follow delivers the records after the given number: those that are there,
// then new ones as they are written. It ends once the run has no owner and
// all was delivered. An error is the last thing it delivers; the end of ctx is
// one, after what was written before it.
func (r *Run) Follow(ctx context.Context, after int64) iter.Seq2[event.Record, error] {
	return r.tail(ctx, after, false)
}

// Watch is Follow that goes on when the owner ends, for whoever comes next.
// Only ctx or an error ends it.
func (r *Run) Watch(ctx context.Context, after int64) iter.Seq2[event.Record, error] {
	return r.tail(ctx, after, true)
}

func (r *Run) tail(ctx context.Context, after int64, always bool) iter.Seq2[event.Record, error] {
	return func(yield func(event.Record, error) bool) {
		f, err := r.OpenFile(r.Journal(), os.O_RDONLY)
		if err != nil {
			yield(event.Record{}, fmt.Errorf("follow run %s: %w", r.ID, err))
			return
		}
		defer f.Close()
		// Looking at the size of one file is cheap, works on every file
		// system and misses nothing.
		tick := time.NewTicker(40 * time.Millisecond)
		defer tick.Stop()
		t := tailer{reader: reader{file: r.Journal()}, f: f}
		for idle := 0; ; idle++ {
			// Asked first: what an owner wrote before it ended is read below.
			// Every fifth time is enough to learn of an end.
			ended, gaveUp := !always && idle%5 == 0 && !r.Live(), ctx.Err() != nil
			records, err := t.more()
			for _, rec := range records {
				if rec.N > after && !yield(rec, nil) {
					return
				}
			}
			if err != nil {
				yield(event.Record{}, err)
				return
			}
			if ended {
				return
			}
			if gaveUp {
				yield(event.Record{}, context.Cause(ctx))
				return
			}
			select {
			case <-ctx.Done(): // what was written before that is read yet
			case <-tick.C:
			}
		}
	}
}

// tailer reads a growing journal.
type tailer struct {
	reader
	f  *os.File
	at int64 // what was consumed
	// seen is the size at the last look, so that an unfinished line is
	// read again only when there is more of it.
	seen int64
}

// more reads the whole records that are new.
func (t *tailer) more() ([]event.Record, error) {
	info, err := t.f.Stat()
	if err != nil {
		return nil, fmt.Errorf("follow journal: %w", err)
	}
	size := info.Size()
	if size < t.at {
		return nil, t.corrupt("the file became shorter")
	}
	if size == t.seen {
		return nil, nil
	}
	text, err := io.ReadAll(io.NewSectionReader(t.f, t.at, size-t.at))
	if err != nil {
		return nil, fmt.Errorf("follow journal: %w", err)
	}
	records, used, err := t.read(text)
	t.at += int64(used)
	t.seen = size
	return records, err
}
