package plan

import (
	"github.com/urfave/cli/v2"

	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/config"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/limit"
	"agentswarm/swarm/runhook"
	"agentswarm/swarm/store"
)

// Configure lays the flags over the configuration.
func Configure(p *cmdline.Place, c *cli.Context, pl *Plan, conf *config.Config) (err error) {
	use := pl.commands(c, conf)
	if pl.Config.Variants, err = RunVariants(c.Context, p, conf, pl.head); err != nil {
		return err
	}
	pl.Config.Jobs = cmdline.DefaultJobs(p.Env) // unless somebody says
	for _, lay := range []func(*cli.Context, *config.Config) error{
		pl.numbers, pl.times, pl.overlap, pl.budget, pl.quota, pl.reach, pl.sizes,
	} {
		if err := lay(c, conf); err != nil {
			return err
		}
	}
	pl.unseen(conf)
	if err := planIsolation(c.Context, p, pl, conf); err != nil {
		return err
	}
	if err := planCaution(p, pl, conf); err != nil {
		return err
	}
	if pl.Script != nil {
		pl.Config.Checks, use.Checks = conf.Checks(), true
	}
	if err := planRoles(p, c, pl, conf, &use); err != nil {
		return err
	}
	if err := chooseAgents(p, c, pl, conf, &use); err != nil {
		return err
	}
	if err := checkRoles(p, pl, conf); err != nil {
		return err
	}
	if !c.IsSet("jobs") && conf.Jobs == 0 && costsMoney(p, pl) {
		pl.Config.Jobs = min(pl.Config.Jobs, paidJobs)
	}
	if pl.Config.Jobs, pl.fewer, err = cmdline.BoundJobs(p.Env, pl.Config.Jobs); err != nil {
		return err
	}
	pl.Wants, pl.notes = conf.Needs(use), append(conf.Ignored(), conf.SwitchedOff(use)...)
	if err := pl.takeReview(c.String("review")); err != nil {
		return err
	}
	return pl.takeOptions(c)
}

// commands are the commands around agents, and use those of them that the
// configuration names.
func (pl *Plan) commands(c *cli.Context, conf *config.Config) (use config.Use) {
	pl.Config = engine.Config{
		Warm: conf.Warm, Setup: conf.Setup, Verify: conf.Verify, Prices: conf.Prices(), Providers: conf.Providers(),
		Hooks: runhook.Commands(conf.Hooks),
	}
	use = config.Use{PassEnv: true, Notify: !c.IsSet("notify"), Hooks: true}
	for _, command := range []struct {
		flag string
		into *string
		use  *bool
	}{
		{"warm", &pl.Config.Warm, &use.Warm},
		{"setup", &pl.Config.Setup, &use.Setup},
		{"verify", &pl.Config.Verify, &use.Verify},
	} {
		if *command.use = !c.IsSet(command.flag); !*command.use {
			*command.into = c.String(command.flag)
		}
	}
	return use
}

// numbers lays the flags over how many agents there are, at once, in all, and
// again.
func (pl *Plan) numbers(c *cli.Context, conf *config.Config) (err error) {
	if pl.Config.Jobs, err = intSetting(c, "jobs", conf.Jobs, pl.Config.Jobs); err != nil {
		return err
	}
	if pl.Config.Jobs < 1 || pl.Config.Jobs > limit.MaxJobs {
		return exit.Usagef("run: -j %d: want 1 to %d", pl.Config.Jobs, limit.MaxJobs)
	}
	if pl.Config.MaxAgents, err = intSetting(c, "max-agents", conf.MaxAgents, config.DefaultMaxAgents); err != nil {
		return err
	}
	if pl.Config.MaxAgents < 1 {
		return exit.Usagef("run: --max-agents %d: want 1 or more", pl.Config.MaxAgents)
	}
	if pl.Config.Retries, err = intSetting(c, "retries", conf.Retries, 0); err != nil {
		return err
	}
	if pl.Config.Retries < 0 || pl.Config.Retries > 100 {
		return exit.Usagef("run: --retries %d: want 0 to 100", pl.Config.Retries)
	}
	return nil
}

// sizes lays the flag over how much of the disk the work of agents may take.
func (pl *Plan) sizes(c *cli.Context, conf *config.Config) (err error) {
	pl.Config.MaxFile, pl.Config.MaxSize = conf.MaxFile, conf.MaxSize
	return layMaxFile(c, &pl.Config.MaxFile)
}

// unseen counts the files whose uncommitted changes agents are told of.
func (pl *Plan) unseen(conf *config.Config) {
	if pl.Base.Kind == store.BaseHead && !conf.HideChanges {
		pl.Config.Unseen = pl.dirt.Files
	}
}

// reach lays the flags over how a person is reached.
func (pl *Plan) reach(c *cli.Context, conf *config.Config) error {
	given, err := readContactFlags(c)
	if err != nil {
		return err
	}
	pl.Contact = configuredContact(conf)
	given.Lay(&pl.Contact)
	pl.Config.QuestionTime = conf.QuestionTimeout
	given.layPatience(&pl.Config)
	return nil
}
