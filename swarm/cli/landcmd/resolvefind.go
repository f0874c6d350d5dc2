package landcmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/enter"
	"agentswarm/swarm/cli/selection"
	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/copies"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// resumeResolve goes on with a resolution, or gives it up.
func resumeResolve(c *cli.Context, env cmdline.Env, mode string) error {
	addresses, err := cmdline.Arguments(c, 0, 1)
	if err != nil {
		return err
	}
	p, err := cmdline.Open(c, env)
	if err != nil {
		return err
	}
	if err := p.Personal("resolving a conflict"); err != nil {
		return err
	}
	v, open, err := theResolution(c.Context, p, addresses)
	if err != nil {
		return err
	}
	v.Verb = mode
	r, err := takeResolution(v, open)
	if err != nil {
		return err
	}
	if mode == "abort" {
		return r.abort(c)
	}
	if c.IsSet("verify") {
		r.record.Verify = c.String("verify")
	}
	style, err := styleFlags(c)
	if err != nil {
		return errors.Join(err, r.Close())
	}
	r.record.Style.Lay(style)
	return r.goOn(c)
}

// theResolution is the resolution of the agent or run that is named, else the only
// open resolution of the repository.
func theResolution(ctx context.Context, p *cmdline.Place, addresses []string) (*enter.Visit, *store.Copy, error) {
	type found struct {
		run  *store.Run
		copy *store.Copy
	}
	var all []found
	add := func(run *store.Run, agent task.ID) error {
		open, err := copies.Resolutions(run, agent)
		for _, c := range open {
			all = append(all, found{run, c})
		}
		return err
	}
	if len(addresses) > 0 {
		s, err := selection.Run(ctx, p, addresses)
		if err != nil {
			return nil, nil, err
		}
		agent := task.ID("")
		if len(s.Named) > 0 {
			agent = s.Named[0].ID
		}
		if err := add(s.Run, agent); err != nil {
			return nil, nil, err
		}
	} else {
		entries, err := p.State.Runs()
		if err != nil {
			return nil, nil, err
		}
		for _, e := range entries {
			if err := add(e.Run, ""); err != nil {
				return nil, nil, err
			}
		}
	}
	var names []string
	for _, f := range all {
		names = append(names, f.run.ID+"/"+string(f.copy.Agent))
	}
	switch len(all) {
	case 0:
		return nil, nil, &exit.UsageError{
			Text:   "merge: no conflict is being resolved",
			Advice: fmt.Sprintf("begin with `%s merge --resolve AGENT`", p.Env.Calls),
		}
	case 1:
	default:
		return nil, nil, exit.Usagef("merge: several conflicts are being resolved; name one of %s", termtext.List(names, 5))
	}
	v, err := session.View(ctx, p, all[0].run)
	if err != nil {
		return nil, nil, err
	}
	a := v.Agent(all[0].copy.Agent)
	if a == nil {
		return nil, nil, fmt.Errorf("run %s has no agent %s", all[0].run.ID, all[0].copy.Agent)
	}
	return &enter.Visit{Place: p, Run: all[0].run, View: v, Visited: a}, all[0].copy, nil
}
