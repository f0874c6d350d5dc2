package plan

import (
	"cmp"
	"time"

	"github.com/urfave/cli/v2"

	"agentswarm/swarm/config"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/exit"
)

// QuotaFlags bound how long a run waits for quota windows of accounts.
func QuotaFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "wait-limits", Usage: "wait up to `TIME` for a quota window of an account that is used up; never pauses the run (default: 192h)"},
		&cli.IntFlag{Name: "max-windows", Usage: "wait for at most `N` quota windows of an account (default: 20)"},
	}
}

// quotaGiven are the values of the flags about quota windows.
type quotaGiven struct {
	wait    *time.Duration // 0 does not wait; nil: not given
	windows int            // 0: not given
}

// readQuotaFlags reads the flags. It returns a usage error for a value out of range.
func readQuotaFlags(c *cli.Context) (quotaGiven, error) {
	var g quotaGiven
	if c.IsSet("wait-limits") {
		wait, ok := config.ParseWait(c.String("wait-limits"))
		if !ok {
			return g, exit.Usagef("%s: --wait-limits %s: want a duration above zero, such as 8h, or never", c.Command.Name, c.String("wait-limits"))
		}
		wait = max(0, wait)
		g.wait = &wait
	}
	if c.IsSet("max-windows") {
		if g.windows = c.Int("max-windows"); g.windows < 1 {
			return g, exit.Usagef("%s: --max-windows %d: want 1 or more", c.Command.Name, g.windows)
		}
	}
	return g, nil
}

// lay puts the values that were given over the configuration.
func (g quotaGiven) lay(to *engine.Config) {
	if g.wait != nil {
		to.WaitLimits = *g.wait
	}
	to.MaxWindows = cmp.Or(g.windows, to.MaxWindows)
}

// quota puts the configuration and then the flags into the plan.
func (pl *Plan) quota(c *cli.Context, conf *config.Config) error {
	pl.Config.WaitLimits = max(0, cmp.Or(conf.WaitLimits, config.DefaultWaitLimits))
	pl.Config.MaxWindows = cmp.Or(conf.MaxWindows, config.DefaultMaxWindows)
	given, err := readQuotaFlags(c)
	given.lay(&pl.Config)
	return err
}
