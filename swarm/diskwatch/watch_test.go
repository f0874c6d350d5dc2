package diskwatch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// agents are those of a test; they note each call.
type agents struct {
	writers []Writer
	did     []string
}

func (a *agents) Writers() []Writer { return slices.Clone(a.writers) }

func (a *agents) HoldForDisk(reason string, full bool) {
	if full {
		a.did = append(a.did, "full "+reason)
		return
	}
	a.did = append(a.did, "hold "+reason)
}
func (a *agents) StopWriter(w Writer, why string) {
	a.did = append(a.did, "stop "+w.ID+": "+why)
}

const (
	mb = 1_000_000
	gb = 1000 * mb
)

// TestWatch feeds samples of a disk to a watch.
func TestWatch(t *testing.T) {
	t.Parallel()
	start := time.Unix(1000, 0)
	disk := func(free int64) Space { return Space{Free: free, Total: 1000 * gb, Device: 1} }
	small := func(free, inodes int64) Space {
		return Space{Free: free, Total: 100 * mb, Inodes: inodes, MaxInode: 100_000, Device: 1}
	}
	tests := []struct {
		name    string
		samples []Space
		wrote   map[string]Written
		max     int64
		want    []string
	}{
		{"enough", []Space{disk(600 * gb), disk(599 * gb)}, nil, 0, nil},
		{
			"full", []Space{disk(2 * gb), disk(300 * mb)},
			map[string]Written{"a1": {5 * mb, 7}, "a2": {212 * gb, 3}, "a3": {}}, 0,
			[]string{
				"stop a2: wrote 212 GB in 1s; 300 MB left on the disk",
				"hold no space: 300 MB left on the disk of /state",
			},
		},
		{
			"a second one once half of it is gone", []Space{disk(2 * gb), disk(300 * mb), disk(290 * mb), disk(150 * mb)},
			map[string]Written{"a1": {90 * mb, 7}, "a2": {212 * gb, 3}, "a3": {}}, 0,
			[]string{
				"stop a2: wrote 212 GB in 1s; 300 MB left on the disk",
				"hold no space: 300 MB left on the disk of /state",
				"stop a1: wrote 90 MB in 2s; 150 MB left on the disk",
			},
		},
		{
			"room again", []Space{disk(300 * mb), disk(700 * gb)}, nil, 0,
			[]string{"hold no space: 300 MB left on the disk of /state", "hold "},
		},
		{
			"low before the run", []Space{disk(300 * mb), disk(300 * mb)}, map[string]Written{"a1": {gb, 7}}, 0,
			[]string{"hold no space: 300 MB left on the disk of /state"},
		},
		{
			"an image is pulled", []Space{disk(1900 * mb), disk(400 * mb), disk(390 * mb)},
			map[string]Written{"a1": {2 << 20, 7}, "a2": {300 * mb, 7}}, 0,
			[]string{"hold no space: 400 MB left on the disk of /state"},
		},
		{
			"together", []Space{disk(1900 * mb), disk(400 * mb)},
			map[string]Written{"a1": {300 * mb, 7}, "a2": {310 * mb, 7}, "a3": {305 * mb, 7}}, 0,
			[]string{
				"stop a2: wrote 310 MB in 1s; 400 MB left on the disk",
				"hold no space: 400 MB left on the disk of /state",
			},
		},
		{
			"nothing is left", []Space{disk(2 * gb), disk(0), disk(0), disk(0)},
			map[string]Written{"a1": {gb, 7}, "a2": {2 * gb, 7}}, 0,
			[]string{
				"stop a2: wrote 2.0 GB in 1s; 0 B left on the disk",
				"hold no space: 0 B left on the disk of /state",
			},
		},
		{
			"soon full", []Space{disk(3 * gb), disk(1500 * mb)}, map[string]Written{"a1": {gb, 7}}, 0,
			[]string{
				"stop a1: wrote 1.0 GB in 1s; 1.5 GB left on the disk",
				"hold no space: 1.5 GB left on the disk of /state",
			},
		},
		{
			"inodes", []Space{small(90*mb, 90_000), small(90*mb, 1999)}, map[string]Written{"a1": {90 * mb, 7}, "a2": {0, 98_000}}, 0,
			[]string{
				"stop a2: wrote 98000 files in 1s; 1999 inodes left on the disk",
				"hold no inodes: 1999 left on the disk of /state",
			},
		},
		{"a small disk has a small threshold", []Space{small(3*mb, 50_000)}, nil, 0, nil},
		{
			"a fixed limit, told once", []Space{disk(600 * gb), disk(600 * gb)}, map[string]Written{"a1": {5 * mb, 7}, "a2": {11 * mb, 1}}, 10 * mb,
			[]string{"stop a2: wrote 11 MB in 40s; workspace.max_size is 10 MB"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			a := &agents{}
			for _, id := range []string{"a1", "a2", "a3"} {
				a.writers = append(a.writers, Writer{ID: id, Began: start, Dirs: []string{id}})
			}
			i := 0
			w := &Watch{
				Dirs: []string{"/state", "/tmp"}, MaxSize: test.max, Agents: a, Warn: func(string) {},
				now: func() time.Time { return start.Add(time.Duration(40+i) * time.Second) },
				space: func(dir string) (Space, error) {
					if dir == "/tmp" {
						return Space{}, errors.New("no such folder")
					}
					return test.samples[i], nil
				},
				written: func(_ context.Context, dirs []string, _ time.Time, _ uint64) (Written, error) {
					return test.wrote[dirs[0]], nil
				},
			}
			for i = range test.samples {
				w.look(t.Context())
			}
			if !slices.Equal(a.did, test.want) {
				t.Errorf("it did\n%s\nwant\n%s", strings.Join(a.did, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}

// TestFull says that a disk is full only if no agent was at work in several
// samples in a row, each below the threshold itself.
func TestFull(t *testing.T) {
	t.Parallel()
	const hold, full = "hold no space: 300 MB left on the disk of /state", "full no space: 300 MB left on the disk of /state"
	forecast := "hold no space: 1.5 GB left on the disk of /state"
	low := Space{Free: 300 * mb, Total: 1000 * gb, Device: 1}
	for _, test := range []struct {
		name  string
		space func(i int) Space
		busy  int // samples with an agent at work
		looks int
		want  []string
	}{
		{"an agent is at work", func(int) Space { return low }, 100, 100, []string{hold}},
		{"just ended", func(int) Space { return low }, 3, 2 + patience, []string{hold}},
		{"ended", func(int) Space { return low }, 3, 30, []string{hold, full}},
		{"a forecast", func(i int) Space {
			if i == 0 {
				return Space{Free: 4 * gb, Total: 1000 * gb, Device: 1}
			}
			return Space{Free: 1500 * mb, Total: 1000 * gb, Device: 1}
		}, 0, 2, []string{forecast}},
		{"a forecast that goes on", func(i int) Space {
			return Space{Free: 1999*mb - int64(i%2)*900*mb, Total: 1000 * gb, Device: 1}
		}, 0, 2, []string{"hold no space: 1.1 GB left on the disk of /state"}},
		{"room again", func(i int) Space {
			if i > 20 {
				return Space{Free: 700 * gb, Total: 1000 * gb, Device: 1}
			}
			return low
		}, 0, 30, []string{hold, full, "hold "}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			a := &agents{writers: []Writer{{ID: "a1"}}}
			i := 0
			w := &Watch{
				Dirs: []string{"/state"}, Agents: a, Warn: func(string) {},
				now:   func() time.Time { return time.Unix(1000, 0).Add(time.Duration(i) * gap) },
				space: func(string) (Space, error) { return test.space(i), nil },
				written: func(context.Context, []string, time.Time, uint64) (Written, error) {
					return Written{}, nil
				},
			}
			for i = range test.looks {
				if i == test.busy {
					a.writers = nil
				}
				w.look(t.Context())
			}
			if !slices.Equal(a.did, test.want) {
				t.Errorf("it did\n%s\nwant\n%s", strings.Join(a.did, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}

// TestWalks bounds how often folders are walked while a disk is low, and counts
// only files that changed since the disk lost its space.
func TestWalks(t *testing.T) {
	t.Parallel()
	start := time.Unix(10_000, 0)
	a := &agents{writers: []Writer{{ID: "a1", Began: start.Add(-time.Hour)}}}
	var walks, i int
	w := &Watch{
		Dirs: []string{"/state"}, Agents: a, Warn: func(string) {},
		now: func() time.Time { return start.Add(time.Duration(i) * gap) },
		space: func(string) (Space, error) {
			if i == 0 {
				return Space{Free: 3 * gb, Total: 1000 * gb, Device: 1}, nil
			}
			return Space{Free: 300*mb - int64(i), Total: 1000 * gb, Device: 1}, nil
		},
		written: func(_ context.Context, _ []string, since time.Time, _ uint64) (Written, error) {
			walks++
			if since.Before(start.Add(-lag)) {
				return Written{Bytes: 5 * gb}, nil // an hour ago
			}
			return Written{Bytes: 2 << 20}, nil
		},
	}
	for i = range 1 + 40 {
		w.look(t.Context())
	}
	if walks != 10 {
		t.Errorf("%d walks in 10 s, want 10", walks)
	}
	if want := []string{"hold no space: 300 MB left on the disk of /state"}; !slices.Equal(a.did, want) {
		t.Errorf("it did %q, want %q", a.did, want)
	}
}

// TestBelow compares samples down to the last byte.
func TestBelow(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		now, then Space
		want      bool
	}{
		{Space{Free: 51}, Space{Free: 100}, false},
		{Space{Free: 50}, Space{Free: 100}, true},
		{Space{Free: 1}, Space{Free: 1}, false},
		{Space{Free: 0}, Space{Free: 1}, true},
		{Space{Free: 0}, Space{Free: 0}, true},
		{Space{Free: 100, Inodes: 0, MaxInode: 9}, Space{Free: 100, Inodes: 1, MaxInode: 9}, true},
		{Space{Free: 100}, Space{Free: 100}, false},
	} {
		if got := test.now.below(test.then); got != test.want {
			t.Errorf("%+v below %+v = %v", test.now, test.then, got)
		}
	}
}

// TestShort is the room that a disk below its threshold lacks.
func TestShort(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		space         Space
		bytes, inodes int64
	}{
		{Space{Free: 600 * mb, Total: 1000 * gb}, 0, 0},
		{Space{Free: 500 * mb, Total: 1000 * gb}, 2*maxLow - 500*mb, 0},
		{Space{Free: 3 * mb, Total: 100 * mb, Inodes: 100, MaxInode: 100_000}, mb, 3900},
	} {
		if bytes, inodes := test.space.Short(); bytes != test.bytes || inodes != test.inodes {
			t.Errorf("%+v lacks %d bytes, %d inodes; want %d, %d", test.space, bytes, inodes, test.bytes, test.inodes)
		}
	}
}

// TestWrittenSince counts bytes on the disk, each file once, and no holes.
func TestWrittenSince(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name string, size int) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 3 {
		write(fmt.Sprint(i), 100_000)
	}
	if err := os.Link(filepath.Join(dir, "0"), filepath.Join(dir, "again")); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(dir, "1"), 1<<40); err != nil {
		t.Logf("no sparse files here: %v", err)
	}
	all, err := WrittenSince(t.Context(), []string{dir, filepath.Join(dir, "gone")}, time.Time{}, 0)
	if err != nil || all.Bytes < 300_000 || all.Bytes > 400_000 || all.Files != 4 {
		t.Errorf("WrittenSince = %+v, %v, want some 300,000 bytes in 3 files and a folder", all, err)
	}
	if got, err := WrittenSince(t.Context(), []string{dir}, time.Now().Add(time.Hour), 0); err != nil || got != (Written{}) {
		t.Errorf("WrittenSince later = %+v, %v, want nothing", got, err)
	}
	if got, err := WrittenSince(t.Context(), []string{dir}, time.Time{}, ^uint64(0)); err != nil || got != (Written{}) {
		t.Errorf("WrittenSince on another disk = %+v, %v, want nothing", got, err)
	}
	ended, cancel := context.WithCancelCause(t.Context())
	cancel(errors.ErrUnsupported)
	if _, err := WrittenSince(ended, []string{dir}, time.Time{}, 0); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("WrittenSince = %v, want the cause", err)
	}
}
