package git

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestCopierStatus: a copy has the content, mode and modification time of the
// original. The returned status equals that on disk: an index is made from it
// without another stat of the file.
func TestCopierStatus(t *testing.T) {
	t.Parallel()
	when := time.Unix(1_000_000_000, 123_456_789)
	for _, test := range []struct {
		name string
		text string
		mode os.FileMode
	}{
		{"empty", "", 0o644},
		{"small", "x\n", 0o755},
		{"bits of the umask", "x\n", 0o666},
		{"read-only", "x\n", 0o444},
		{"larger than the buffer", strings.Repeat("0123456789abcdef", 40<<10), 0o600},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
			err := errors.Join(os.WriteFile(from, []byte(test.text), 0o600), os.Chmod(from, test.mode), os.Chtimes(from, when, when))
			if err != nil {
				t.Fatal(err)
			}
			got, err := new(Copier).At(Place{unix.AT_FDCWD, from}, Place{unix.AT_FDCWD, to})
			if err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(to)
			if err != nil || string(text) != test.text {
				t.Errorf("the copy has %d bytes, want %d (%v)", len(text), len(test.text), err)
			}
			var at unix.Stat_t
			if err := unix.Lstat(to, &at); err != nil {
				t.Fatal(err)
			}
			if StatOf(&got) != StatOf(&at) || got.Mode != at.Mode {
				t.Errorf("returned status %+v, on disk %+v", StatOf(&got), StatOf(&at))
			}
			if mode := os.FileMode(at.Mode & 0o777); mode != test.mode {
				t.Errorf("mode %o, want %o", mode, test.mode)
			}
			if at.Mtim != unix.NsecToTimespec(when.UnixNano()) {
				t.Errorf("modification time %v, want %v", at.Mtim, when)
			}
		})
	}
}

// TestCopierRefuses: a copy follows no symlink and replaces no file.
func TestCopierRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(file, []byte("x"), 0o600), os.Symlink("file", link)); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		from, to string
		want     error
	}{
		{link, filepath.Join(dir, "new"), unix.ELOOP},
		{file, file, unix.EEXIST},
		{file, link, unix.EEXIST},
	} {
		if _, err := new(Copier).At(Place{unix.AT_FDCWD, test.from}, Place{unix.AT_FDCWD, test.to}); !errors.Is(err, test.want) {
			t.Errorf("copy of %s to %s: %v, want %v", filepath.Base(test.from), filepath.Base(test.to), err, test.want)
		}
	}
}
