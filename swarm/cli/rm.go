package cli

import (
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"agentswarm/swarm/store"
)

func newRmCommand(env Env) *cli.Command {
	return &cli.Command{
		Name:      "rm",
		Usage:     "remove runs; they stay in the trash for a while",
		ArgsUsage: "RUN…",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "force", Usage: "also runs with patches that landed nowhere"},
			jsonFlag(),
		},
		Description: `Moves the folder of a run into the trash, from where gc removes it after 7 days,
together with the refs that hold its patches. A run that is live, or that has
patches which landed nowhere, is refused.

Examples:
  swarm rm k3x9q2
  swarm rm k3x9q2 p7w2aa --force`,
		Action: func(c *cli.Context) error { return rmAction(c, env) },
	}
}

// removedObject is swarm.rm/1, described in docs/json.md.
type removedObject struct {
	Schema  string   `json:"schema"`
	Removed []string `json:"removed"`
}

func rmAction(c *cli.Context, env Env) error {
	addresses, err := arguments(c, 1, -1)
	if err != nil {
		return err
	}
	p, err := openPlace(c, env)
	if err != nil {
		return err
	}
	// All are looked at before the first goes.
	var runs []*store.Run
	for _, address := range addresses {
		run, err := p.removable(c, address)
		if err != nil {
			return err
		}
		runs = append(runs, run)
	}
	o := removedObject{Schema: "swarm.rm/1", Removed: []string{}}
	for _, run := range runs {
		if _, err := run.Remove(c.Context); err != nil {
			var busy *store.BusyError
			if errors.As(err, &busy) {
				return refused(err)
			}
			return err
		}
		o.Removed = append(o.Removed, run.ID)
		if !c.Bool("json") {
			if _, err := fmt.Fprintf(env.Stdout, "removed run %s\n", run.ID); err != nil {
				return err
			}
		}
	}
	if c.Bool("json") {
		return printJSON(env.Stdout, o)
	}
	return nil
}

// removable is the run of an address, if rm may take it.
func (p *place) removable(c *cli.Context, address string) (*store.Run, error) {
	a, err := p.state.Resolve(address)
	var damaged *store.DamagedError
	if errors.As(err, &damaged) && c.Bool("force") {
		run, err := p.state.Run(address)
		return run, refused(err)
	}
	if err != nil {
		return nil, refused(err)
	}
	if a.Agent != "" {
		return nil, usagef("rm: takes runs, and %q is an agent", address)
	}
	v, err := p.settle(c.Context, a.Run)
	if err != nil {
		return nil, err
	}
	if v.Status == store.RunRunning {
		return nil, &UsageError{
			Text:   fmt.Sprintf("rm: run %s is still running", a.Run.ID),
			Advice: fmt.Sprintf("end it with `%s cancel %s`", p.env.Calls, a.Run.ID),
		}
	}
	var unlanded []*store.Agent
	for _, agent := range v.Agents {
		if patchOf(agent) != nil && len(agent.Landings) == 0 {
			unlanded = append(unlanded, agent)
		}
		for _, l := range agent.Leases {
			if exists(l.Dir) && !c.Bool("force") {
				return nil, usagef("rm: run %s keeps the workspace %s, which could not be captured; --force leaves it to gc",
					a.Run.ID, l.Dir)
			}
		}
	}
	if len(unlanded) > 0 && !c.Bool("force") {
		return nil, &UsageError{
			Text: fmt.Sprintf("rm: run %s has %s that landed nowhere: %s", a.Run.ID,
				Count(len(unlanded), "patch", "patches"), labels(unlanded)),
			Advice: "merge them first, or give --force",
		}
	}
	return a.Run, nil
}
