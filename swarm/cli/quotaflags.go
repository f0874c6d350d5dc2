package cli

import (
	"cmp"

	"github.com/urfave/cli/v2"

	"agentswarm/swarm/config"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/exit"
)

// quotaFlags bound how long a run waits for quota windows of accounts.
func quotaFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "wait-limits", Usage: "wait up to `TIME` for a quota window of an account that is used up; never pauses the run (default: 192h)"},
		&cli.IntFlag{Name: "max-windows", Usage: "wait for at most `N` quota windows of an account (default: 20)"},
	}
}

// layQuota lays the flags over how long a run waits. Without them it is as it was
// recorded, or as the configuration says.
func layQuota(c *cli.Context, to *engine.Config) error {
	if c.IsSet("wait-limits") {
		wait, ok := config.ParseWait(c.String("wait-limits"))
		if !ok {
			return exit.Usagef("%s: --wait-limits %s: want a duration above zero, such as 8h, or never", c.Command.Name, c.String("wait-limits"))
		}
		to.WaitLimits = max(0, wait)
	}
	if c.IsSet("max-windows") {
		if to.MaxWindows = c.Int("max-windows"); to.MaxWindows < 1 {
			return exit.Usagef("%s: --max-windows %d: want 1 or more", c.Command.Name, to.MaxWindows)
		}
	}
	return nil
}

// quota lays the configuration, and then the flags, over how long the run waits.
func (pl *plan) quota(c *cli.Context, conf *config.Config) error {
	pl.config.WaitLimits = max(0, cmp.Or(conf.WaitLimits, config.DefaultWaitLimits))
	pl.config.MaxWindows = cmp.Or(conf.MaxWindows, config.DefaultMaxWindows)
	return layQuota(c, &pl.config)
}
