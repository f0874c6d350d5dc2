package runcmd

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/urfave/cli/v2"

	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/plan"
	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/project"
	"agentswarm/swarm/store"
	"agentswarm/swarm/workflow/library"
	"agentswarm/worktree/git"
)

// scriptEditFlags are the flags by which a run goes on with something else
// than it was started with.
func scriptEditFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "script", Usage: "use the script of `FILE` in place of the recorded one"},
		&cli.StringFlag{Name: "args", Usage: "args of the script from now on: `JSON`, @FILE, or - for standard input"},
		&cli.BoolFlag{Name: "reconfigure", Usage: "use the present configuration of agents, setup, verify, types and lib"},
		&cli.BoolFlag{Name: "trust", Usage: "approve the texts of the repository behind --script and --reconfigure"},
	}
}

// scriptEditFits refuses such a flag where it means nothing.
func scriptEditFits(c *cli.Context, id store.Identity) error {
	edits := false
	for _, name := range []string{"script", "args", "reconfigure"} {
		if !c.IsSet(name) {
			continue
		}
		edits = true
		if id.Workflow.Kind != store.WorkflowScript {
			return exit.Usagef("resume: --%s is for runs with a script, and run %s has none (%s)", name, id.Run, id.Workflow.Kind)
		}
	}
	if c.IsSet("trust") && !edits {
		return exit.Usagef("resume: --trust needs --script or --reconfigure; the settings of the run are approved already")
	}
	return nil
}

// scriptedRun is a run with a script that this process owns.
type scriptedRun struct {
	ownedRun
	prior  *store.View
	script *library.Script
}

// resumeScript runs a script again: completed agents enter it as they did, and
// the rest runs.
func resumeScript(p *cmdline.Place, c *cli.Context, drive plan.DriveFlagsRead, r scriptedRun) error {
	pl, err := planResume(p, c, r)
	if err != nil {
		return err
	}
	drive.Lay(&pl.Config, r.prior)
	if err := plan.FitJobs(p.Env, &pl.Config); err != nil {
		return err
	}
	if err := plan.KindsReady(c.Context, p, pl, drive.Anyway); err != nil {
		return err
	}
	if err := plan.ConfirmScript(p, pl, c.Bool("yes")); err != nil {
		return err
	}
	b, err := session.Open(c.Context, p, r.run, r.owner)
	if err != nil {
		return err
	}
	b.Contact = pl.Contact
	drive.Contact.Lay(&b.Contact)
	if err := startHook(c.Context, b, pl.Config, false); err != nil {
		return err
	}
	end, err := driveCalls(c.Context, b, driveRequest{
		script: pl.Script, base: pl.Base, config: pl.Config, prior: r.prior, timeout: drive.Timeout,
		anyway: drive.Anyway,
	})
	if err != nil {
		return err
	}
	return finish(c.Context, b, end, finishRequest{json: c.Bool("json")})
}

// planResume is the plan to go on with: the latest owner's, with the flags over
// it. It checks all as at the start of a run.
func planResume(p *cmdline.Place, c *cli.Context, r scriptedRun) (*plan.Plan, error) {
	latest, err := session.ReadConfig(r.prior)
	if err != nil {
		return nil, err
	}
	pl := &plan.Plan{
		Verb: "resume", Base: r.prior.Identity.Base, Script: r.script,
		Config: latest.Config, Contact: latest.Contact, Isolation: latest.Settings, Policy: latest.Policy,
		Discard: func() {},
	}
	edited, anew := c.IsSet("script"), c.Bool("reconfigure")
	if !edited && !anew && !c.IsSet("args") {
		return pl, nil
	}
	if edited {
		if err := EditScript(p, pl, c.String("script")); err != nil {
			return nil, err
		}
	}
	if err := pl.ReadArgs(c, p); err != nil {
		return nil, err
	}
	if anew {
		if err := reconfigure(p, c, pl); err != nil {
			return nil, err
		}
	}
	if err := plan.Vet(c.Context, p, pl); err != nil {
		return nil, err
	}
	if !edited && !anew {
		return pl, nil
	}
	if err := trustResume(c.Context, p, pl); err != nil {
		return nil, err
	}
	if err := approve(p, pl.Needs, c.Bool("trust")); err != nil {
		return nil, err
	}
	s := pl.Script
	s.Config, err = json.Marshal(session.Reconfigured{
		Config: session.Config{Config: pl.Config, Contact: pl.Contact, Settings: pl.Isolation, Policy: pl.Policy},
		Script: library.Setting{Path: s.Path, Agent: s.Agent, Form: s.Form, Types: s.Types},
	})
	return pl, err
}

// EditScript takes the text of a file in place of the recorded script. It
// returns an error if the file is not found.
func EditScript(p *cmdline.Place, pl *plan.Plan, word string) error {
	found, err := plan.OpenLibrary(p).Find("resume --script", word)
	if err != nil {
		return err
	}
	before := pl.Script
	if err := pl.ReadScriptFile(p, word, found.Path); err != nil {
		return err
	}
	s := pl.Script
	s.Args, s.Lib, s.Agent, s.Types, s.Config = before.Args, before.Lib, before.Agent, before.Types, before.Config
	return nil
}

// reconfigure takes the present values of the configuration and the checkout.
func reconfigure(p *cmdline.Place, c *cli.Context, pl *plan.Plan) error {
	conf, err := p.LoadConfig(c.Context, "HEAD")
	if err != nil {
		return err
	}
	before, orders := pl.Script.Agent, pl.Config.Roles
	pl.Script.Agent, pl.Script.Lib = "", nil
	if err := plan.Configure(p, c, pl, conf); err != nil {
		return err
	}
	if o := pl.Config.Roles; orders != nil {
		// Flags of the start still hold; the configuration is read anew.
		o.Role, o.Model, o.Models, o.Route, o.Phases = orders.Role, orders.Model, orders.Models, orders.Route, orders.Phases
	}
	plan.SayNotes(p, pl)
	if pl.Script.Agent == "" && pl.Config.Agents[before] != nil {
		pl.Script.Agent = before // as it was chosen at the start
	}
	return plan.OpenLibrary(p).Gather(pl.Script)
}

// trustResume finds the texts that the run would newly use and that are not
// approved, and checks that its agents have programs.
func trustResume(ctx context.Context, p *cmdline.Place, pl *plan.Plan) error {
	entries, err := p.Repo.Tree(ctx, git.Hash(pl.Base.Tree))
	if err != nil {
		return err
	}
	pl.Files = project.Files(entries)
	if err := plan.FindPrograms(ctx, p, pl); err != nil {
		return err
	}
	// A file here may have come with a later commit than the base.
	here, err := p.FilesAt(ctx, "HEAD")
	if err != nil {
		return err
	}
	pl.TrustScript(slices.Concat(pl.Files, here))
	pl.Needs, err = p.Trust().Pending(pl.Wants)
	return err
}
