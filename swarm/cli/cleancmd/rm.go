package cleancmd

import (
	"fmt"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/selection"
	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/store"
)

// NewRmCommand returns the command `swarm rm`.
func NewRmCommand(env cmdline.Env) *cli.Command {
	return &cli.Command{
		Name:      "rm",
		Usage:     "move runs to the trash",
		ArgsUsage: "[RUN… | -]",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "force", Usage: "also remove runs with work that did not land"},
			&cli.BoolFlag{Name: "undo", Usage: "restore removed runs; without RUN, the last one"},
			cmdline.JSONFlag(),
		},
		Description: `Moves runs into the trash. After 7 days (trash_age of [gc]) gc deletes them and the
refs that hold their patches; until then --undo brings them back. Merged patches
stay merged. It refuses a live run, a run with patches that did not land, a
run with your changes in copies of its workspaces (see shell), and a run with a
workspace that could not be captured.

Examples:
  swarm rm k3x9q2
  swarm rm k3x9q2 p7w2aa --force
  swarm ls -q | swarm rm -
  swarm rm --undo k3x9q2`,
		Action: func(c *cli.Context) error { return rmAction(c, env) },
	}
}

// removedObject is swarm.rm/1, described in docs/json.md.
type removedObject struct {
	Schema  string       `json:"schema"`
	Removed []removedRun `json:"removed"`
}

type removedRun struct {
	Run   string `json:"run"`
	Trash string `json:"trash"` // the folder it is in now
}

func rmAction(c *cli.Context, env cmdline.Env) error {
	undo, least := c.Bool("undo"), 1
	if undo {
		if least = 0; c.Bool("force") {
			return exit.Usagef("rm: --undo and --force exclude each other")
		}
	}
	addresses, err := selection.AddressArguments(c, env, least, -1)
	if err != nil {
		return err
	}
	p, err := cmdline.Open(c, env)
	if err != nil {
		return err
	}
	if err := cmdline.NoneEmpty(addresses); err != nil {
		return err
	}
	if err := p.Personal("removing runs"); err != nil {
		return err
	}
	if undo {
		return bringBack(p, c, addresses)
	}
	keep, err := session.Retention(p)
	if err != nil {
		return err
	}
	// All are looked at before the first goes.
	var runs []*store.Run
	for _, address := range addresses {
		run, err := removable(p, c, address)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(runs, func(r *store.Run) bool { return r.ID == run.ID }) {
			runs = append(runs, run)
		}
	}
	o := removedObject{Schema: "swarm.rm/1", Removed: []removedRun{}}
	for _, run := range runs {
		to, err := remover(p).Remove(c.Context, run)
		if err != nil {
			return err
		}
		o.Removed = append(o.Removed, removedRun{Run: run.ID, Trash: to})
		if !c.Bool("json") {
			if _, err := fmt.Fprintf(env.Stdout, "removed run %s; until %s `%s rm --undo %s` brings it back from %s\n", run.ID,
				time.Now().Add(keep.TrashAge).Format(time.DateOnly), env.Calls, run.ID, termtext.Line(to)); err != nil {
				return err
			}
		}
	}
	if c.Bool("json") {
		return cmdline.PrintJSON(env.Stdout, o)
	}
	return nil
}

// removable is the run of an address, if rm may take it.
func removable(p *cmdline.Place, c *cli.Context, address string) (*store.Run, error) {
	a, err := p.State.Resolve(address)
	if err != nil {
		return nil, cmdline.Refused(err)
	}
	if a.Agent != "" {
		return nil, exit.Usagef("rm: takes runs, and %q is an agent", address)
	}
	v, err := session.View(c.Context, p, a.Run)
	switch {
	case err != nil && c.Bool("force") && !a.Run.Live():
		return a.Run, nil
	case err != nil:
		return nil, &exit.UsageError{
			Text: fmt.Sprintf("rm: %v", err), Advice: "--force moves it into the trash as it is",
		}
	}
	if v.Status == store.RunRunning {
		return nil, &exit.UsageError{
			Text:   fmt.Sprintf("rm: run %s is still running", a.Run.ID),
			Advice: fmt.Sprintf("end it with `%s cancel %s`", p.Env.Calls, a.Run.ID),
		}
	}
	if c.Bool("force") {
		return a.Run, nil
	}
	loss, err := remover(p).Loss(c.Context, a.Run, v)
	if err != nil {
		return nil, err
	}
	if loss != nil {
		return nil, &exit.UsageError{Text: fmt.Sprintf("rm: run %s %s", a.Run.ID, loss.Reason), Advice: loss.Advice}
	}
	return a.Run, nil
}
