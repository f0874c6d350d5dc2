package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"agentswarm/swarm/captureref"
	"agentswarm/swarm/store"
	"agentswarm/worktree/submodule"
)

// dropModuleRefs deletes the refs of a removed run in the user's submodules, but for
// those that alone hold a commit which the repository records.
func (g *collector) dropModuleRefs(ctx context.Context, t store.Trashed) error {
	if err := g.listModules(ctx); err != nil {
		return err
	}
	r := submodule.DropRequest{Repo: g.repo, Modules: g.modules, Run: captureref.Run(t.Run), Message: "swarm gc", DryRun: g.dry}
	if v, err := t.View(); err == nil && !v.Identity.Created.IsZero() {
		r.Since = v.Identity.Created.Add(-24 * time.Hour) // clocks differ
	}
	all, err := submodule.Drop(ctx, r)
	for _, h := range all.Dropped {
		g.removed("ref", h.Ref+" in "+h.GitDir, 0)
	}
	for _, h := range all.Kept {
		g.out.Kept = append(g.out.Kept, gcKept{
			Path: h.GitDir, Reason: fmt.Sprintf("only %s holds commit %s, which the repository records; push it or put it on a branch", h.Ref, h.Commit.Short()),
		})
	}
	g.failedModules(all.Failed)
	return err
}

// listModules finds the user's submodules, once for all removed runs.
func (g *collector) listModules(ctx context.Context) error {
	if g.listed {
		return nil
	}
	modules, failed, err := submodule.All(ctx, g.repo)
	if err != nil {
		return err
	}
	g.modules, g.listed = modules, true
	g.failedModules(failed)
	return nil
}

// refsStay begins the reason for which a submodule is named that failed.
const refsStay = "refs of removed runs may stay in this submodule: "

// failedModules names submodules that could not be read, each once for all runs.
func (g *collector) failedModules(failed []submodule.Failed) {
	for _, f := range failed {
		named := slices.ContainsFunc(g.out.Kept, func(k gcKept) bool {
			return k.Path == f.GitDir && strings.HasPrefix(k.Reason, refsStay)
		})
		if !named {
			g.out.Kept = append(g.out.Kept, gcKept{Path: f.GitDir, Reason: refsStay + f.Err.Error()})
		}
	}
}
