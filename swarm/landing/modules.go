package landing

import (
	"context"
	"fmt"

	"agentswarm/merge"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree"
	"agentswarm/worktree/git"
	"agentswarm/worktree/submodule"
)

// ModulesRequest asks which patches record commits of submodules that the user
// cannot get.
type ModulesRequest struct {
	Repo   *git.Repo      // required
	Stores string         // as in [submodule.Request]; required
	Agents []*store.Agent // each has a patch
}

// Unlinked is an agent whose patch records such commits.
type Unlinked struct {
	Agent   *store.Agent
	Missing []submodule.Missing
}

// Linked splits agents into those whose patches may land and the others. A patch
// is refused on its own: a recorded commit that does not exist would break each
// later checkout of the branch.
func Linked(ctx context.Context, r ModulesRequest) (may []*store.Agent, not []Unlinked, err error) {
	for _, a := range r.Agents {
		missing, err := r.Missing(ctx, a.Patch())
		if err != nil {
			return nil, nil, fmt.Errorf("look for submodules in the patch of %s: %w", a.ID, err)
		}
		if len(missing) > 0 {
			not = append(not, Unlinked{Agent: a, Missing: missing})
		} else {
			may = append(may, a)
		}
	}
	return may, not, nil
}

// Missing lists the commits that a patch records and that neither the repositories
// nor the stores have. It lists none if the patch itself is gone from the
// repository: the merge reports that. Agents are not looked at.
func (r ModulesRequest) Missing(ctx context.Context, p *task.Patch) ([]submodule.Missing, error) {
	base, commit := git.Hash(p.Base), git.Hash(p.Commit)
	changes, err := r.Repo.Changes(ctx, base, commit)
	if err != nil {
		for _, end := range []git.Hash{base, commit} {
			if has, lookErr := r.Repo.HasCommit(ctx, end); lookErr != nil || !has {
				return nil, lookErr
			}
		}
		return nil, err
	}
	_, missing, err := submodule.Steps(ctx, submodule.Request{
		Repo: r.Repo, Stores: r.Stores, From: base, Changes: changes,
	})
	return missing, err
}

// ModuleSource finds submodules for workspaces in the user's submodules and in the
// stores of a run. It is a [worktree.ModuleSource].
type ModuleSource struct {
	Repo   *git.Repo // required
	Stores string    // as in [submodule.Request]; required
}

// Unfetchable implements [worktree.ModuleSource].
func (s ModuleSource) Unfetchable(ctx context.Context, commit git.Hash, links []git.Change) ([]worktree.ModuleFill, error) {
	steps, err := submodule.Unpublished(ctx, submodule.UnpublishedRequest{
		Repo: s.Repo, Stores: s.Stores, Commit: commit, Links: links,
	})
	fills := ModuleFills(steps)
	for i := range fills {
		fills[i].Lax = steps[i].Store == nil // a clone of the user's may be partial
	}
	return fills, err
}

// ModuleFills says where the commits of steps come from.
func ModuleFills(steps []submodule.Step) []worktree.ModuleFill {
	fills := make([]worktree.ModuleFill, len(steps))
	for i, s := range steps {
		fills[i] = worktree.ModuleFill{Path: s.Path, From: s.Reader(), Commit: s.To}
	}
	return fills
}

// FillRequest names a workspace at the commit of a merge.
type FillRequest struct {
	Repo         *git.Repo       // required
	Stores       string          // as in [submodule.Request]; required
	Trees        *worktree.Trees // of the run; required
	Workspace    worktree.Workspace
	Onto, Commit git.Hash // of the branch, and of the merge
}

// FillModules checks out the submodules that the commit of a workspace moves, so
// that a check sees the result. A commit that cannot be had is a
// [*merge.ModuleError]: a check without it would blame the patch.
func FillModules(ctx context.Context, r FillRequest) error {
	changes, err := r.Repo.Changes(ctx, r.Onto, r.Commit)
	if err != nil {
		return err
	}
	steps, missing, err := submodule.Steps(ctx, submodule.Request{
		Repo: r.Repo, Stores: r.Stores, From: r.Onto, Changes: changes,
	})
	if err == nil && len(missing) > 0 {
		err = &merge.ModuleError{Missing: missing}
	}
	if err != nil || len(steps) == 0 {
		return err
	}
	return r.Trees.FillModules(ctx, r.Workspace, ModuleFills(steps))
}
