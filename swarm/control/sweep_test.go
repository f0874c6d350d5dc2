package control

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// TestSweep: sockets of dead runs of any state are removed, and nothing else.
func TestSweep(t *testing.T) {
	t.Parallel()
	root, err := os.MkdirTemp("", "c") // short: a socket's path is bounded
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(root) })
	dir := filepath.Join(root, "s")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.Mkdir(dir, 0o700))
	socket := func(name string, alive bool) {
		path := filepath.Join(dir, name)
		must(os.MkdirAll(filepath.Dir(path), 0o700))
		l, err := listen(path)
		must(err)
		l.SetUnlinkOnClose(false)
		if alive {
			t.Cleanup(func() { _ = l.Close() })
			return
		}
		must(l.Close())
	}
	socket("dead01-01234567.sock", false)
	socket("dead01-01234567.a1.1/s", false)
	must(os.Mkdir(filepath.Join(dir, "dead01-01234567.a2.1"), 0o700))
	socket("dead01-01234567.dead", false) // A crash left it aside.
	socket("live01-01234567.sock", true)
	socket("live01-01234567.a1.1/s", false)
	socket("live02-01234567.a1.1/s", true)
	socket("dead02-01234567.a1.1/s", false)
	socket("other", false)
	must(os.WriteFile(filepath.Join(dir, "file01-01234567.sock"), nil, 0o600))
	must(os.WriteFile(filepath.Join(dir, "dead02-01234567.a1.1/more"), nil, 0o600))
	kept := []string{"dead02-01234567.a1.1", "file01-01234567.sock", "live01-01234567.a1.1", "live01-01234567.sock", "live02-01234567.a1.1", "other"}

	before := names(t, dir)
	folders, later := []string{filepath.Join(root, "missing"), dir}, time.Now().Add(sweepAge+time.Minute)
	must(Sweep(folders, time.Now()))
	if left := names(t, dir); !slices.Equal(left, before) {
		t.Errorf("of new sockets are left %q, want %q", left, before)
	}
	must(Sweep(folders, later))
	if left := names(t, dir); !slices.Equal(left, kept) {
		t.Errorf("left are %q, want %q", left, kept)
	}
	c, err := net.Dial("unix", filepath.Join(dir, "live01-01234567.sock"))
	must(err)
	must(c.Close())

	must(os.Chmod(dir, 0o755))
	socket("dead03-01234567.sock", false)
	must(Sweep(folders, later))
	if left := names(t, dir); !slices.Contains(left, "dead03-01234567.sock") {
		t.Errorf("in a folder that others can read are left %q", left)
	}
}

// TestSweepResumed: a run that listens again once its sockets were found dead keeps
// them.
func TestSweepResumed(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "c")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, "live01-01234567.sock")
	l, err := listen(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := sweep(path, filepath.Join(dir, "live01-01234567.dead")); err != nil {
		t.Error(err)
	}
	if left := names(t, dir); !slices.Equal(left, []string{filepath.Base(path)}) {
		t.Errorf("left are %q", left)
	}
}

func names(t *testing.T, dir string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}
