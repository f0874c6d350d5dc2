package shim

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// grown makes a folder to move, with its contents.
func grown(t *testing.T, dir string) {
	t.Helper()
	for _, sub := range []string{"a", "b/c", "b/empty"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"1", "a/2", "b/3", "b/c/4"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	old := time.Unix(1e9, 0)
	if err := errors.Join(os.Chmod(dir, 0o750|fs.ModeSticky), os.Chtimes(dir, old, old)); err != nil {
		t.Fatal(err)
	}
}

// likeness returns the contents of a folder, with modes.
func likeness(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		all[rel] = info.Mode().String()
		if info.Mode().IsRegular() {
			text, err := os.ReadFile(path)
			all[rel] += string(text)
			return err
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// byParts moves a folder as if it could not be renamed.
func byParts(t *testing.T, tr *transfer, from, to string) error {
	t.Helper()
	info, err := os.Lstat(from)
	if err != nil {
		t.Fatal(err)
	}
	return tr.folder(folder{from: from, to: to, info: info})
}

func TestTransfer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
	grown(t, from)
	attribute := unix.Setxattr(from, "user.swarm", []byte("kept"), 0) == nil
	want := likeness(t, from)
	tr := &transfer{}
	if err := byParts(t, tr, from, to); err != nil {
		t.Fatal(err)
	}
	if got := likeness(t, to); !reflect.DeepEqual(got, want) {
		t.Errorf("moved %v, want %v", got, want)
	}
	info, err := os.Stat(to)
	if err != nil || !info.ModTime().Equal(time.Unix(1e9, 0)) {
		t.Errorf("moved: %v of %v", err, info.ModTime())
	}
	if attribute {
		value := make([]byte, 9)
		if n, err := unix.Getxattr(to, "user.swarm", value); err != nil || string(value[:n]) != "kept" {
			t.Errorf("moved: attribute %q, %v", value, err)
		}
	}
	if err := tr.back(moment{}); err != nil {
		t.Fatal(err)
	}
	if got := likeness(t, from); !reflect.DeepEqual(got, want) || exists(to) {
		t.Errorf("moved back %v, want %v", got, want)
	}
	if err := byParts(t, tr, from, to); err != nil {
		t.Fatal(err)
	}
	late := filepath.Join(from, "late")
	if err := os.WriteFile(late, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if tr.finish(); !exists(late) {
		t.Error("what somebody wrote in the meantime is gone")
	}
	if err := os.Remove(late); err != nil {
		t.Fatal(err)
	}
	if tr.finish(); exists(from) {
		t.Error("the emptied folder is still there")
	}
}

// TestTransferStops: a signal leaves all where it was.
func TestTransferStops(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
	grown(t, from)
	want := likeness(t, from)
	signals := make(chan os.Signal, 1)
	tr := &transfer{signals: signals}
	if err := byParts(t, tr, from, to); err != nil {
		t.Fatal(err)
	}
	signals <- syscall.SIGTERM
	err := tr.move(to, from)
	var interrupted *interruptError
	if !errors.As(err, &interrupted) || interrupted.code() != 143 {
		t.Fatalf("move = %v, want code 143", err)
	}
	if err := tr.back(moment{}); err != nil {
		t.Fatal(err)
	}
	if got := likeness(t, from); !reflect.DeepEqual(got, want) || exists(to) {
		t.Errorf("moved back %v, want %v", got, want)
	}
}

// TestTransferOverNothing: existing files are not touched.
func TestTransferOverNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
	grown(t, from)
	grown(t, to)
	want := likeness(t, dir)
	tr := &transfer{}
	for _, err := range []error{byParts(t, tr, from, to), tr.move(from, to), tr.move(from, filepath.Join(from, "a", "x"))} {
		if err == nil {
			t.Error("moved over what is there")
		}
	}
	if got := likeness(t, dir); !reflect.DeepEqual(got, want) {
		t.Errorf("left %v, want %v", got, want)
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
