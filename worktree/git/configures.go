package git

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Configures reports whether a git dir made of the template still uses exactly
// the configuration that it was made with. An agent may have written any file
// there.
func (t *Template) Configures(dir string) bool {
	for _, name := range []string{"config.worktree", "commondir"} { // which lead elsewhere
		if _, err := os.Lstat(filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) {
			return false
		}
	}
	f, err := os.OpenFile(filepath.Join(dir, "config"), os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer f.Close() // it was not written to
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() != int64(len(t.config)) {
		return false
	}
	text := make([]byte, len(t.config))
	_, err = io.ReadFull(f, text)
	return err == nil && string(text) == t.config
}
