package merge

import (
	"context"

	"agentswarm/worktree/git"
)

// rest returns the part of a patch that the target lacks: all of it, or its changes
// since [Patch.Above] where the target has those of that commit. Without it a line
// that both commits changed would conflict with its own earlier form.
func (m *merger) rest(ctx context.Context, p Patch, ends patchTrees) (Patch, patchTrees, error) {
	if p.Above == "" {
		return p, ends, nil
	}
	below := Patch{ID: p.ID, Base: p.Base, Commit: p.Above}
	under, err := m.ends(ctx, below)
	if err != nil {
		return p, ends, err
	}
	there, err := m.has(ctx, below, under)
	if err != nil || !there {
		return p, ends, err
	}
	p.Base = p.Above
	p.Commit, err = m.objects.WriteCommit(ctx, git.CommitRequest{
		Tree: ends.result, Parents: []git.Hash{p.Base}, Message: "patch\n",
		Author: m.req.Committer, Committer: m.req.Committer,
	})
	return p, patchTrees{base: under.result, result: ends.result}, err
}

// has reports whether the target holds all changes of a patch.
func (m *merger) has(ctx context.Context, p Patch, ends patchTrees) (bool, error) {
	tree, spliced, err := m.splice(ctx, ends)
	if err != nil || spliced {
		return tree == m.out.Tree, err
	}
	result, err := m.threeWay(ctx, p)
	return err == nil && result.clean && result.Tree == m.out.Tree, err
}
