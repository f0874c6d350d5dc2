package disk

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestOpenFolders(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	deep := filepath.Join(dir, "a", "b")
	must(t, os.MkdirAll(deep, 0o755), os.WriteFile(filepath.Join(deep, "f"), nil, 0o400),
		os.Symlink("/", filepath.Join(deep, "root")))
	must(t, os.Chmod(deep, 0), os.Chmod(filepath.Dir(deep), 0o555), openFolders(filepath.Join(dir, "a")))
	for _, d := range []string{deep, filepath.Dir(deep)} {
		at, err := os.Lstat(d)
		if err != nil || at.Mode().Perm()&0o700 != 0o700 {
			t.Errorf("%s is %v, %v", d, at.Mode(), err)
		}
	}
	must(t, RemoveAll(filepath.Join(dir, "a")), RemoveAll(filepath.Join(dir, "a")))
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}
