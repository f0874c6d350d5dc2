// Package workspace describes the isolated tree of an attempt: its record, its
// backend, its mounts, and the places of its files and git dirs. It makes and
// removes no workspace.
package workspace

import (
	"fmt"
	"regexp"
	"sync"

	"agentswarm/worktree/git"
)

// Workspace is the isolated tree of an attempt, as it is journaled. It is plain
// data, so that another process than that which leased it can capture and
// release it.
type Workspace struct {
	Name  string   `json:"name"`
	Dir   string   `json:"dir"`
	Admin string   `json:"admin"` // its git dir: git's folder below <common>/worktrees, or a private folder
	Base  git.Hash `json:"base"`
	Index string   `json:"index"` // our copy of the index as it was after the fill

	Backend Backend `json:"backend,omitempty"` // empty: worktree
	// At is where the workspace is mounted for the processes in it; empty if
	// they use its files in place.
	At string `json:"at,omitempty"`
	// Lower is the checkout of the base that lies below the changes of an
	// overlay. If it holds only the difference from another commit, Under is
	// the checkout of that commit, and lies below it. The lowest is Along, the
	// included files of the user. Each may be empty.
	Lower string `json:"lower,omitempty"`
	Under string `json:"under,omitempty"`
	Along string `json:"along,omitempty"`
	// Settled is set if every file was older than the end of the lease. Then a
	// file with the time of the lease was not written to since.
	Settled bool `json:"settled,omitempty"`
	// Shell is a folder above those with only the initial git dir; the
	// workspace has the changes to it. Empty if the workspace has all of its
	// git dir.
	Shell string `json:"shell,omitempty"`

	// Module is the folder of a submodule whose files are captured as those of a
	// workspace, and SeenGit its git dir as its agent sees it. Both are empty for
	// a workspace that was leased.
	Module  string `json:"-"`
	SeenGit string `json:"-"`
}

// NameError says that a workspace cannot have this name.
type NameError struct{ Name string }

var nameForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`) })

// CheckName is a [*NameError] for a name that no workspace can have.
func CheckName(name string) error {
	if !nameForm().MatchString(name) {
		return &NameError{Name: name}
	}
	return nil
}

func (e *NameError) Error() string {
	return fmt.Sprintf("%q cannot name a workspace: use letters, digits, '.', '-' and '_'", e.Name)
}
