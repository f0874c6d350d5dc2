package cli

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"agentswarm/swarm/fanout"
	"agentswarm/swarm/limit"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree/git"
)

func newResumeCommand(env Env) *cli.Command {
	return &cli.Command{
		Name:      "resume",
		Usage:     "run what a run has not completed",
		ArgsUsage: "[RUN]",
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "j", Usage: "run `N` agents at once, 1 to 100 (default: as before)"},
			&cli.DurationFlag{Name: "run-timeout", Usage: "stop the run after `TIME`"},
			jsonFlag(),
		},
		Description: `Starts a new attempt of every agent that was never started, was lost, failed or
was stopped with its run. What completed is not run again, and what was cancelled
by name stays cancelled. The configuration is the one recorded with the run;
merging is left to merge.

Examples:
  swarm resume
  swarm resume k3x9q2 -j 10`,
		Action: func(c *cli.Context) error { return resumeAction(c, env) },
	}
}

func resumeAction(c *cli.Context, env Env) error {
	addresses, err := arguments(c, 0, 1)
	if err != nil {
		return err
	}
	if j := c.Int("j"); c.IsSet("j") && (j < 1 || j > limit.MaxJobs) {
		return usagef("resume: -j %d: want 1 to %d", j, limit.MaxJobs)
	}
	if d := c.Duration("run-timeout"); c.IsSet("run-timeout") && d <= 0 {
		return usagef("resume: --run-timeout %s: want a duration above zero, such as 10m", d)
	}
	p, err := openPlace(c, env)
	if err != nil {
		return err
	}
	s, err := p.selectRun(c.Context, addresses)
	if err != nil {
		return err
	}
	if len(s.named) > 0 {
		return usagef("resume: takes a run, and %q is an agent", addresses[0])
	}
	owner, err := p.own(c.Context, s.run)
	if err != nil {
		return err
	}
	done, err := p.resumeOwned(c, s.run, owner)
	if err != nil || done {
		return errors.Join(err, owner.Close())
	}
	return nil
}

// resumeOwned goes on with a run this process owns. done is set where there
// was nothing to do and the run was not given up yet.
func (p *place) resumeOwned(c *cli.Context, run *store.Run, owner *store.Owner) (done bool, err error) {
	id, err := run.Identity()
	if err != nil {
		return false, err
	}
	config, err := engineConfig(id)
	if err != nil {
		return false, err
	}
	if c.IsSet("j") {
		config.Jobs = c.Int("j")
	}
	var w fanout.Workflow
	if err := json.Unmarshal([]byte(id.Workflow.Text), &w); err != nil {
		return false, fmt.Errorf("read the workflow of run %s: %w", id.Run, err)
	}
	entries, err := p.repo.Tree(c.Context, git.Hash(id.Base.Tree))
	if err != nil {
		return false, err
	}
	calls, err := w.Calls(fanout.Base{
		Commit: id.Base.Commit, Tree: id.Base.Tree, Files: paths(entries),
	})
	if err != nil {
		return false, err
	}
	prior := store.Fold(id, owner.Records)
	if len(prior.Agents) == len(calls) && finished(prior) {
		fmt.Fprintf(p.env.Stderr, "nothing to resume: every agent of run %s completed or was cancelled by name\n", id.Run)
		return true, p.printResult(prior, c.Bool("json"))
	}
	b, err := p.bench(c.Context, run, owner)
	if err != nil {
		return false, err
	}
	end, err := b.drive(c.Context, driveRequest{
		calls: calls, config: config, prior: prior, timeout: c.Duration("run-timeout"),
	})
	if err != nil {
		return false, err
	}
	return false, b.finish(c.Context, end, finishRequest{json: c.Bool("json")})
}

// finished reports whether a resume would start nothing.
func finished(v *store.View) bool {
	for _, a := range v.Agents {
		switch a.Status.(type) {
		case *task.Completed:
		case *task.Cancelled:
			if !a.ByName() {
				return false
			}
		default:
			return false
		}
	}
	return true
}
