package tool

import (
	"path/filepath"
	"syscall"
	"testing"
)

// TestOpen checks that an open never waits, also if a pipe has come in place of
// a file after the file was checked.
func TestOpen(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if f, err := open("pipe", pipe); err == nil || err.Error() != "pipe: is not a regular file" {
		t.Errorf("open of a pipe = %v, %v", f, err)
	}
	if _, err := open("gone", pipe+"x"); err == nil || err.Error() != "gone: there is no such file" {
		t.Errorf("open of nothing: %v", err)
	}
}
