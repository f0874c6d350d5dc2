package cli

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"agentswarm/risk"
	"agentswarm/swarm/captureref"
	"agentswarm/swarm/review/collect"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree/git"
)

// copyName is the address of a copy within its run.
func copyName(agent task.ID, n int) string {
	return (&store.Copy{Agent: agent, N: n}).Name()
}

// workAddress is the address of an agent with the work that its view shows: its
// own, or that of a copy.
func workAddress(run string, a *store.Agent) string {
	if a.Copy > 0 {
		return run + "/" + copyName(a.ID, a.Copy)
	}
	return run + "/" + string(a.ID)
}

// atCopy is an agent with the patch of copy n of its workspace.
func (p *place) atCopy(ctx context.Context, run *store.Run, a *store.Agent, n int) (*store.Agent, error) {
	patch, err := p.copyPatch(ctx, run, a.ID, n)
	if err != nil {
		return nil, err
	}
	then := a.AtCopy(n, patch)
	then.Partial = collect.IsPart(copyFolder(run, &store.Copy{Agent: a.ID, N: n}))
	return then, nil
}

// copyPatch is the patch that a person left in a copy of a workspace.
func (p *place) copyPatch(ctx context.Context, run *store.Run, agent task.ID, n int) (*task.Patch, error) {
	name := copyName(agent, n)
	kept, err := p.repo.RefsUnder(ctx, captureref.Copies(run.ID))
	if err != nil {
		return nil, err
	}
	ref := captureref.Copies(run.ID) + name
	commit := kept[ref]
	if commit == "" {
		var names []string
		for other := range kept {
			if other = strings.TrimPrefix(other, captureref.Copies(run.ID)); strings.HasPrefix(other, string(agent)+"-") && !strings.Contains(other, ".") {
				names = append(names, other)
			}
		}
		if len(names) == 0 {
			return nil, usagef("no copy %s: nothing was changed in a copy of %s; see `%s help shell`", name, agent, program)
		}
		return nil, usagef("no copy %s; copies of %s with a change: %s", name, agent, listed(slices.Sorted(slices.Values(names)), 5))
	}
	base, err := p.repo.Commit(ctx, string(commit)+"^")
	if err != nil {
		return nil, err
	}
	return p.patchBetween(ctx, task.Patch{
		Ref: ref, Base: string(base), Commit: string(commit),
		File: filepath.Join(copyFolder(run, &store.Copy{Agent: agent, N: n}), "patch"),
	})
}

// maxCopyPaths bounds the paths that the patch of a copy names, and those of
// them that are marked.
const maxCopyPaths = 100

// patchBetween completes a patch by the changes between its base and its commit.
func (p *place) patchBetween(ctx context.Context, patch task.Patch) (*task.Patch, error) {
	base, commit := git.Hash(patch.Base), git.Hash(patch.Commit)
	stat, err := p.repo.Stat(ctx, base, commit)
	if err != nil {
		return nil, err
	}
	changes, err := p.repo.Changes(ctx, base, commit)
	if err != nil {
		return nil, err
	}
	patch.Files, patch.Added, patch.Deleted = stat.Files, stat.Added, stat.Deleted
	for _, c := range changes {
		if len(patch.Paths) < maxCopyPaths {
			patch.Paths = append(patch.Paths, c.Path)
		}
		if len(patch.Marked) < maxCopyPaths && risk.Marked(c.Path) {
			patch.Marked = append(patch.Marked, c.Path)
		}
	}
	return &patch, nil
}

// showCopies shows agents in a view with the patches of copies.
func (p *place) showCopies(ctx context.Context, v *store.View, names []string) error {
	for _, name := range names {
		id, n, ok := store.CopyOf(name)
		a := v.Agent(id)
		if !ok || a == nil {
			continue
		}
		run, err := p.state.Run(v.Identity.Run)
		if err != nil {
			return err
		}
		then, err := p.atCopy(ctx, run, a, n)
		if err != nil {
			return err
		}
		v.Replace(then)
	}
	return nil
}

// landedCopies are the copies whose patches landed somewhere.
func landedCopies(v *store.View) map[string]bool {
	landed := map[string]bool{}
	for _, l := range v.Landings {
		if !l.Stands() {
			continue
		}
		for _, name := range l.Copies {
			landed[name] = true
		}
	}
	return landed
}
