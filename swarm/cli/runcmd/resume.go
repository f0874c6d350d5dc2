package runcmd

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/terminal"
	"agentswarm/swarm/assign"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/plan"
	"agentswarm/swarm/cli/selection"
	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/cli/view"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/fanout"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/project"
	"agentswarm/swarm/reviewer"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/swarm/workflow/library"
	"agentswarm/worktree/git"
)

// NewResume returns the command resume.
func NewResume(env cmdline.Env) *cli.Command {
	return &cli.Command{
		Name:      "resume",
		Usage:     "continue a run: start agents that did not complete",
		ArgsUsage: "[RUN]",
		Flags:     append(plan.DriveFlags(), scriptEditFlags()...),
		Description: `Starts a new attempt of every agent that was never started, was lost, failed or was
stopped with its run. Completed agents do not run again, and agents cancelled by name
stay cancelled. It uses the configuration recorded with the run, and does not merge.

A run with a script can continue with an edited script, other args, or the current
configuration and checkout. workflow diff shows beforehand which calls would run
again.

Examples:
  swarm resume
  swarm resume k3x9q2 -j 10
  swarm resume --script plan.js
  swarm resume k3x9q2 --args '{"part": "parser"}' --reconfigure`,
		Action: func(c *cli.Context) error { return resumeAction(c, env) },
	}
}

func resumeAction(c *cli.Context, env cmdline.Env) error {
	addresses, err := cmdline.Arguments(c, 0, 1)
	if err != nil {
		return err
	}
	drive, err := plan.ReadDriveFlags(c)
	if err != nil {
		return err
	}
	first := sign(env.Stderr, terminal.Detect(env.Stderr, env.Getenv), "preparing the run…")
	defer first.clear()
	env.Stderr = first
	p, err := cmdline.Open(c, env)
	if err != nil {
		return err
	}
	s, err := selection.Run(c.Context, p, addresses)
	if err != nil {
		return err
	}
	if len(s.Named) > 0 {
		return exit.Usagef("resume: takes a run, and %q is an agent", addresses[0])
	}
	if err := scriptEditFits(c, s.View.Identity); err != nil {
		return err
	}
	owner, err := session.Own(c.Context, p, s.Run)
	if err != nil {
		return err
	}
	done, err := resumeOwned(p, c, drive, ownedRun{run: s.Run, owner: owner})
	if err != nil || done {
		return errors.Join(err, owner.Close())
	}
	return nil
}

// resumeOwned goes on with a run this process owns. done is set where there
// was nothing to do and the run was not given up yet.
func resumeOwned(p *cmdline.Place, c *cli.Context, drive plan.DriveFlagsRead, r ownedRun) (done bool, err error) {
	prior := r.owner.View()
	id := prior.Identity
	again, err := library.Latest(prior)
	if err != nil {
		return false, err
	}
	if again != nil {
		return false, resumeScript(p, c, drive, scriptedRun{r, prior, again})
	}
	config, err := session.EngineConfig(prior)
	if err != nil {
		return false, err
	}
	drive.Lay(&config, r.owner.View())
	if err := plan.FitJobs(p.Env, &config); err != nil {
		return false, err
	}
	var w fanout.Workflow
	if err := json.Unmarshal([]byte(id.Workflow.Text), &w); err != nil {
		return false, fmt.Errorf("read the workflow of run %s: %w", id.Run, err)
	}
	entries, err := p.Repo.Tree(c.Context, git.Hash(id.Base.Tree))
	if err != nil {
		return false, err
	}
	calls, err := w.Calls(fanout.Base{
		Commit: id.Base.Commit, Tree: id.Base.Tree, Files: project.Files(entries),
	})
	if err != nil {
		return false, err
	}
	if err := (&assign.Assigner{Config: config, Kinds: cmdline.Kinds(p.Env).ByName()}).Calls(w, calls); err != nil {
		return false, plan.RefusedRole(err)
	}
	if err := plan.CheckTurns(p.Env, c, config, calls); err != nil {
		return false, err
	}
	if len(landing.Workers(prior)) == len(calls) && finished(prior) && !reviewer.Unreviewed(config, prior) && !reviewer.Untitled(config, prior) {
		fmt.Fprintf(p.Env.Stderr, "nothing to resume: every agent of run %s completed or was cancelled by name\n", id.Run)
		return true, view.PrintResult(p, prior, c.Bool("json"))
	}
	b, err := session.Open(c.Context, p, r.run, r.owner)
	if err != nil {
		return false, err
	}
	drive.Contact.Lay(&b.Contact)
	start := unsettledCalls(b, config, prior, calls)
	if err := plan.FindAgain(p, config.Agents, start); err != nil {
		return false, err
	}
	if err := plan.AgentsReady(c.Context, p, plan.NewReadiness(p, config, b.Sandbox.Settings, drive.Anyway), start); err != nil {
		return false, err
	}
	if err := plan.ConfirmCalls(p, config, start, c.Bool("yes")); err != nil {
		return false, err
	}
	if err := startHook(c.Context, b, config, false); err != nil {
		return false, err
	}
	end, err := driveCalls(c.Context, b, driveRequest{
		calls: calls, config: config, prior: prior, timeout: drive.Timeout,
	})
	if err != nil {
		return false, err
	}
	return false, finish(c.Context, b, end, finishRequest{json: c.Bool("json")})
}

// finished reports whether a resume would start nothing.
func finished(v *store.View) bool {
	for _, a := range v.Agents {
		if a.Call.SubjectOf != "" {
			continue
		}
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
