// Package isolation keeps agents apart from the rest of a machine. It finds the
// sandbox and the backend of workspaces that the machine gives, and makes the
// sandbox and the private HOME of each step of an attempt. It runs commands of
// the user in workspaces of their own.
//
// Package box composes the sandbox, and privatehome a HOME.
package isolation

import (
	"agentswarm/swarm/project"
	"agentswarm/swarm/store"
	"agentswarm/worktree"
)

// Executor makes sandboxes for the steps of a run, and runs commands of the
// user in them.
type Executor struct {
	Found
	Project  *project.Project // required
	Run      *store.Run       // required
	Settings Settings
	Trees    *worktree.Trees // the workspaces of the run; required
	Self     string          // the path of the kept binary; required
	Environ  []string        // of the process that owns the run
	Shims    string          // the folder that comes first in the PATH of agents
	Guards   string          // a folder before Shims in PATH, without a sandbox; empty: none
	Warm     string          // the layers of the command that filled the caches; empty: none
	// Step is called between the steps of making a HOME. Nil: it is not called.
	Step func(name string) error

	// templates are the common part of the private HOMEs of a driven run; nil where agents need
	// none.
	templates *templates
}

// Word names the sandbox for a person and the journal.
func (e *Executor) Word() string {
	if e.Settings.Off() && e.Level.Namespaces() {
		return "off, but for namespaces (" + e.Level.String() + ")"
	}
	if e.Settings.Off() {
		return "off"
	}
	return e.Level.String()
}

// MountedAt is where agents see workspaces that are not linked worktrees: at the
// path of the user's checkout. It is empty where nothing can be mounted: there
// they work where the files lie, since at that path would be the user's own.
func (e *Executor) MountedAt() string {
	if !e.Level.Namespaces() {
		return ""
	}
	return e.Project.Root()
}

// Walled reports whether a sandbox with namespaces is around agents.
func (e *Executor) Walled() bool { return e.Level.Namespaces() && !e.Settings.Off() }
