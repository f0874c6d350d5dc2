package landcmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/inspect"
	"agentswarm/swarm/cli/selection"
	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/cli/view"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/landing/lander"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// NewApplyCommand returns the command `swarm apply`.
func NewApplyCommand(env cmdline.Env) *cli.Command {
	return &cli.Command{
		Name:      "apply",
		Usage:     "put patches into the working tree, without a commit",
		ArgsUsage: "[AGENT… | -]",
		Flags:     append([]cli.Flag{cmdline.JSONFlag()}, selection.EndedFlags()...),
		Description: `Applies the patches of agents to the files of your checkout, without a commit and
without staging. It refuses to change a file that you have changed, and refuses two
patches that change one file. It stops at the first patch that does not fit; undo
takes back one patch at a time. With --json, one object a line.

Examples:
  swarm apply a3
  swarm apply a3 a5
  swarm apply --verified
  swarm apply k3x9q2/packages/foo`,
		Action: func(c *cli.Context) error { return applyAction(c, env) },
	}
}

// movedObject is swarm.apply/1 and swarm.undo/1, described in docs/json.md.
type movedObject struct {
	Schema string    `json:"schema"`
	Run    string    `json:"run"`
	ID     int       `json:"id"`
	Verb   string    `json:"verb,omitempty"` // the verb that an undo took back
	Ref    string    `json:"ref,omitempty"`
	Commit string    `json:"commit,omitempty"` // where an undo put the branch
	Agents []task.ID `json:"agents"`
	Paths  []string  `json:"paths,omitempty"`
}

func applyAction(c *cli.Context, env cmdline.Env) error {
	p, s, err := selection.Open(c, env, 0, -1)
	if err != nil {
		return err
	}
	if err := inspect.RefuseRejected(c.Context, p, "apply", s, s.Named); err != nil {
		return err
	}
	if p.Repo.Bare() {
		return exit.Usagef("apply: a bare repository has no working tree")
	}
	s.KeepMergeable(func(a *store.Agent) bool { return !a.Landed() })
	if err := s.NonePicked("apply"); err != nil {
		return err
	}
	agents := selection.Distinct(s.Named)
	if len(agents) == 0 || !s.OnlyAgents() {
		a, err := s.One("apply")
		if err != nil {
			return err
		}
		agents = []*store.Agent{a}
	}
	if err := lander.CheckApart(c.Context, session.Patches(p), agents); err != nil {
		return err
	}
	for _, a := range agents {
		o, err := applyOwned(c.Context, p, s, a)
		if err != nil {
			return view.Misfit(c.Context, p, s, a, err)
		}
		if c.Bool("json") {
			err = cmdline.PrintJSON(env.Stdout, o)
		} else {
			name := string(a.ID)
			if latest := s.View.Agent(a.ID); latest != nil && latest.Attempt != a.Attempt {
				name = store.AttemptName(a.ID, a.Attempt)
			}
			_, err = fmt.Fprintf(env.Stdout, "applied %s: %s\n", name, termtext.Count(len(o.Paths), "file", "files"))
		}
		if err != nil {
			return err
		}
	}
	if c.Bool("json") {
		return nil
	}
	times := ""
	if len(agents) > 1 {
		times = ", one patch at a time"
	}
	_, err = fmt.Fprintf(env.Stdout, "take it back with: %s undo %s%s\n", env.Calls, s.Run.ID, times)
	return err
}

// applyOwned applies the patch of an agent, and records it in the run.
func applyOwned(ctx context.Context, p *cmdline.Place, s *selection.Selection, a *store.Agent) (_ *movedObject, err error) {
	owner, err := session.Own(ctx, p, s.Run)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, owner.Close()) }()
	b, err := session.Open(ctx, p, s.Run, owner)
	if err != nil {
		return nil, err
	}
	out, err := b.Lander().Apply(ctx, a)
	if out == nil {
		return nil, err
	}
	return &movedObject{Schema: "swarm.apply/1", Run: s.Run.ID, ID: out.ID, Agents: out.Agents, Paths: out.Paths}, err
}
