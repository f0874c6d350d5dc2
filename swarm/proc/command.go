package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// find returns the absolute path of a command as execvp would find it, but
// with the PATH of the given environment and from the given folder.
func find(name, dir string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		path := name
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		if err := runnable(path); err != nil {
			return "", fmt.Errorf("command %s: %w", name, err)
		}
		return path, nil
	}
	var search string
	for _, e := range env {
		if v, ok := strings.CutPrefix(e, "PATH="); ok {
			search = v
		}
	}
	missing := fmt.Errorf("command %s: %w in PATH (%s)", name, errNotFound, search)
	if search == "" {
		return "", missing
	}
	for _, folder := range filepath.SplitList(search) {
		if !filepath.IsAbs(folder) {
			folder = filepath.Join(dir, folder)
		}
		path := filepath.Join(folder, name)
		switch err := runnable(path); {
		case err == nil:
			return path, nil
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR):
			missing = fmt.Errorf("command %s: %s: %w", name, path, err)
		}
	}
	return "", missing
}

var (
	errNotFound      = errors.New("not found")
	errNotExecutable = errors.New("not executable")
)

// runnable reports why a file cannot be run.
func runnable(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return fmt.Errorf("%w: it is a folder", errNotExecutable)
	case unix.Access(path, unix.X_OK) != nil:
		return errNotExecutable
	}
	return nil
}
