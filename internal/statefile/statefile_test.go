package statefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// place returns a state folder with a file in it, and a file outside.
func place(t *testing.T) (root, file, outside string) {
	t.Helper()
	top := t.TempDir()
	root, outside = filepath.Join(top, "state"), filepath.Join(top, "outside")
	file = filepath.Join(root, "runs", "k3x9q2", "journal.jsonl")
	must(t, os.MkdirAll(filepath.Dir(file), 0o700))
	must(t, os.WriteFile(file, []byte("ours"), 0o600))
	must(t, os.WriteFile(outside, []byte("theirs"), 0o600))
	return root, file, outside
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestOpenRefuses: a file that swarm did not make like this is refused by its
// path, and stays as it is.
func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, at, want string // at is relative to the root; empty: the file
		put            func(root, file, outside string) error
	}{
		{"link", "", "it is a symbolic link", func(_, file, outside string) error {
			return errors.Join(os.Remove(file), os.Symlink(outside, file))
		}},
		{"link to nothing", "", "it is a symbolic link", func(_, file, outside string) error {
			return errors.Join(os.Remove(file), os.Symlink(outside+".new", file))
		}},
		{"link within", "", "it is a symbolic link", func(_, file, _ string) error {
			return errors.Join(os.Rename(file, file+".old"), os.Symlink(file+".old", file))
		}},
		{"folder is a link", "runs/k3x9q2", "it is a symbolic link", func(_, file, _ string) error {
			dir := filepath.Dir(file)
			return errors.Join(os.Rename(dir, dir+".old"), os.Symlink(dir+".old", dir))
		}},
		{"folder is a file", "runs/k3x9q2", "it is a file", func(_, file, _ string) error {
			return errors.Join(os.RemoveAll(filepath.Dir(file)), os.WriteFile(filepath.Dir(file), nil, 0o600))
		}},
		{"folder", "", "it is a folder", func(_, file, _ string) error {
			return errors.Join(os.Remove(file), os.Mkdir(file, 0o700))
		}},
		{"pipe", "", "it is a pipe", func(_, file, _ string) error {
			return errors.Join(os.Remove(file), syscall.Mkfifo(file, 0o600))
		}},
		{"hard link", "", "it has 2 names (hard links)", func(_, file, outside string) error {
			return errors.Join(os.Remove(file), os.Link(outside, file))
		}},
		{"group may write", ".", "other users can write to it (mode 0770)", func(root, _, _ string) error {
			return os.Chmod(root, 0o770)
		}},
	} {
		for _, flags := range []int{os.O_RDONLY, os.O_RDWR | os.O_CREATE, os.O_WRONLY | os.O_CREATE | os.O_TRUNC} {
			root, file, outside := place(t)
			must(t, test.put(root, file, outside))
			f, err := Open(root, file, flags)
			if err == nil {
				t.Errorf("%s: opened with flags %x", test.name, flags)
				must(t, f.Close())
				continue
			}
			foreign, ok := errors.AsType[*ForeignError](err)
			at := file
			if test.at != "" {
				at = filepath.Join(root, test.at)
			}
			if !ok || foreign.Path != at || foreign.Reason != test.want {
				t.Errorf("%s: Open with flags %x gives %v, want %s: %s", test.name, flags, err, at, test.want)
			}
			if text, err := os.ReadFile(outside); err != nil || string(text) != "theirs" {
				t.Errorf("%s: the file outside is now %q, %v", test.name, text, err)
			}
			if _, err := os.Lstat(outside + ".new"); err == nil {
				t.Errorf("%s: a file was made outside", test.name)
			}
		}
	}
}

// TestOpenOfOthers refuses files and state folders of another user.
func TestOpenOfOthers(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	root, file, _ := place(t)
	must(t, os.Chown(file, 12345, -1))
	if _, err := Open(root, file, os.O_RDONLY); err == nil || !strings.Contains(err.Error(), "it belongs to the user 12345") {
		t.Errorf("a file of another user: %v", err)
	}
	must(t, errors.Join(os.Chown(file, 0, -1), os.Chown(root, 12345, -1)))
	if _, err := Open(root, file, os.O_RDONLY); err == nil || err.Error() != root+": it belongs to the user 12345; set SWARM_STATE_DIR to a folder of your own" {
		t.Errorf("a state folder of another user: %v", err)
	}
}

// TestOpen opens, makes and truncates files as os.OpenFile does.
func TestOpen(t *testing.T) {
	t.Parallel()
	root, file, outside := place(t)
	text, err := Read(root, file)
	if err != nil || string(text) != "ours" {
		t.Errorf("Read gives %q, %v", text, err)
	}
	f, err := Open(root, file, os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
	must(t, err)
	must(t, f.Close())
	if text, err = os.ReadFile(file); err != nil || len(text) > 0 {
		t.Errorf("truncated, it holds %q, %v", text, err)
	}
	fresh := filepath.Join(root, "fresh")
	f, err = Open(root, fresh, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	must(t, err)
	must(t, f.Close())
	if at, err := os.Stat(fresh); err != nil || at.Mode() != 0o600 {
		t.Errorf("a new file has the mode %v, %v", at.Mode(), err)
	}
	if _, err := Open(root, fresh, os.O_WRONLY|os.O_CREATE|os.O_EXCL); !errors.Is(err, fs.ErrExist) {
		t.Errorf("O_EXCL gives %v", err)
	}
	if _, err := Open(root, filepath.Join(root, "none", "file"), os.O_RDONLY); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing folder gives %v", err)
	}
	for _, path := range []string{outside, root, filepath.Join(root, "..", "outside"), root + "2"} {
		if _, err := Open(root, path, os.O_RDONLY); err == nil || !strings.Contains(err.Error(), "it is not below") {
			t.Errorf("Open(%s) gives %v", path, err)
		}
	}
}

// TestTail reads the end of a file, and all of a short file.
func TestTail(t *testing.T) {
	t.Parallel()
	_, file, _ := place(t)
	for limit, want := range map[int64]string{0: "", 2: "rs", 4: "ours", 9: "ours"} {
		if text, size, err := Tail(file, limit); err != nil || string(text) != want || size != 4 {
			t.Errorf("Tail(%d) = %q, %d, %v, want %q", limit, text, size, err, want)
		}
	}
	must(t, errors.Join(os.Remove(file), syscall.Mkfifo(file, 0o600)))
	if _, _, err := Tail(file, 4); err == nil {
		t.Error("Tail reads a pipe")
	}
}
