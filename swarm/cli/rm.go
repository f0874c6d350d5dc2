package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/fspath"
	"agentswarm/swarm/captureref"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/event"
	"agentswarm/swarm/landing/lander"
	"agentswarm/swarm/patch"
	"agentswarm/swarm/store"
	"agentswarm/worktree/git"
)

func newRmCommand(env Env) *cli.Command {
	return &cli.Command{
		Name:      "rm",
		Usage:     "move runs to the trash",
		ArgsUsage: "[RUN… | -]",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "force", Usage: "also remove runs with work that did not land"},
			&cli.BoolFlag{Name: "undo", Usage: "restore removed runs; without RUN, the last one"},
			jsonFlag(),
		},
		Description: `Moves runs into the trash. After 7 days (trash_age of [gc]) gc deletes them and the
refs that hold their patches; until then --undo brings them back. What a run has
merged stays merged. Refused are: a live run; a run with patches that landed
nowhere; a run with your changes in copies of its workspaces (see shell); a run
with a workspace that could not be captured.

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

func rmAction(c *cli.Context, env Env) error {
	undo, least := c.Bool("undo"), 1
	if undo {
		if least = 0; c.Bool("force") {
			return usagef("rm: --undo and --force exclude each other")
		}
	}
	addresses, err := addressArguments(c, env, least, -1)
	if err != nil {
		return err
	}
	p, err := openPlace(c, env)
	if err != nil {
		return err
	}
	if err := noneEmpty(addresses); err != nil {
		return err
	}
	if err := p.personal("removing runs"); err != nil {
		return err
	}
	if undo {
		return p.bringBack(c, addresses)
	}
	keep, err := p.retention()
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
		if !slices.ContainsFunc(runs, func(r *store.Run) bool { return r.ID == run.ID }) {
			runs = append(runs, run)
		}
	}
	o := removedObject{Schema: "swarm.rm/1", Removed: []removedRun{}}
	for _, run := range runs {
		to, err := p.remove(c.Context, run)
		if err != nil {
			return err
		}
		o.Removed = append(o.Removed, removedRun{Run: run.ID, Trash: to})
		if !c.Bool("json") {
			if _, err := fmt.Fprintf(env.Stdout, "removed run %s; until %s `%s rm --undo %s` brings it back from %s\n", run.ID,
				time.Now().Add(keep.TrashAge).Format(time.DateOnly), env.Calls, run.ID, Printable(to)); err != nil {
				return err
			}
		}
	}
	if c.Bool("json") {
		return printJSON(env.Stdout, o)
	}
	return nil
}

// remove moves a run into the trash, and before it the workspaces that it
// still has.
func (p *place) remove(ctx context.Context, run *store.Run) (to string, err error) {
	if err := p.clear(ctx, run); err != nil {
		return "", err
	}
	to, err = run.Remove(ctx)
	var busy *store.BusyError
	if errors.As(err, &busy) {
		return "", refused(err)
	}
	if err != nil {
		return "", err
	}
	return to, removeTrees(p.state.Trees(run.ID)) // it is empty
}

// clear moves the workspaces that a run still has into the trash. Of a run
// that cannot be read nothing is known, and nothing is moved.
func (p *place) clear(ctx context.Context, run *store.Run) error {
	v, err := run.View()
	if err != nil || !keeps(v) {
		return nil
	}
	owner, err := p.own(ctx, run)
	if err != nil {
		return err
	}
	b, err := p.bench(ctx, run, owner)
	if err != nil {
		return errors.Join(err, owner.Close())
	}
	for _, a := range v.Agents {
		for _, l := range a.Leases {
			gone, err := b.deps.Workspaces.Release(ctx, engine.WorkspaceOf(l), nil)
			if err == nil {
				_, err = owner.Append(&event.Released{Agent: a.ID, Attempt: l.Attempt, Trash: gone.Trashed})
			}
			if err != nil {
				return errors.Join(err, owner.Close())
			}
		}
	}
	if l := v.Shared; l != nil {
		gone, err := b.deps.Workspaces.Release(ctx, engine.WorkspaceOf(l), nil)
		if err == nil {
			_, err = owner.Append(&event.Released{Shared: true, Trash: gone.Trashed})
		}
		if err != nil {
			return errors.Join(err, owner.Close())
		}
	}
	return owner.Close()
}

// removable is the run of an address, if rm may take it.
func (p *place) removable(c *cli.Context, address string) (*store.Run, error) {
	a, err := p.state.Resolve(address)
	if err != nil {
		return nil, refused(err)
	}
	if a.Agent != "" {
		return nil, usagef("rm: takes runs, and %q is an agent", address)
	}
	v, err := p.settle(c.Context, a.Run)
	switch {
	case err != nil && c.Bool("force") && !a.Run.Live():
		return a.Run, nil
	case err != nil:
		return nil, &UsageError{
			Text: fmt.Sprintf("rm: %v", err), Advice: "--force moves it into the trash as it is",
		}
	}
	if v.Status == store.RunRunning {
		return nil, &UsageError{
			Text:   fmt.Sprintf("rm: run %s is still running", a.Run.ID),
			Advice: fmt.Sprintf("end it with `%s cancel %s`", p.env.Calls, a.Run.ID),
		}
	}
	if c.Bool("force") {
		return a.Run, nil
	}
	why, advice, err := p.precious(c.Context, a.Run, v)
	if err != nil {
		return nil, err
	}
	if why != "" {
		return nil, &UsageError{Text: fmt.Sprintf("rm: run %s %s", a.Run.ID, why), Advice: advice}
	}
	return a.Run, nil
}

// precious says what is lost with a run that has ended, and what to do about
// it; empty where nothing is.
func (p *place) precious(ctx context.Context, run *store.Run, v *store.View) (why, advice string, err error) {
	var unlanded []*store.Agent
	for _, agent := range v.Agents {
		if patchOf(agent) != nil && !agent.Landed() {
			unlanded = append(unlanded, agent)
		}
		for _, l := range agent.Leases {
			if fspath.Exists(l.Dir) {
				return fmt.Sprintf("keeps the workspace %s, which could not be captured", l.Dir),
					"--force moves it into the trash", nil
			}
		}
	}
	if len(unlanded) > 0 {
		return fmt.Sprintf("has %s that landed nowhere: %s", Count(len(unlanded), "patch", "patches"), lander.Names(unlanded)),
			"merge them first, or give --force", nil
	}
	return p.preciousCopies(ctx, run, v)
}

// preciousCopies is precious of what people did in copies of a run's
// workspaces and did not merge or apply.
func (p *place) preciousCopies(ctx context.Context, run *store.Run, v *store.View) (why, advice string, err error) {
	// The folder of one that is open goes only once what was changed in it has
	// a ref.
	open, err := run.Copies()
	if err != nil {
		return "", "", err
	}
	for _, c := range open {
		var record copyRecord
		if err := c.Read(&record); err == nil && record.Resolve != nil {
			return fmt.Sprintf("has a conflict of %s that is being resolved: %s", c.Agent, c.Dir),
				resolveWays(p.env.Calls, run.ID+"/"+string(c.Agent)), nil
		}
	}
	if len(open) > 0 {
		return fmt.Sprintf("has a copy of %s that is open: %s", open[0].Agent, open[0].Dir),
			fmt.Sprintf("leave it first; one that a crash left is captured by `%s gc`", p.env.Calls), nil
	}
	refs, err := p.repo.RefsUnder(ctx, captureref.Copies(run.ID))
	if err != nil {
		return "", "", err
	}
	landed := patch.LandedCopies(v)
	maps.DeleteFunc(refs, func(ref string, _ git.Hash) bool { return landed[strings.TrimPrefix(ref, captureref.Copies(run.ID))] })
	if len(refs) == 0 {
		return "", "", nil
	}
	return "has what was changed in copies of its workspaces: " + listed(slices.Sorted(maps.Keys(refs)), 5),
		fmt.Sprintf("merge them by address, such as `%s merge %s/a1-1`, delete the refs by `git --git-dir %s update-ref -d`, or give --force",
			p.env.Calls, run.ID, Printable(p.repo.RefsDir())), nil
}
