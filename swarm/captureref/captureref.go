// Package captureref owns the names of the refs that hold the work of runs: the
// captures of agents, and the commits that swarm makes of them.
//
// All of them begin with [git.OwnRefs]. Package worktree/git owns where these refs are
// kept, and how long the objects behind them are. This package makes names only.
package captureref

import (
	"fmt"

	"agentswarm/worktree/git"
)

// Run is the prefix of all refs of a run. It ends with a slash.
func Run(run string) string { return git.OwnRefs + run + "/" }

// Base is the ref that holds the base of a run.
func Base(run string) string { return Run(run) + "base" }

// Attempt is the ref of the capture of attempt n of an agent.
func Attempt[ID ~string](run string, agent ID, n int) string {
	return fmt.Sprintf("%sa/%s/%d", Run(run), agent, n)
}

// Head is the ref that holds the agent's own commits beside the capture at ref.
func Head(ref string) string { return ref + ".head" }

// Start is the ref that holds the commit that swarm merged for an agent to start
// from, beside the capture at ref.
func Start(ref string) string { return ref + ".base" }

// Copies is the prefix of the refs of changes that people made in copies of the workspaces
// of a run.
func Copies(run string) string { return Run(run) + "copy/" }

// Candidates is the prefix of the refs of commits that are verified and have not
// landed.
func Candidates(run string) string { return Run(run) + "verify/" }

// Landings is the prefix of the refs of commits that landed.
func Landings(run string) string { return Run(run) + "landed/" }

// Landing is the ref of the commit of a landing. The commit is part of the name: a
// landing that is given up leaves its number to the next landing, but not its ref.
func Landing(run string, id int, commit git.Hash) string {
	return fmt.Sprintf("%s%d-%s", Landings(run), id, commit.Short())
}

// Marked is the ref of the patch of an agent with conflict markers.
func Marked[ID ~string](run string, agent ID, commit git.Hash) string {
	return fmt.Sprintf("%smarked/%s-%s", Run(run), agent, commit.Short())
}

// Merged is the ref of a commit that was merged for a script. The whole id is part of
// the name, so that no other commit ever takes its place.
func Merged(run string, commit git.Hash) string { return Run(run) + "merged/" + string(commit) }
