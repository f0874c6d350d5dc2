package precheck

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"unicode/utf8"

	"agentswarm/worktree/disk"
	"agentswarm/worktree/git"
	"agentswarm/worktree/workspace"
)

// Surroundings are where things are on a machine that a backend may be at odds
// with.
type Surroundings struct {
	At    string // the user's checkout; empty where there is none
	State string // the folder that workspaces and their bases are below
	Home  string // of the user; empty: none
	// Caches are folders of tools that agents are given beside HOME.
	Caches []string
}

// Refuses returns an error if a backend cannot make workspaces. It returns nil
// if it can, as far as a check without a workspace can tell.
func Refuses(b workspace.Backend, s Surroundings) error {
	if b != workspace.Linked {
		// Paths of mounts are passed on and recorded as JSON.
		for _, path := range []string{s.At, s.State} {
			if !utf8.ValidString(path) {
				return fmt.Errorf("%q is not UTF-8", path)
			}
		}
	}
	switch b {
	case workspace.Overlay:
		return s.covered()
	case workspace.Reflink:
		return tryClone(s.State)
	default:
		return nil
	}
}

// covered returns an error if a folder would be hidden below an overlay, or be
// a part of it.
func (s Surroundings) covered() error {
	if s.At == "" {
		return nil
	}
	if disk.Inside(s.At, s.State) {
		return fmt.Errorf("the state folder %s lies inside of the repository", s.State)
	}
	if s.Home != "" && disk.Inside(s.At, s.Home) {
		return fmt.Errorf("HOME, %s, lies inside of the repository", s.Home)
	}
	for _, dir := range s.Caches {
		if disk.Inside(s.At, dir) {
			return fmt.Errorf("the cache %s lies inside of the repository", dir)
		}
	}
	return nil
}

// tryClone clones a file once where workspaces will be.
func tryClone(state string) (err error) {
	for {
		if _, err := os.Stat(state); err == nil || state == filepath.Dir(state) {
			break
		}
		state = filepath.Dir(state)
	}
	dir, err := os.MkdirTemp(state, ".swarm-clone-")
	if err != nil {
		return fmt.Errorf("try to clone a file: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
	if err := os.WriteFile(from, []byte("some text, for an empty file may be cloned anywhere\n"), 0o600); err != nil {
		return fmt.Errorf("try to clone a file: %w", err)
	}
	if err := git.Clone(from, to); err != nil {
		var path *os.PathError
		if errors.As(err, &path) {
			err = path.Err // the name of a file of the moment says nothing
		}
		return fmt.Errorf("the file system of the state folder clones no files: %w", err)
	}
	return nil
}
