package landcmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/selection"
	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/cli/view"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/landing/lander"
	"agentswarm/swarm/store"
)

// NewUndoCommand returns the command `swarm undo`.
func NewUndoCommand(env cmdline.Env) *cli.Command {
	return &cli.Command{
		Name:      "undo",
		Usage:     "undo the last merge or apply",
		ArgsUsage: "[RUN]",
		Flags:     []cli.Flag{cmdline.JSONFlag()},
		Description: `Takes back the last merge or apply of this repository, or of the run named. A
merge is undone by moving the branch back to where it was, if it is still where
the merge left it; a branch that the merge made is deleted. An apply is undone if
the files are still as it left them. To undo a merge of a removed run, restore the
run first: swarm rm --undo RUN.

Examples:
  swarm undo
  swarm undo k3x9q2`,
		Action: func(c *cli.Context) error { return undoAction(c, env) },
	}
}

func undoAction(c *cli.Context, env cmdline.Env) error {
	addresses, err := cmdline.Arguments(c, 0, 1)
	if err != nil {
		return err
	}
	p, err := cmdline.Open(c, env)
	if err != nil {
		return err
	}
	run, err := lastLanded(c.Context, p, addresses)
	if err != nil {
		return err
	}
	owner, err := session.Own(c.Context, p, run)
	if err != nil {
		return err
	}
	var l *store.Landing
	b, err := session.Open(c.Context, p, run, owner)
	if err == nil {
		l, err = b.Lander().Undo(c.Context, 0)
	}
	err = errors.Join(err, owner.Close())
	if none, ok := errors.AsType[*lander.NoLandingError](err); ok {
		return &selection.NoWorkError{Text: none.Error()}
	}
	if err != nil {
		return err
	}
	o := movedObject{Schema: "swarm.undo/1", Run: run.ID, ID: l.ID, Verb: l.Verb, Ref: l.Ref, Commit: l.Old, Agents: l.Agents}
	if c.Bool("json") {
		return cmdline.PrintJSON(env.Stdout, o)
	}
	where := ""
	switch {
	case o.Ref != "" && o.Commit == "":
		where = fmt.Sprintf("; %s was deleted, as the merge had created it", lander.BranchName(o.Ref))
	case o.Ref != "":
		where = fmt.Sprintf("; %s is back at %s", lander.BranchName(o.Ref), view.Git10(o.Commit))
	}
	_, err = fmt.Fprintf(env.Stdout, "undone: %s %d of run %s, %s%s\n",
		o.Verb, o.ID, run.ID, termtext.Count(len(o.Agents), "patch", "patches"), termtext.Line(where))
	return err
}

// lastLanded is the run whose landing is to be undone: the named run, or the
// run that landed last.
func lastLanded(ctx context.Context, p *cmdline.Place, addresses []string) (*store.Run, error) {
	if len(addresses) > 0 {
		s, err := selection.Run(ctx, p, addresses)
		if err != nil {
			return nil, err
		}
		if len(s.Named) > 0 {
			return nil, exit.Usagef("undo: takes a run, and %q is an agent", addresses[0])
		}
		return s.Run, nil
	}
	entries, err := p.State.Runs()
	if err != nil {
		return nil, err
	}
	var last *store.Landing
	var run *store.Run
	for _, e := range entries {
		if e.Damage != nil {
			continue
		}
		v, err := e.Run.View()
		if err != nil {
			continue // a run that cannot be read has nothing to undo
		}
		if l := lander.Latest(v, last); l != last {
			last, run = l, e.Run
		}
	}
	if err := removedSince(p, last); err != nil {
		return nil, err
	}
	if run == nil {
		return nil, &selection.NoWorkError{Text: "nothing to undo: no merge or apply is left"}
	}
	return run, nil
}

// removedSince returns an error if a removed run landed after the given
// landing. The user then has another landing in mind.
func removedSince(p *cmdline.Place, last *store.Landing) error {
	trashed, err := p.State.Trashed()
	if err != nil {
		return err
	}
	var run *store.Trashed
	for i, t := range trashed {
		v, err := t.View()
		if err != nil {
			continue // a run that cannot be read has nothing to undo
		}
		if l := lander.Latest(v, last); l != last {
			last, run = l, &trashed[i]
		}
	}
	if run == nil {
		return nil
	}
	refused := &exit.UsageError{
		Text: fmt.Sprintf("undo: run %s, which landed last, was removed; its record is %s", run.Run, run.Path),
		Advice: fmt.Sprintf("to take %s %d back, bring the run back with `%s rm --undo %s` and undo again",
			last.Verb, last.ID, p.Env.Calls, run.Run),
	}
	switch {
	case last.Ref != "" && last.Old != "":
		refused.Advice += fmt.Sprintf("; before it, %s was at %s", lander.BranchName(last.Ref), view.Git10(last.Old))
	case last.Ref != "":
		refused.Advice += fmt.Sprintf("; before it, there was no %s", lander.BranchName(last.Ref))
	}
	return refused
}
