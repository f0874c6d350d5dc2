package plan

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/agent"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/config"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/spending"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// BudgetFlags are the flags that bound the spending of a run.
func BudgetFlags() []cli.Flag {
	return []cli.Flag{
		&cli.IntFlag{Name: "budget-tokens", Usage: "pause the run after `N` output and reasoning tokens; 0: never"},
		&cli.Float64Flag{Name: "budget-usd", Usage: "pause the run after `X` dollars; 0: never"},
		&cli.IntFlag{Name: "max-turns", Usage: "end an attempt with more than `N` turns; 0: never"},
		&cli.DurationFlag{Name: "budget-time", Usage: "pause the run after `TIME` of running agents; 0s: never"},
	}
}

// budget is the spending limit: the configuration's, with the flags over it.
func (pl *Plan) budget(c *cli.Context, conf *config.Config) error {
	pl.Config.Budget = task.Amount{Tokens: int64(conf.BudgetTokens), USD: conf.BudgetUSD, Time: conf.BudgetTime}
	given, err := readBudgetFlags(c)
	given.lay(&pl.Config.Budget)
	given.layTurns(&pl.Config.MaxTurns)
	return err
}

// budgetGiven are the flags that were given.
type budgetGiven struct {
	tokens *int64
	usd    *float64
	time   *time.Duration
	turns  *int
}

func readBudgetFlags(c *cli.Context) (g budgetGiven, err error) {
	name := c.Command.Name
	if c.IsSet("budget-tokens") {
		n := int64(c.Int("budget-tokens"))
		if g.tokens = &n; n < 0 {
			return g, exit.Usagef("%s: --budget-tokens %d: want 1 or more, or 0 for no limit", name, n)
		}
	}
	if c.IsSet("budget-usd") {
		x := c.Float64("budget-usd")
		if g.usd = &x; !(x >= 0) || math.IsInf(x, 0) {
			return g, exit.Usagef("%s: --budget-usd %v: want an amount of dollars such as 2.50, or 0 for no limit", name, x)
		}
	}
	if c.IsSet("budget-time") {
		d := c.Duration("budget-time")
		if g.time = &d; d < 0 {
			return g, exit.Usagef("%s: --budget-time %s: want a duration such as 30m, or 0s for no limit", name, d)
		}
	}
	if c.IsSet("max-turns") {
		n := c.Int("max-turns")
		if g.turns = &n; n < 0 {
			return g, exit.Usagef("%s: --max-turns %d: want 1 or more, or 0 for no limit", name, n)
		}
	}
	return g, nil
}

// layTurns lays the flag over how many turns an attempt may take.
func (g budgetGiven) layTurns(turns *int) {
	if g.turns != nil {
		*turns = *g.turns
	}
}

// CheckTurns refuses to bound the turns of agents that do not show them.
func CheckTurns(env cmdline.Env, c *cli.Context, config engine.Config, calls []*task.Call) error {
	if config.MaxTurns == 0 {
		return nil
	}
	known := cmdline.Kinds(env).ByName()
	for _, call := range calls {
		if err := engine.CheckCall(config, known, call); err != nil {
			return exit.Usagef("%s: %v", c.Command.Name, err)
		}
	}
	return nil
}

// CallsOf are the calls of the agents of a run.
func CallsOf(v *store.View) (calls []*task.Call) {
	for _, a := range v.Agents {
		calls = append(calls, a.Call)
	}
	return calls
}

// lay lays the flags over a budget.
func (g budgetGiven) lay(b *task.Amount) {
	if g.tokens != nil {
		b.Tokens = *g.tokens
	}
	if g.usd != nil {
		b.USD = *g.usd
	}
	if g.time != nil {
		b.Time = *g.time
	}
}

// SaySilent names the agents that tokens and dollars do not bound: those that
// report none.
func SaySilent(p *cmdline.Place, w io.Writer, pl *Plan) {
	for _, name := range spending.Silent(pl.Config, pl.Calls) {
		who := "a command after --"
		if name != "" {
			who = fmt.Sprintf("agent %s (format = \"text\")", name)
		}
		fmt.Fprintf(w, "budget: %s reports no usage: only --budget-time bounds it\n", who)
	}
}

// unboundedLine tells of models without a price in a run with a budget in
// dollars; empty where the budget bounds all.
func unboundedLine(c engine.Config, known map[string]agent.Kind, calls []*task.Call) (string, error) {
	models, err := spending.Unbounded(c, known, calls)
	if err != nil || len(models) == 0 {
		return "", err
	}
	return fmt.Sprintf("no price is known for %s, so the budget of %s does not bound them; set [prices] in your configuration",
		termtext.Line(strings.Join(models, ", ")), task.Dollars(c.Budget.USD)), nil
}
