package runcmd

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/landcmd"
	"agentswarm/swarm/cli/selection"
	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/landing/lander"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree/git"
)

// onto is the new base of attempts; the zero value is none.
type onto struct {
	tip  git.Hash
	name string // as the user typed it
}

// ontoOf reads --onto, and refuses it where it can do nothing.
func ontoOf(p *cmdline.Place, c *cli.Context, s *selection.Selection) (onto, error) {
	if !c.IsSet("onto") {
		return onto{}, nil
	}
	name := c.String("onto")
	if name == "" {
		return onto{}, exit.Usagef("retry: --onto is empty; name a branch or a commit, such as main")
	}
	if s.View.Status == store.RunRunning {
		return onto{}, &exit.UsageError{
			Text:   fmt.Sprintf("retry: run %s is still running, and --onto needs a run that has ended", s.Run.ID),
			Advice: fmt.Sprintf("wait for it with `%s wait %s`", p.Env.Calls, s.Run.ID),
		}
	}
	for _, a := range s.Named {
		if a.Call.Shared {
			return onto{}, exit.Usagef("retry: %s works in the shared workspace of its run, which stays on its base; leave --onto out", a.ID)
		}
	}
	tip, err := p.Repo.Commit(c.Context, name)
	if err != nil {
		return onto{}, exit.Usagef("retry: --onto %s: no such commit here", name)
	}
	return onto{tip: tip, name: name}, nil
}

// wishesOnto are the wishes on a new base: each agent is told of its own patch
// there.
func wishesOnto(ctx context.Context, b *session.Session, o onto, wishes []engine.RetryRequest) ([]engine.RetryRequest, error) {
	if o.tip == "" {
		return wishes, nil
	}
	v := b.Owner.View()
	var all []engine.RetryRequest
	for _, w := range wishes {
		for _, id := range w.Agents {
			wish := engine.RetryRequest{Agents: []task.ID{id}, Feedback: w.Feedback, Fresh: w.Fresh, Onto: o.tip, Remarks: w.Remarks}
			a := v.Agent(id)
			if !w.Fresh && a.Patch() != nil && task.Prompt(a.Call.Input) != "" {
				if err := bringOnto(ctx, b, o, v, &wish); err != nil {
					return nil, err
				}
			}
			all = append(all, wish)
		}
	}
	return all, nil
}

// bringOnto gives an agent its own patch on the new base.
func bringOnto(ctx context.Context, b *session.Session, o onto, v *store.View, wish *engine.RetryRequest) error {
	id := wish.Agents[0]
	a := v.Agent(id)
	marked, patch, err := b.Lander().Bring(ctx, lander.MarkRequest{Agent: a, Tip: o.tip, Labels: landcmd.MarkLabels(a, o.tip, o.name)})
	if err != nil {
		return err
	}
	if patch == nil {
		return &exit.UsageError{
			Text:   fmt.Sprintf("retry: %s has nothing that %s does not hold already", id, o.name),
			Advice: fmt.Sprintf("`--fresh --onto %s` has it begin anew there", o.name),
		}
	}
	wish.Markers = marked.Markers()
	wish.From = map[task.ID]*task.Patch{id: patch}
	brief := engine.OntoBrief{Branch: o.name, Conflict: marked.Conflict, Said: wish.Feedback}
	for _, f := range marked.Marks {
		brief.Marked = append(brief.Marked, f.Path)
	}
	if a.Conflict != nil {
		for _, other := range a.Conflict.With {
			if met := v.Agent(other); met != nil {
				brief.Others = append(brief.Others, engine.OntoOther{
					ID: string(met.ID), Title: engine.Title(met.ID, met.Call), Task: task.Prompt(met.Call.Input),
				})
			}
		}
	}
	wish.Feedback = brief.Text()
	return nil
}
