package workspace

import (
	"fmt"
	"path/filepath"
)

// Backend is how workspaces are made.
type Backend string

const (
	// Linked is a linked worktree: a whole checkout that shares refs and
	// configuration with the repository.
	Linked Backend = "worktree"
	// Overlay is a shared checkout of the base that is only read, with a folder
	// of changes and a git dir of its own for each workspace.
	Overlay Backend = "overlay"
	// Reflink is a clone of the shared checkout whose files share their blocks
	// with it, with a git dir of its own.
	Reflink Backend = "reflink"
	// Copied is a copy of the shared checkout, with a git dir of its own. It works
	// everywhere, and takes a sixth of the time that git takes for a worktree.
	Copied Backend = "copy"
)

// Backends are all of them, the cheapest first.
func Backends() []Backend { return []Backend{Overlay, Reflink, Copied, Linked} }

// ParseBackend reads the word of a backend.
func ParseBackend(word string) (Backend, error) {
	for _, b := range Backends() {
		if string(b) == word {
			return b, nil
		}
	}
	return "", fmt.Errorf("no backend is called %q: use overlay, reflink, copy or worktree", word)
}

// Below the folder of a workspace that has a git dir of its own.
const (
	GitName   = "git" // the git dir
	UpperName = "up"  // the changes of an overlay
	WorkName  = "wk"  // needed by the kernel beside UpperName
	TreeName  = "tree"
)

// Kind is the backend of a workspace; records of earlier versions name none.
func (w Workspace) Kind() Backend {
	if w.Backend == "" {
		return Linked
	}
	return w.Backend
}

// Reusable reports whether the next workspace can be made of the files of this
// workspace.
func (w Workspace) Reusable() bool { return w.Kind() == Copied || w.Kind() == Reflink }

// Private reports whether a workspace has a git dir of its own.
func (w Workspace) Private() bool { return w.Kind() != Linked }

// Path is the path of the workspace for the processes in it.
func (w Workspace) Path() string {
	if w.At != "" {
		return w.At
	}
	return w.Files()
}

// Files is the folder that holds the files on disk: all of them, or of an
// overlay those that were changed.
func (w Workspace) Files() string {
	if w.Module != "" {
		return w.Module
	}
	switch w.Kind() {
	case Overlay:
		return filepath.Join(w.Dir, UpperName)
	case Reflink, Copied:
		return filepath.Join(w.Dir, TreeName)
	default:
		return w.Dir
	}
}

// Mount is a mount for the processes in a workspace: the file or folder From,
// or else layers.
type Mount struct {
	At    string
	From  string
	Write bool // the content of From may be changed
	// Optional is set where it matters only if something is at From.
	Optional bool

	Lower       []string // the topmost first
	Upper, Work string
}

// Mounts are the mounts, in order, for the processes in the workspace. Without
// them a workspace whose path differs from Path cannot be used. For a workspace
// that can be used in place they name the writable paths.
func (w Workspace) Mounts() []Mount {
	var all []Mount
	switch w.Kind() {
	case Overlay:
		m := Mount{At: w.Path(), Upper: w.Files(), Work: filepath.Join(w.Dir, WorkName)}
		// Included files are the lowest layer: files of a base hide them.
		for _, dir := range []string{w.Shell, w.Lower, w.Under, w.Along} {
			if dir != "" {
				m.Lower = append(m.Lower, dir)
			}
		}
		all = append(all, m)
	default:
		all = append(all, Mount{At: w.Path(), From: w.Files(), Write: true})
	}
	if w.Shell != "" {
		return all // the git dir is in the overlay
	}
	if w.Private() && w.At != "" {
		return append(all, Mount{At: filepath.Join(w.At, ".git"), From: w.Admin, Write: true})
	}
	all = append(all, Mount{At: w.Admin, From: w.Admin, Write: true})
	if w.Private() {
		return all
	}
	// By these a git of the user's finds the working tree, and swarm recognizes
	// its registration. Processes in the workspace cannot change them.
	for _, name := range []string{"gitdir", "commondir", "locked"} {
		file := filepath.Join(w.Admin, name)
		all = append(all, Mount{At: file, From: file, Optional: true})
	}
	return all
}
