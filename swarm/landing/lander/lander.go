// Package lander lands patches: it merges those of a run onto a branch, applies them to a
// checkout, takes landings back, and settles those that a crash cut off. A command, the end
// of a run, and scripts land by it, and calls that depend on others start from its merges.
//
// Package landing decides which patches land and how commits look, package queue which of
// them pass a check together, and package merge merges and moves. This package journals
// each step, and runs the checks in the workspaces that [Spaces] makes. It prints nothing.
package lander

import (
	"context"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/patch"
	"agentswarm/swarm/proc"
	"agentswarm/swarm/store"
	"agentswarm/worktree/git"
)

// Lander lands the patches of a run that this process owns.
type Lander struct {
	Repo    *git.Repo     // required
	Frozen  *git.Frozen   // the configuration of git that makes files of objects; required
	Patches *patch.Reader // required
	State   *store.State  // required
	Run     *store.Run    // required
	Owner   *store.Owner  // of the run; required
	// Workspaces are those of the run. Required for merges and undos.
	Workspaces landing.Workspaces
	// Spaces makes the workspaces of checks. Required for a merge with a check.
	Spaces Spaces
	// Agents are the agents of the run by name, as they are recorded.
	Agents map[string]*agent.Spec
	// Step is called at each step of a change of a checkout. Nil: it is not called.
	Step func(string) error
	// Calls is how the program was called, for commands in messages. Required.
	Calls string
	// Progress gets each fact about a merge that goes on. It is never called twice at the
	// same time. Nil: it is not called.
	Progress func(Progress)
}

func (ld *Lander) report(p Progress) {
	if ld.Progress != nil {
		ld.Progress(p)
	}
}

// Spaces makes workspaces in which commands of the user run, and no agent works.
type Spaces interface {
	// Prepare makes ready for the first workspace. It may be called again.
	Prepare(context.Context) error
	// In makes a workspace, runs work in it, and removes it.
	In(context.Context, SpaceRequest, func(Space) error) error
}

// SpaceRequest asks for a workspace at a commit.
type SpaceRequest struct {
	Step   engine.Step // SetupStep or CheckStep; required
	Name   string      // as a workspace may be called; required
	Commit git.Hash    // required
	// Onto is the commit that patches were merged onto. Submodules that they move
	// are filled; empty: no submodule is filled.
	Onto  git.Hash
	Saved string // the file that keeps the index of the workspace; required
	Kept  string // a folder that the command may write to; empty: there is none
	// Private is a new folder for the private files of the sandbox, which the caller
	// removes; empty: a folder that goes with the workspace.
	Private string
	Env     []string // variables that are added to those of the command
	Low     bool     // commands have the lowest priority for processors
}

// Space is such a workspace while a command may run in it.
type Space interface {
	// Dir is its folder.
	Dir() string
	// Shell runs a text by sh -c. The output goes to out+".out" and out+".err".
	Shell(ctx context.Context, text, out string) (proc.Exit, error)
}

// Report gives a fact about a merge to Progress.
func (ld *Lander) Report(p Progress) { ld.report(p) }
