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

// Follow delivers the records after the given number: the existing records,
// then new records as they are written. It ends once the run has no owner and
// all was delivered. An error is its last value. The end of ctx is such an
// error, and comes after the records written before it.
func (r *Run) Follow(ctx context.Context, after int64) iter.Seq2[event.Record, error] {
	return r.tail(ctx, after, false)
}

// Watch is Follow that continues when the owner ends, for the next owner. Only
// ctx or an error ends it.
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
		// A look at the size of a file is cheap, works on every file system and
		// misses nothing.
		tick := time.NewTicker(40 * time.Millisecond)
		defer tick.Stop()
		t := tailer{reader: reader{file: r.Journal()}, f: f}
		for idle := 0; ; idle++ {
			// This check comes first: the records of an owner before its end
			// are read below. Every fifth time is enough to learn of an end.
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
			case <-ctx.Done(): // the records written before are read yet
			case <-tick.C:
			}
		}
	}
}

// tailer reads a growing journal.
type tailer struct {
	reader
	f  *os.File
	at int64 // the offset up to which the file was read
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
