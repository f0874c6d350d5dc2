package git

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestSparseReader reads data between holes, and holes only by their length.
func TestSparseReader(t *testing.T) {
	t.Parallel()
	const far = 5 << 20
	tests := []struct {
		name string
		data map[int64]string
		size int64 // of the file
		read int64 // how much is asked for
	}{
		{"empty", nil, 0, 0},
		{"only a hole", nil, far, far},
		{"data, hole", map[int64]string{0: "begin"}, far, far},
		{"hole, data", map[int64]string{far: "end"}, far + 3, far + 3},
		{"data, hole, data, hole", map[int64]string{0: "begin", far: "middle"}, 2 * far, 2 * far},
		{"less than there is", map[int64]string{0: "begin", far: "middle"}, 2 * far, far + 2},
		{"shorter than asked for", map[int64]string{0: "begin"}, 7, 2 * far},
		{"a hole that is shorter than asked for", nil, 7, 2 * far},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			f, err := os.Create(filepath.Join(t.TempDir(), "f"))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			want := make([]byte, test.size)
			for at, text := range test.data {
				if _, err := f.WriteAt([]byte(text), at); err != nil {
					t.Fatal(err)
				}
				copy(want[at:], text)
			}
			if err := f.Truncate(test.size); err != nil {
				t.Fatal(err)
			}
			want = want[:min(test.size, test.read)]
			got, err := io.ReadAll(NewSparseReader(f, test.read))
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("read %d bytes, %v, want %d: equal %t", len(got), err, len(want), bytes.Equal(got, want))
			}
			to, err := os.Create(filepath.Join(t.TempDir(), "to"))
			if err != nil {
				t.Fatal(err)
			}
			defer to.Close()
			if err := CopySparse(to, f); err != nil {
				t.Fatal(err)
			}
			copied, err := os.ReadFile(to.Name())
			all, rerr := os.ReadFile(f.Name())
			if err != nil || rerr != nil || !bytes.Equal(copied, all) {
				t.Errorf("copied %d bytes of %d: %v, %v", len(copied), len(all), err, rerr)
			}
		})
	}
}

// TestCopyTerabyte copies a file that is nothing but a hole. To read it would
// take hours, to write it more than there is.
func TestCopyTerabyte(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
	if err := os.WriteFile(from, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(from, 1<<40); err != nil {
		t.Skipf("this file system has no such files: %v", err)
	}
	src, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	dst, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	defer dst.Close()
	if err := CopySparse(dst, src); err != nil {
		t.Fatal(err)
	}
	at, err := dst.Stat()
	if err != nil || at.Size() != 1<<40 || at.Sys().(*syscall.Stat_t).Blocks > 16 {
		t.Errorf("the copy has %d bytes in %d blocks, %v", at.Size(), at.Sys().(*syscall.Stat_t).Blocks, err)
	}
}
