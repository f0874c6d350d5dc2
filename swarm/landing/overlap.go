package landing

import (
	"agentswarm/swarm/task"
	"agentswarm/worktree/git"
)

// Changed is a patch by the files that it changes.
type Changed struct {
	Agent   task.ID
	Changes []git.Change
}

// Overlap is a file that two patches change.
type Overlap struct {
	First, Second task.ID // in the order of the patches
	Path          string
}

// FindOverlap finds the first file that two of the patches change; nil for none.
// Patches without an overlap can be applied to files in sequence, in any order.
func FindOverlap(patches []Changed) *Overlap {
	owners := map[string]task.ID{}
	for _, p := range patches {
		for _, c := range p.Changes {
			if first, taken := owners[c.Path]; taken && first != p.Agent {
				return &Overlap{First: first, Second: p.Agent, Path: c.Path}
			}
			owners[c.Path] = p.Agent
		}
	}
	return nil
}
