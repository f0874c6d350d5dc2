package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Repository is a repository that has runs on this machine.
type Repository struct {
	// Dir is the user's checkout, or the git dir of a bare repository; the state
	// folder where no run says it.
	Dir string
	// Gone is set where Dir is not there any more.
	Gone bool
	// Runs are its runs, the latest last.
	Runs []Entry
}

// Repositories lists the repositories that have runs below the root of all state,
// in the order of their folders. It is empty where there is no state yet. A folder
// that cannot be read is an error beside the others.
func Repositories(root string) ([]Repository, error) {
	folders, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list repositories: %w", err)
	}
	var all []Repository
	var failed error
	for _, f := range folders {
		if !f.IsDir() { // a link is no folder of ours
			continue
		}
		s := &State{Dir: filepath.Join(root, f.Name())}
		entries, err := s.Runs()
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		if len(entries) == 0 {
			continue
		}
		r := Repository{Dir: s.Dir, Runs: entries}
		for _, e := range entries {
			if dir := e.Identity.Folder(); dir != "" {
				r.Dir = dir // the latest run knows best
			}
		}
		if _, err := os.Stat(r.Dir); errors.Is(err, fs.ErrNotExist) {
			r.Gone = true
		}
		all = append(all, r)
	}
	return all, failed
}

// Folder returns the checkout of the run's repository, or the git dir of a bare
// repository; empty where the identity is damaged.
func (i Identity) Folder() string {
	if i.TopLevel != "" {
		return i.TopLevel
	}
	return i.CommonDir
}
