package gc

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"agentswarm/swarm/captureref"
	"agentswarm/swarm/store"
	"agentswarm/worktree/submodule"
)

// dropModuleRefs deletes the refs of a removed run in the user's submodules, but for
// those that alone hold a commit which the repository records. A later gc looks again
// at refs that stay.
func (c *collector) dropModuleRefs(ctx context.Context, t store.Trashed) error {
	left := c.State.ModuleRefs(t.Run, time.Time{})
	if v, err := t.View(); err == nil {
		left.Created = v.Identity.Created
	}
	return c.dropLeftRefs(ctx, left)
}

// moduleRefs looks again at the refs of runs that earlier collections removed.
func (c *collector) moduleRefs(ctx context.Context) error {
	all, err := c.State.LeftModuleRefs()
	if err != nil {
		return err
	}
	var failed error
	for _, left := range all {
		if _, err := c.State.Run(left.Run); err == nil {
			continue // it was put back
		}
		failed = errors.Join(failed, c.dropLeftRefs(ctx, left))
		if ctx.Err() != nil {
			break
		}
	}
	return failed
}

// dropLeftRefs deletes the refs of a removed run in submodules. It records the run if
// some stay, and forgets it if none do.
func (c *collector) dropLeftRefs(ctx context.Context, left *store.ModuleRefs) error {
	if err := c.listModules(ctx); err != nil {
		return err
	}
	r := submodule.DropRequest{Repo: c.Repo, Modules: c.modules, Run: captureref.Run(left.Run), Message: "swarm gc", DryRun: c.DryRun}
	if !left.Created.IsZero() {
		r.Since = left.Created.Add(-24 * time.Hour) // clocks differ
	}
	all, err := submodule.Drop(ctx, r)
	for _, h := range all.Dropped {
		c.removed("ref", h.Ref+" in "+h.GitDir, 0)
	}
	for _, h := range all.Kept {
		c.kept(h.GitDir, fmt.Sprintf("only %s holds commit %s, which the repository records; push it or put it on a branch", h.Ref, h.Commit.Short()))
	}
	c.failedModules(all.Failed)
	switch {
	case err != nil || c.DryRun:
		return err
	case len(all.Kept)+len(all.Failed)+c.unlisted > 0:
		return left.Keep()
	}
	return left.Forget()
}

// listModules finds the user's submodules, once for all removed runs.
func (c *collector) listModules(ctx context.Context) error {
	if c.listed {
		return nil
	}
	modules, failed, err := submodule.All(ctx, c.Repo)
	if err != nil {
		return err
	}
	c.modules, c.unlisted, c.listed = modules, len(failed), true
	c.failedModules(failed)
	return nil
}

// refsStay begins the reason for which a submodule is named that failed.
const refsStay = "refs of removed runs may stay in this submodule: "

// failedModules names submodules that could not be read, each once for all runs.
func (c *collector) failedModules(failed []submodule.Failed) {
	for _, f := range failed {
		named := slices.ContainsFunc(c.report.Kept, func(k Kept) bool {
			return k.Path == f.GitDir && strings.HasPrefix(k.Reason, refsStay)
		})
		if !named {
			c.kept(f.GitDir, refsStay+f.Err.Error())
		}
	}
}
