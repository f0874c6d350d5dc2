package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"agentswarm/merge"
	"agentswarm/swarm/captureref"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree"
	"agentswarm/worktree/submodule"
)

// linked leaves out the patches that record commits of submodules which the user
// cannot get, and tells of them in the report.
func (b *bench) linked(ctx context.Context, chosen []*store.Agent, report *mergeReport) ([]*store.Agent, error) {
	may, not, err := landing.Linked(ctx, landing.ModulesRequest{
		Repo: b.repo, Stores: b.run.Modules(), Agents: chosen,
	})
	if err == nil && len(not) > 0 {
		report.unlinked = not
		report.codes = append(report.codes, CodeConflict)
	}
	return may, err
}

// unlinkedObject is a patch that was left out because of a submodule.
type unlinkedObject struct {
	Agent     task.ID `json:"agent"`
	Submodule string  `json:"submodule"`
	Commit    string  `json:"commit"`
}

func (r *mergeReport) unlinkedObjects() (all []unlinkedObject) {
	for _, u := range r.unlinked {
		for _, m := range u.Missing {
			all = append(all, unlinkedObject{Agent: u.Agent.ID, Submodule: m.Path, Commit: string(m.Commit)})
		}
	}
	return all
}

// printUnlinked tells of these patches, with a line for each commit.
func (r *mergeReport) printUnlinked(w io.Writer) {
	for _, u := range r.unlinked {
		for _, m := range u.Missing {
			fmt.Fprintf(w, "left out: %s: %s\n", Printable(labels([]*store.Agent{u.Agent})), Printable(m.String()))
		}
	}
}

// printModules tells where the commits of submodules that landed are kept: a push
// of the parent alone would publish a commit that refers to them.
func (r *mergeReport) printModules(w io.Writer) {
	if !r.didMove() {
		return
	}
	for _, l := range r.outcome.Landed {
		p := patchOf(r.view.Agent(task.ID(l.ID)))
		if p == nil {
			continue
		}
		for _, m := range p.Modules {
			fmt.Fprintf(w, "submodule %s: commit %s of %s/%s; push it before %s\n",
				Printable(m.Path), git10(m.Commit), l.ID, Printable(m.Path), Printable(branchName(r.ref)))
		}
	}
}

// modulesOf says how a landing moves submodules.
func (b *bench) modulesOf(l *branchMove) merge.Modules {
	return merge.Modules{Onto: l.onto, Stores: b.run.Modules(), Refs: captureref.Landings(b.run.ID)}
}

// fillModules checks out the submodules that the commit of a workspace moves, so
// that a check sees what lands. A commit that cannot be had is a
// [*merge.ModuleError]: a check without it would blame the patch.
func (b *bench) fillModules(ctx context.Context, w worktree.Workspace, c spaceRequest) error {
	if c.onto == "" {
		return nil
	}
	changes, err := b.repo.Changes(ctx, c.onto, c.commit)
	if err != nil {
		return err
	}
	steps, missing, err := submodule.Steps(ctx, submodule.Request{
		Repo: b.repo, Stores: b.run.Modules(), From: c.onto, Changes: changes,
	})
	if err == nil && len(missing) > 0 {
		err = &merge.ModuleError{Missing: missing}
	}
	if err != nil || len(steps) == 0 {
		return err
	}
	return b.trees.FillModules(ctx, w, landing.ModuleFills(steps))
}

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
