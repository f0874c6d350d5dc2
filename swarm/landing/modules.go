package landing

import (
	"context"
	"slices"

	"agentswarm/swarm/store"
	"agentswarm/worktree/git"
	"agentswarm/worktree/submodule"
)

// ModulesRequest asks which patches record commits of submodules that the user
// cannot get.
type ModulesRequest struct {
	Repo   *git.Repo      // required
	Stores string         // as in [submodule.Request]; required
	Agents []*store.Agent // required; each has a patch
}

// Unlinked is an agent whose patch records such commits.
type Unlinked struct {
	Agent   *store.Agent
	Missing []submodule.Missing
}

// Linked splits agents into those whose patches may land and the others. A patch
// is refused on its own: a recorded commit that nobody has would break each later
// checkout of the branch.
func Linked(ctx context.Context, r ModulesRequest) (may []*store.Agent, not []Unlinked, err error) {
	linked := map[git.Hash]bool{} // whether a base has submodules
	for _, a := range r.Agents {
		p := a.Patch()
		base, commit := git.Hash(p.Base), git.Hash(p.Commit)
		has, known := linked[base]
		if !known {
			// A commit that is gone is told of by the merge.
			entries, _ := r.Repo.Tree(ctx, base)
			has = slices.ContainsFunc(entries, func(e git.Entry) bool { return e.Mode == git.Gitlink })
			linked[base] = has
		}
		if !has && len(p.Modules) == 0 {
			may = append(may, a)
			continue
		}
		missing, err := r.missing(ctx, base, commit)
		if err != nil {
			return nil, nil, err
		}
		if len(missing) > 0 {
			not = append(not, Unlinked{Agent: a, Missing: missing})
		} else {
			may = append(may, a)
		}
	}
	return may, not, nil
}

func (r ModulesRequest) missing(ctx context.Context, base, commit git.Hash) ([]submodule.Missing, error) {
	if has, err := r.Repo.HasCommit(ctx, commit); err != nil || !has {
		return nil, err
	}
	changes, err := r.Repo.Changes(ctx, base, commit)
	if err != nil {
		return nil, err
	}
	_, missing, err := submodule.Steps(ctx, submodule.Request{
		Repo: r.Repo, Stores: r.Stores, From: base, Changes: changes,
	})
	return missing, err
}
