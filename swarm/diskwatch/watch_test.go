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

// agents are those of a test; they note what is done to them.
type agents struct {
	writers []Writer
	did     []string
}

func (a *agents) Writers() []Writer         { return slices.Clone(a.writers) }
func (a *agents) HoldForDisk(reason string) { a.did = append(a.did, "hold "+reason) }
func (a *agents) StopWriter(w Writer, why string) {
	a.did = append(a.did, "stop "+w.ID+": "+why)
}

const (
	mb = 1_000_000
	gb = 1000 * mb
)

// TestWatch feeds samples of one disk to a watch.
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
				"stop a2: wrote 212 GB in 40s; 300 MB left on the disk",
				"hold no space: 300 MB left on the disk of /state",
			},
		},
		{
			"a second one once half of it is gone", []Space{disk(300 * mb), disk(290 * mb), disk(149 * mb)},
			map[string]Written{"a1": {5 * mb, 7}, "a2": {212 * gb, 3}, "a3": {}}, 0,
			[]string{
				"stop a2: wrote 212 GB in 40s; 300 MB left on the disk",
				"hold no space: 300 MB left on the disk of /state",
				"stop a1: wrote 5.0 MB in 40s; 149 MB left on the disk",
			},
		},
		{
			"room again", []Space{disk(300 * mb), disk(700 * gb)}, nil, 0,
			[]string{"hold no space: 300 MB left on the disk of /state", "hold "},
		},
		{
			"somebody else", []Space{disk(300 * mb)}, map[string]Written{"a1": {mb / 2, 7}}, 0,
			[]string{"hold no space: 300 MB left on the disk of /state"},
		},
		{
			"soon full", []Space{disk(3 * gb), disk(1500 * mb)}, map[string]Written{"a1": {gb, 7}}, 0,
			[]string{
				"stop a1: wrote 1.0 GB in 40s; 1.5 GB left on the disk",
				"hold no space: 1.5 GB left on the disk of /state",
			},
		},
		{
			"inodes", []Space{small(90*mb, 1999)}, map[string]Written{"a1": {90 * mb, 7}, "a2": {0, 98_000}}, 0,
			[]string{
				"stop a2: wrote 98000 files in 40s; 1999 inodes left on the disk",
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
				now: func() time.Time { return start.Add(40 * time.Second) },
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

// TestWrittenSince counts what is on the disk, each file once, and no holes.
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
