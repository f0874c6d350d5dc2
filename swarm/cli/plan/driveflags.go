package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/limit"
	"agentswarm/swarm/spending"
	"agentswarm/swarm/store"
)

// DriveFlags are the flags of commands that go on with a run.
func DriveFlags() []cli.Flag {
	return slices.Concat([]cli.Flag{
		&cli.IntFlag{Name: "jobs", Aliases: []string{"j"}, Usage: "run `N` agents at once, 1 to 100 (default: as the run was started)"},
		&cli.DurationFlag{Name: "run-timeout", Usage: "stop the run after `TIME`"},
		cmdline.JSONFlag(), cmdline.YesFlag(), AnywayFlag(),
	}, BudgetFlags(), QuotaFlags(), CaptureFlags(), ContactFlags(), IsolationFlags(), CautionFlags())
}

// DriveFlagsRead are their values.
type DriveFlagsRead struct {
	jobs    int // 0: as recorded
	Timeout time.Duration
	Anyway  bool // start agents that are expected to fail
	budget  budgetGiven
	Contact contactGiven
	maxFile int64 // in bytes; 0: as recorded
	quota   quotaGiven
}

func ReadDriveFlags(c *cli.Context) (DriveFlagsRead, error) {
	r := DriveFlagsRead{jobs: c.Int("jobs"), Timeout: c.Duration("run-timeout"), Anyway: c.Bool("anyway")}
	name := c.Command.Name
	if c.IsSet("jobs") && (r.jobs < 1 || r.jobs > limit.MaxJobs) {
		return r, exit.Usagef("%s: -j %d: want 1 to %d", name, r.jobs, limit.MaxJobs)
	}
	if c.IsSet("run-timeout") && r.Timeout <= 0 {
		return r, exit.Usagef("%s: --run-timeout %s: want a duration above zero, such as 10m", name, r.Timeout)
	}
	var err error
	if r.budget, err = readBudgetFlags(c); err != nil {
		return r, err
	}
	if r.Contact, err = readContactFlags(c); err != nil {
		return r, err
	}
	if r.quota, err = readQuotaFlags(c); err != nil {
		return r, err
	}
	if err := layMaxFile(c, &r.maxFile); err != nil {
		return r, err
	}
	// [place.cautious] lays them over the recorded policy. This reports their
	// errors before anything is written.
	_, err = cmdline.ReadCautionFlags(c)
	return r, err
}

// Lay lays the flags over the values recorded with the run and by its latest
// owner.
func (r DriveFlagsRead) Lay(config *engine.Config, prior *store.View) {
	config.Budget = spending.Budget(prior, config.Budget)
	r.budget.lay(&config.Budget)
	config.MaxTurns = spending.Turns(prior, config.MaxTurns)
	r.budget.layTurns(&config.MaxTurns)
	r.Contact.layPatience(config)
	r.quota.lay(config)
	config.MaxFile = cmp.Or(r.maxFile, config.MaxFile)
	if r.jobs > 0 {
		config.Jobs = r.jobs
	}
}

// FitJobs bounds the agents at once of a run that goes on, as [Configure] does
// for a new run, and says so.
func FitJobs(env cmdline.Env, config *engine.Config) error {
	jobs, fewer, err := cmdline.BoundJobs(env, config.Jobs)
	if err != nil {
		return err
	}
	if config.Jobs = jobs; fewer != "" {
		fmt.Fprintln(env.Stderr, termtext.Line(fewer))
	}
	return nil
}

// FlagOfDriving is a flag that was given and means nothing where another
// process drives the run; empty for none.
func FlagOfDriving(c *cli.Context) string {
	for _, name := range []string{"jobs", "run-timeout", "budget-tokens", "budget-usd", "budget-time", "max-turns", "wait-limits", "max-windows", "max-file", "questions", "question-timeout", "notify", "sandbox", "backend", "hide", "write", "pass-env", "confined", "allow", "audit"} {
		if c.IsSet(name) {
			return strings.Repeat("-", min(2, len(name))) + name
		}
	}
	return ""
}
