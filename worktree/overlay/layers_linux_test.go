package overlay

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestLayers checks the files visible through layers against the kernel's view.
func TestLayers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(dir string, files ...string) {
		for i := 0; i < len(files); i += 2 {
			path := filepath.Join(dir, files[i])
			must(t, os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(files[i+1]), 0o600))
		}
	}
	top, mid, low := filepath.Join(dir, "top"), filepath.Join(dir, "mid"), filepath.Join(dir, "low")
	write(top, "d/t", "", "hides", "")
	write(mid, "d/m", "", "hides/x", "", "e/m", "", "gone", "")
	write(low, "d/l", "", "hides/y", "", "e/l", "", "gone", "", "was/x", "", "d/cut", "")
	if err := whiteout(filepath.Join(dir, "probe")); errors.Is(err, fs.ErrPermission) {
		t.Skip("this file system takes no whiteouts, as that of a container's image:", err)
	}
	must(t, whiteout(filepath.Join(mid, "was")), whiteout(filepath.Join(top, "gone")), whiteout(filepath.Join(top, "d/cut")))
	l := Layers{top, mid, low}
	for path, want := range map[string]bool{
		"d/t": true, "d/m": true, "d/l": true, "d/cut": false, "hides": true, "hides/x": false,
		"hides/y": false, "gone": false, "was": false, "was/x": false, "e/l": true, "none/x": false,
	} {
		if got, err := l.has(path); err != nil || got != want {
			t.Errorf("has(%s) = %v, %v", path, got, err)
		}
	}
	for path, want := range map[string]string{"d": "l m t", "hides": "", "e": "l m", "was": "", "": "d e hides"} {
		names, err := l.names(path)
		must(t, err)
		var all []string
		for name := range names {
			all = append(all, name)
		}
		slices.Sort(all)
		if got := strings.Join(all, " "); got != want {
			t.Errorf("names(%s) = %q, want %q", path, got, want)
		}
	}
}

func must(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}
