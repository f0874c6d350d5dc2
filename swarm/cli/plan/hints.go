package plan

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"agentswarm/internal/fspath"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/worktree/include"
)

// HintInstalled warns that a package manager's installed files will not be in
// the workspaces, if nothing installs or copies them there. It returns an error
// if the repository cannot be read.
func HintInstalled(ctx context.Context, p *cmdline.Place, pl *Plan) error {
	const modules = "node_modules"
	if pl.Config.Setup != "" || !slices.ContainsFunc(pl.Files, func(f string) bool {
		return f == "package.json" || strings.HasSuffix(f, "/package.json")
	}) {
		return nil
	}
	ignored, err := include.Ignored(ctx, p.Repo, modules)
	if err != nil || len(ignored) == 0 || slices.Contains(pl.Files, include.FileName) ||
		!p.Repo.Bare() && fspath.Exists(p.Repo.TopLevel+"/"+include.FileName) {
		return err
	}
	fmt.Fprintf(p.Env.Stderr, "hint: %s is ignored, so that no workspace has it: give --setup 'npm ci', or name it in %s\n",
		modules, include.FileName)
	return nil
}
