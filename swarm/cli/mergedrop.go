package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"agentswarm/swarm/landing"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree/git"
)

// dropAction makes the last merge of a run again without some of its patches. The
// branch goes back first, as undo does it. A process that ends after that leaves the
// patches as before the merge, with their verdicts.
func dropAction(c *cli.Context, env Env, options queueOptions) error {
	p, s, err := openSelection(c, env, 0, 1)
	if err != nil {
		return err
	}
	if len(s.named) > 0 {
		return usagef("merge: --drop leaves patches of the last merge out: name its run, or nothing")
	}
	r := mergeRequest{into: c.String("into"), verify: c.String("verify"), queue: options}
	if r.style, err = styleFlags(c); err != nil {
		return err
	}
	owner, err := p.own(c.Context, s.run)
	if err != nil {
		return err
	}
	report, err := p.mergeAgain(c, s, &r, owner)
	if err = errors.Join(err, owner.Close()); err != nil {
		return err
	}
	if report == nil {
		fmt.Fprintf(env.Stderr, "%s: the last merge is taken back, and had no other patch\n", program)
		return nil
	}
	return p.tellMerge(c, env, report)
}

// mergeAgain takes the last merge back and merges what is left of it. It returns no
// report if nothing is left.
func (p *place) mergeAgain(c *cli.Context, s *selection, r *mergeRequest, owner *store.Owner) (*mergeReport, error) {
	ctx := c.Context
	ref, err := p.targetRef(ctx, r.into)
	if err != nil {
		return nil, err
	}
	var dropped []task.ID
	for _, text := range c.StringSlice("drop") {
		a, err := p.state.Resolve(s.run.ID + "/" + text)
		if err != nil {
			return nil, err
		}
		dropped = append(dropped, a.Agent)
	}
	d, err := landing.FindDrop(landing.DropRequest{
		View: owner.View(), Ref: ref, Agents: dropped,
		TreeOf: func(commit git.Hash) (git.Hash, error) { return p.repo.TreeOf(ctx, commit) },
	})
	if not, ok := errors.AsType[*landing.DropError](err); ok {
		return nil, usagef("merge: --drop: %s", not.Reason)
	}
	if err != nil {
		return nil, err
	}
	if r.verify == "" && d.Command != "" {
		r.verify, r.queue = d.Command, queueOptions{slots: max(1, c.Int("slots")), order: c.String("order")}
	}
	if r.verify == "" && d.Landing.Verified != nil {
		return nil, usagef("merge: --drop: the command that verified the merge is not known; give --verify CMD")
	}
	if _, err := p.undo(ctx, s.run, owner); err != nil {
		return nil, err
	}
	if len(d.Left) == 0 {
		return nil, nil
	}
	if r.works, err = p.worksOf(ctx, s.run, owner.View(), d.Left); err != nil {
		return nil, err
	}
	return p.mergeOwned(c, s, *r, owner)
}

// worksOf are agents by their names, or by those of copies of their workspaces.
func (p *place) worksOf(ctx context.Context, run *store.Run, v *store.View, names []string) ([]*store.Agent, error) {
	var works []*store.Agent
	for _, name := range names {
		w := namedWork{agent: task.ID(name)}
		if id, n, ok := store.CopyOf(name); ok {
			w = namedWork{agent: id, copied: n}
		}
		a, err := p.workOf(ctx, run, v.Agent(w.agent), w)
		if err != nil {
			return nil, err
		}
		works = append(works, a)
	}
	return works, nil
}
