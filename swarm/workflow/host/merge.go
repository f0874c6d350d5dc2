package host

import (
	"context"
	"slices"

	"agentswarm/merge"
	"agentswarm/swarm/captureref"
	"agentswarm/swarm/landing/lander"
	"agentswarm/swarm/script"
	"agentswarm/swarm/script/repository"
	"agentswarm/swarm/workflow"
	"agentswarm/worktree/git"
)

// Merge merges patches onto a commit in memory. A patch that conflicts is left
// out and does not stop the others. Merge returns a [*script.Error] for a
// request that it refuses.
//
// The person and the time have no part in the commits, so that the same patches
// give the same commits again.
func (t *Tools) Merge(ctx context.Context, r workflow.MergeRequest) (*script.Merged, error) {
	if err := t.mergeable(ctx, "merge", r.Patches); err != nil {
		return nil, err
	}
	onto := git.Hash(r.Onto)
	if _, there, err := t.TreeOf(ctx, onto); err != nil || !there {
		return nil, repository.OrUnknown(err, "merge: onto %q is not a commit of this repository", script.Clip(r.Onto))
	}
	request := lander.CombineRequest{
		Onto: onto, Committer: git.Swarm(t.when), Objects: t.scratch("merge"),
		Ref: func(commit git.Hash) string { return captureref.Merged(t.config.Run.ID, commit) },
	}
	for _, p := range r.Patches {
		request.Patches = append(request.Patches, t.config.Lander.PlainPatch(p.Commit, p.Agent, p.Patch))
	}
	out, err := t.config.Lander.Combine(ctx, request)
	if err != nil {
		return nil, err
	}
	return &script.Merged{
		Tree: string(out.Commit), Applied: applied(r.Patches, out), Conflicts: scriptConflicts(out.Conflicts),
	}, nil
}

// mergeable refuses a list of patches that cannot be merged.
func (t *Tools) mergeable(ctx context.Context, verb string, patches []workflow.Patch) error {
	seen := map[string]bool{}
	for _, p := range patches {
		if seen[p.Commit] {
			return script.Refuse(script.CodeOption, "%s: patch %s of %s is named twice", verb, git.Hash(p.Commit).Short(), p.Agent)
		}
		seen[p.Commit] = true
		if err := t.Lost(ctx, p.Patch); err != nil {
			return err
		}
	}
	return nil
}

// applied are the patches that are in a merge, those that it held before
// included, in the order they were named.
func applied(patches []workflow.Patch, out *merge.Outcome) []string {
	ids := []string{}
	for _, p := range patches {
		if !slices.ContainsFunc(out.Conflicts, func(c merge.Conflict) bool { return c.ID == p.Commit }) {
			ids = append(ids, p.Commit)
		}
	}
	return ids
}

// scriptConflicts are conflicts between patches that are named by commits.
func scriptConflicts(all []merge.Conflict) []script.Conflict {
	out := []script.Conflict{}
	for _, c := range all {
		out = append(out, script.Conflict{
			Patch: c.ID, With: append([]string{}, c.With...), Paths: repository.ValidAll(c.Paths),
		})
	}
	return out
}
