package diskwatch

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// smallDisk mounts a file system of its own.
func smallDisk(t *testing.T, options string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, options); err != nil {
		t.Skipf("no small disk can be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Errorf("unmount the small disk: %v", err)
		}
	})
	return dir
}

// TestRealDisk fills a small disk, by bytes and by inodes.
func TestRealDisk(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, options, want string }{
		{"bytes", "size=64m", "no space: "},
		{"inodes", "size=64m,nr_inodes=5000", "no inodes: "},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := smallDisk(t, test.options)
			work := filepath.Join(dir, "work")
			if err := os.Mkdir(work, 0o700); err != nil {
				t.Fatal(err)
			}
			a := &agents{writers: []Writer{{ID: "a1", Dirs: []string{dir + "/none"}}, {ID: "a2", Began: time.Now().Add(-time.Minute), Dirs: []string{work}}}}
			w := &Watch{Dirs: []string{filepath.Join(dir, "runs", "later")}, Agents: a, Warn: func(string) {}}
			w.look(t.Context())
			if len(a.did) > 0 {
				t.Fatalf("on an empty disk it did %q", a.did)
			}
			if test.name == "bytes" {
				if err := os.WriteFile(filepath.Join(work, "flood"), make([]byte, 63<<20), 0o600); err != nil {
					t.Fatal(err)
				}
			} else {
				for i := range 4930 {
					if err := os.Symlink("x", filepath.Join(work, time.Duration(i).String())); err != nil {
						t.Fatal(err)
					}
				}
			}
			w.look(t.Context())
			if len(a.did) != 2 || a.did[0][:8] != "stop a2:" || a.did[1][:len("hold ")+len(test.want)] != "hold "+test.want {
				t.Errorf("on a full disk it did %q", a.did)
			}
		})
	}
}

// TestReserve takes space at the start, which is there when the disk is full.
func TestReserve(t *testing.T) {
	t.Parallel()
	dir := smallDisk(t, "size=100m")
	before, err := SpaceOf(dir)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := Reserve(dir); err != nil {
			t.Fatal(err)
		}
	}
	after, err := SpaceOf(dir)
	if took := before.Free - after.Free; err != nil || took < 2<<20-8192 || took > 2<<20+8192 {
		t.Errorf("it took %d bytes, %v, want 2 %% of 100 MiB", took, err)
	}
	fill, err := os.Create(filepath.Join(dir, "fill"))
	if err != nil {
		t.Fatal(err)
	}
	defer fill.Close()
	for err == nil {
		_, err = fill.Write(make([]byte, 1<<20))
	}
	if err := Release(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "patch"), make([]byte, 1<<20), 0o600); err != nil {
		t.Errorf("with the reserve released: %v", err)
	}
	if err := Release(dir); err != nil {
		t.Errorf("released twice: %v", err)
	}
	if err := Reserve(dir); err != nil {
		t.Errorf("Reserve on a full disk = %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "reserve")); err == nil {
		t.Error("it took the last of a full disk")
	}
}
