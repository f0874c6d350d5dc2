package worktree

import (
	"context"
	"errors"
	"os"
	"slices"
	"time"

	"agentswarm/worktree/git"
	"agentswarm/worktree/survey"
	"agentswarm/worktree/workspace"
)

// origin is the commit that a capture is a change from.
type origin struct{ commit, tree git.Hash }

// have are the commits that the repository is known to hold.
func (c *capturing) have() []git.Hash {
	have := []git.Hash{c.Workspace.Base}
	if c.On != c.Workspace.Base {
		have = append(have, c.On)
	}
	if c.With != nil {
		have = append(have, c.With.Base, c.With.Commit)
	}
	return have
}

// origin finds the commit that the capture of a tree is a change from. It is
// the capture before, or that without the change which becomes part of this
// one.
func (c *capturing) origin(ctx context.Context, tree git.Hash) (origin, error) {
	on, err := c.known(ctx, c.On)
	if err != nil || c.With == nil {
		return on, err
	}
	first, err := c.known(ctx, c.With.Base)
	if err != nil {
		return on, err
	}
	from := first
	if c.With.Commit != c.On {
		rest, clean, err := c.without(ctx, on, first)
		if err != nil {
			return on, err
		}
		if clean {
			if from, err = c.rest(ctx, rest); err != nil {
				return on, err
			}
		} else {
			c.found.AddNote(survey.Entangled, "")
		}
	}
	if from.tree == tree {
		return on, nil // all of it was taken back: that is the change
	}
	return from, nil
}

// known is a commit of the repository with its tree.
func (c *capturing) known(ctx context.Context, commit git.Hash) (origin, error) {
	tree, err := c.Repo.TreeOnce(ctx, commit)
	return origin{commit: commit, tree: tree}, err
}

// without removes the earlier change from the capture before, as far as it can
// be told from later changes of others.
func (c *capturing) without(ctx context.Context, on, first origin) (rest git.Hash, clean bool, err error) {
	side := func(o origin) (git.Hash, error) { return c.aside(ctx, o.tree, c.With.Commit) }
	ours, err := side(on)
	if err != nil {
		return "", false, err
	}
	theirs, err := side(first)
	if err != nil {
		return "", false, err
	}
	merged, err := c.quarantine.MergeTree(ctx, ours, theirs)
	var crash *git.CrashError
	if errors.As(err, &crash) {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	return merged.Tree, merged.Clean, nil
}

// rest is a commit of a tree that no agent made: the workspace without the
// changes of an agent in it.
func (c *capturing) rest(ctx context.Context, tree git.Hash) (origin, error) {
	commit, err := c.aside(ctx, tree, c.On)
	return origin{commit: commit, tree: tree}, err
}

// aside makes a commit that is no agent's work. Its time is always the same, so
// that a repeated capture makes the same commit.
func (c *capturing) aside(ctx context.Context, tree, parent git.Hash) (git.Hash, error) {
	who := git.Swarm(time.Unix(0, 0).UTC())
	return c.quarantine.CommitTree(ctx, git.CommitRequest{
		Tree: tree, Parents: []git.Hash{parent}, Message: "between\n", Author: who, Committer: who,
	})
}

// passOver removes from a survey the files that were put aside for an agent
// that is still running.
func (c *capturing) passOver() error {
	if c.Aside == nil {
		return nil
	}
	root, err := os.OpenRoot(c.Workspace.Files())
	if err != nil {
		return err
	}
	defer root.Close() // only read through
	all := workspace.AsideFiles(root, c.Aside.Name, c.Aside.Text)
	c.found.Changed = slices.DeleteFunc(c.found.Changed, func(path string) bool {
		return slices.Contains(all, path) && c.base.Find(path) == nil
	})
	return nil
}
