package worktree

import (
	"agentswarm/worktree/disk"
	"agentswarm/worktree/survey"
	"agentswarm/worktree/workspace"
)

// The values at the border of this package, by the names of its users.
type (
	Workspace   = workspace.Workspace
	Backend     = workspace.Backend
	Mount       = workspace.Mount
	Aside       = workspace.Aside
	Note        = survey.Note
	NoteKind    = survey.NoteKind
	LargeFile   = survey.LargeFile
	IgnoredFile = survey.IgnoredFile
	GoneError   = survey.GoneError
)

// The backends.
const (
	Linked  = workspace.Linked
	Overlay = workspace.Overlay
	Reflink = workspace.Reflink
	Copied  = workspace.Copied
)

// SubmoduleAdded is the kind of a note that callers treat apart.
const SubmoduleAdded = survey.SubmoduleAdded

// Backends are all backends, the cheapest first.
func Backends() []Backend { return workspace.Backends() }

// ParseBackend reads the word of a backend. An unknown word is an error.
func ParseBackend(word string) (Backend, error) { return workspace.ParseBackend(word) }

// RemoveAll is [disk.RemoveAll].
func RemoveAll(dir string) error { return disk.RemoveAll(dir) }
