package store

import (
	"context"
	"errors"
	"os"
	"slices"
	"testing"

	"agentswarm/swarm/event"
)

func TestFollowAcrossProcesses(t *testing.T) {
	t.Parallel()
	r, o := created(t, scratch(t))
	mustClose(t, o)
	c := play(t, "append", r)
	c.line()
	var last int64 = 3
	for rec, err := range r.Follow(t.Context(), 3) {
		if err != nil {
			t.Fatal(err)
		}
		if rec.N != last+1 || rec.Event.(*event.Text).Text != sample(rec.N) {
			t.Fatalf("record %d after %d", rec.N, last)
		}
		if last = rec.N; last == 40 {
			c.end(t)
		}
	}
	records, err := r.Records()
	if err != nil || int64(len(records)) != last {
		t.Errorf("Follow delivered up to %d of %d, %v", last, len(records), err)
	}
}

func TestWatchGoesOn(t *testing.T) {
	t.Parallel()
	r, o := created(t, scratch(t))
	mustAppend(t, o, &event.Turn{N: 1})
	mustClose(t, o)
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	enough := errors.New("enough")
	var got []int64
	for rec, err := range r.Watch(ctx, 0) {
		if err != nil {
			if !errors.Is(err, enough) {
				t.Error(err)
			}
			break
		}
		got = append(got, rec.N)
		switch rec.N {
		case 1:
			again, err := r.Own(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			mustAppend(t, again, &event.Turn{N: 2})
			mustClose(t, again)
		case 2:
			cancel(enough)
		}
	}
	if !slices.Equal(got, []int64{1, 2}) {
		t.Errorf("Watch = %v, want 1 and 2", got)
	}
}

// TestFollowReadsToItsEnd cancels while there is more: the records written
// before that are still delivered.
func TestFollowReadsToItsEnd(t *testing.T) {
	t.Parallel()
	r, o := created(t, scratch(t))
	mustAppend(t, o, &event.Turn{N: 1})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var got []int64
	for rec, err := range r.Follow(ctx, 0) {
		if err != nil {
			if !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			break
		}
		if got = append(got, rec.N); rec.N == 1 {
			mustAppend(t, o, &event.Turn{N: 2})
			cancel()
		}
	}
	if want := []int64{1, 2}; !slices.Equal(got, want) {
		t.Errorf("Follow delivered %v, want %v", got, want)
	}
}

func TestFollowTellsOfDamage(t *testing.T) {
	t.Parallel()
	r, o := created(t, scratch(t))
	mustAppend(t, o, &event.Turn{N: 1}, &event.Turn{N: 2})
	for rec, err := range r.Follow(t.Context(), 0) {
		switch {
		case err == nil && rec.N == 2:
			if err := os.Truncate(r.Journal(), 10); err != nil {
				t.Fatal(err)
			}
		case err != nil:
			if _, ok := errors.AsType[*CorruptError](err); !ok {
				t.Errorf("Follow of a shortened journal = %v", err)
			}
		}
	}
	if err := o.file.Truncate(o.size); err != nil {
		t.Fatal(err)
	}
}
