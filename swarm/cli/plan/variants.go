package plan

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/agent"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/config"
	"agentswarm/swarm/variantset"
	"agentswarm/variants"
	"agentswarm/worktree/git"
)

// RunVariants are the variants for agents of a run: swarm's, with the user's
// over them, and the repository's committed ones over those, without the
// variants that the configuration leaves out. It returns an error if a file of
// variants is invalid.
func RunVariants(ctx context.Context, p *cmdline.Place, conf *config.Config, commit git.Hash) ([]variants.Variant, error) {
	if conf.NoVariants {
		return nil, nil
	}
	all, err := AllVariants(ctx, p, commit)
	if err != nil {
		return nil, err
	}
	for _, text := range variantset.UnknownOff(all, conf.VariantsOff) {
		fmt.Fprintf(p.Env.Stderr, "%s: %s\n", cmdline.Program, termtext.Line(text))
	}
	return variants.Less(all, conf.VariantsOff), nil
}

// SayVariants tells which of the texts that agents of a run may be told are the
// repository's own, and which of those stand in the place of another: somebody
// else may have written them.
func SayVariants(p *cmdline.Place, pl *Plan) {
	heard := pl.Script != nil
	for _, call := range pl.Calls {
		spec := pl.Config.Agents[call.Agent]
		heard = heard || spec != nil && spec.Kind != agent.KindCommand
	}
	if !heard {
		return
	}
	own := variantset.OfRepo(pl.Config.Variants)
	if len(own) > 0 {
		fmt.Fprintf(p.Env.Stderr, "variants of this repository: %s; swarm variants MODEL shows them\n", FirstFew(own))
	}
}

// FirstFew are the first few of a list, and how many more there are.
func FirstFew(all []string) string {
	const most = 5
	if len(all) <= most {
		return strings.Join(all, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(all[:most], ", "), len(all)-most)
}

// AllVariants are all that there are. An empty commit has none.
func AllVariants(ctx context.Context, p *cmdline.Place, commit git.Hash) ([]variants.Variant, error) {
	r := variantset.Request{Repo: p.Repo, Commit: commit}
	if file := config.UserFile(config.Lookup(p.Env.Getenv)); file != "" {
		r.UserDir = filepath.Join(filepath.Dir(file), "variants")
	}
	return variantset.All(ctx, r)
}
