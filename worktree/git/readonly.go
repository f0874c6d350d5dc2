package git

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// ReadOnlyError says that a repository cannot be written to. Runs keep their commits in it.
type ReadOnlyError struct {
	Dir string // of git
	Err error  // the fault, with its path
}

func (e *ReadOnlyError) Error() string {
	return fmt.Sprintf("the repository must be writable, since it keeps the commits of runs: %v", e.Err)
}

// Unwrap is the fault.
func (e *ReadOnlyError) Unwrap() error { return e.Err }

// Hint names the remedy.
func (e *ReadOnlyError) Hint() string {
	return fmt.Sprintf("make %s and the folders in it writable for you, or work in a clone that is", e.Dir)
}

// Writable returns a [*ReadOnlyError] if a run could not keep its commits in the repository.
// It writes nothing.
func (r *Repo) Writable() error {
	for _, name := range []string{"", "objects", "objects/pack", "worktrees"} {
		dir := filepath.Join(r.CommonDir, name)
		if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return &ReadOnlyError{Dir: r.CommonDir, Err: fmt.Errorf("%s: %w", dir, err)}
		}
	}
	return nil
}
