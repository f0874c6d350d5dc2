package merge

import (
	"fmt"
	"slices"

	"agentswarm/worktree/git"
)

// ModuleConflict is a submodule whose recorded commits do not go together. No
// file can hold both: they meet in the repository of the submodule.
type ModuleConflict struct {
	Path string
	// Ours is the commit in the target, and Theirs that in the patch. Each is
	// empty if its side has no submodule at the path.
	Ours, Theirs git.Hash
}

// Between says which side records which commit. Ours and theirs name the sides.
func (c ModuleConflict) Between(ours, theirs string) string {
	return fmt.Sprintf("submodule %q: %s in %s, %s in %s", c.Path, recorded(c.Ours), ours, recorded(c.Theirs), theirs)
}

func recorded(commit git.Hash) string {
	if commit == "" {
		return "no submodule"
	}
	return "commit " + commit.Short()
}

// moduleConflicts lists the submodules among the versions that did not go
// together, by path in order. Plain is the name of a path without the name of a
// side, which git may add.
func moduleConflicts(stages []git.Stage, plain func(string) string) (all []ModuleConflict) {
	for _, s := range stages {
		if s.Mode != git.Gitlink || s.Number == 1 {
			continue
		}
		path := plain(s.Path)
		i := slices.IndexFunc(all, func(c ModuleConflict) bool { return c.Path == path })
		if i < 0 {
			i, all = len(all), append(all, ModuleConflict{Path: path})
		}
		if s.Number == 2 {
			all[i].Ours = s.ID
		} else {
			all[i].Theirs = s.ID
		}
	}
	return all
}

// ofModules reports whether a message of git is about submodules of the conflict
// alone.
func (c *Conflict) ofModules(msg git.MergeMessage, plain func(string) string) bool {
	return len(msg.Paths) > 0 && !slices.ContainsFunc(msg.Paths, func(path string) bool {
		return !slices.ContainsFunc(c.Modules, func(m ModuleConflict) bool { return m.Path == plain(path) })
	})
}
