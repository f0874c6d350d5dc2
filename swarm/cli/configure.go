package cli

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

// configure lays the flags over the configuration.
func (p *place) configure(c *cli.Context, pl *plan, conf *config.Config) (err error) {
	use := pl.commands(c, conf)
	if pl.config.Variants, err = p.runVariants(c.Context, conf, pl.head); err != nil {
		return err
	}
	pl.config.Jobs = cmdline.DefaultJobs(p.Env) // unless somebody says
	for _, lay := range []func(*cli.Context, *config.Config) error{
		pl.numbers, pl.times, pl.overlap, pl.budget, pl.quota, pl.reach, pl.sizes,
	} {
		if err := lay(c, conf); err != nil {
			return err
		}
	}
	pl.unseen(conf)
	if err := p.planIsolation(c.Context, pl, conf); err != nil {
		return err
	}
	if err := p.planCaution(pl, conf); err != nil {
		return err
	}
	if pl.script != nil {
		pl.config.Checks, use.Checks = conf.Checks(), true
	}
	if err := p.planRoles(c, pl, conf, &use); err != nil {
		return err
	}
	if err := p.chooseAgents(c, pl, conf, &use); err != nil {
		return err
	}
	if err := p.checkRoles(pl, conf); err != nil {
		return err
	}
	if !c.IsSet("jobs") && conf.Jobs == 0 && p.paid(pl) {
		pl.config.Jobs = min(pl.config.Jobs, paidJobs)
	}
	pl.wants, pl.notes = conf.Needs(use), append(conf.Ignored(), conf.SwitchedOff(use)...)
	if err := pl.takeReview(c.String("review")); err != nil {
		return err
	}
	return pl.takeOptions(c)
}

// commands are what is run around agents, and use those of them that the
// configuration says.
func (pl *plan) commands(c *cli.Context, conf *config.Config) (use config.Use) {
	pl.config = engine.Config{
		Warm: conf.Warm, Setup: conf.Setup, Verify: conf.Verify, Prices: conf.Prices(), Providers: conf.Providers(),
		Hooks: runhook.Commands(conf.Hooks),
	}
	use = config.Use{PassEnv: true, Notify: !c.IsSet("notify"), Hooks: true}
	for _, command := range []struct {
		flag string
		into *string
		use  *bool
	}{
		{"warm", &pl.config.Warm, &use.Warm},
		{"setup", &pl.config.Setup, &use.Setup},
		{"verify", &pl.config.Verify, &use.Verify},
	} {
		if *command.use = !c.IsSet(command.flag); !*command.use {
			*command.into = c.String(command.flag)
		}
	}
	return use
}

// numbers lays the flags over how many agents there are, at once, in all, and
// again.
func (pl *plan) numbers(c *cli.Context, conf *config.Config) (err error) {
	if pl.config.Jobs, err = intSetting(c, "jobs", conf.Jobs, pl.config.Jobs); err != nil {
		return err
	}
	if pl.config.Jobs < 1 || pl.config.Jobs > limit.MaxJobs {
		return exit.Usagef("run: -j %d: want 1 to %d", pl.config.Jobs, limit.MaxJobs)
	}
	if pl.config.MaxAgents, err = intSetting(c, "max-agents", conf.MaxAgents, config.DefaultMaxAgents); err != nil {
		return err
	}
	if pl.config.MaxAgents < 1 {
		return exit.Usagef("run: --max-agents %d: want 1 or more", pl.config.MaxAgents)
	}
	if pl.config.Retries, err = intSetting(c, "retries", conf.Retries, 0); err != nil {
		return err
	}
	if pl.config.Retries < 0 || pl.config.Retries > 100 {
		return exit.Usagef("run: --retries %d: want 0 to 100", pl.config.Retries)
	}
	return nil
}

// sizes lays the flag over how much of the disk the work of agents may take.
func (pl *plan) sizes(c *cli.Context, conf *config.Config) (err error) {
	pl.config.MaxFile, pl.config.MaxSize = conf.MaxFile, conf.MaxSize
	return layMaxFile(c, &pl.config.MaxFile)
}

// unseen counts the files whose uncommitted changes agents are told of.
func (pl *plan) unseen(conf *config.Config) {
	if pl.base.Kind == store.BaseHead && !conf.HideChanges {
		pl.config.Unseen = pl.dirt.Files
	}
}

// reach lays the flags over how a person is reached.
func (pl *plan) reach(c *cli.Context, conf *config.Config) error {
	given, err := readContactFlags(c)
	if err != nil {
		return err
	}
	pl.contact = configuredContact(conf)
	given.lay(&pl.contact)
	pl.config.QuestionTime = conf.QuestionTimeout
	given.layPatience(&pl.config)
	return nil
}
