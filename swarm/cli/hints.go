package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"agentswarm/internal/fspath"
	"agentswarm/worktree/include"
)

// hintInstalled says that what a package manager has installed here will not
// be in the workspaces, if nothing is there to install it or bring it along.
func (p *place) hintInstalled(ctx context.Context, pl *plan) error {
	const modules = "node_modules"
	if pl.config.Setup != "" || !slices.ContainsFunc(pl.files, func(f string) bool {
		return f == "package.json" || strings.HasSuffix(f, "/package.json")
	}) {
		return nil
	}
	ignored, err := include.Ignored(ctx, p.Repo, modules)
	if err != nil || len(ignored) == 0 || slices.Contains(pl.files, include.FileName) ||
		!p.Repo.Bare() && fspath.Exists(p.Repo.TopLevel+"/"+include.FileName) {
		return err
	}
	fmt.Fprintf(p.Env.Stderr, "hint: %s is ignored, so that no workspace has it: give --setup 'npm ci', or name it in %s\n",
		modules, include.FileName)
	return nil
}
