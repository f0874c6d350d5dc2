package cli

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/config"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// budgetFlags bound what a run spends.
func budgetFlags() []cli.Flag {
	return []cli.Flag{
		&cli.IntFlag{Name: "budget-tokens", Usage: "pause the run after `N` output and reasoning tokens; 0: never"},
		&cli.Float64Flag{Name: "budget-usd", Usage: "pause the run after `X` dollars; 0: never"},
		&cli.IntFlag{Name: "max-turns", Usage: "end an attempt with more than `N` turns; 0: never"},
		&cli.DurationFlag{Name: "budget-time", Usage: "pause the run after `TIME` of running agents; 0s: never"},
	}
}

// budget is what the configuration, and over it the flags, let a run spend.
func (pl *plan) budget(c *cli.Context, conf *config.Config) error {
	pl.config.Budget = task.Amount{Tokens: int64(conf.BudgetTokens), USD: conf.BudgetUSD, Time: conf.BudgetTime}
	given, err := readBudgetFlags(c)
	given.lay(&pl.config.Budget)
	given.layTurns(&pl.config.MaxTurns)
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
			return g, usagef("%s: --budget-tokens %d: want 1 or more, or 0 for no limit", name, n)
		}
	}
	if c.IsSet("budget-usd") {
		x := c.Float64("budget-usd")
		if g.usd = &x; !(x >= 0) || math.IsInf(x, 0) {
			return g, usagef("%s: --budget-usd %v: want an amount of dollars such as 2.50, or 0 for no limit", name, x)
		}
	}
	if c.IsSet("budget-time") {
		d := c.Duration("budget-time")
		if g.time = &d; d < 0 {
			return g, usagef("%s: --budget-time %s: want a duration such as 30m, or 0s for no limit", name, d)
		}
	}
	if c.IsSet("max-turns") {
		n := c.Int("max-turns")
		if g.turns = &n; n < 0 {
			return g, usagef("%s: --max-turns %d: want 1 or more, or 0 for no limit", name, n)
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

// checkTurns refuses to bound the turns of agents that do not show them.
func (env Env) checkTurns(c *cli.Context, config engine.Config, calls []*task.Call) error {
	if config.MaxTurns == 0 {
		return nil
	}
	known := env.kinds().ByName()
	for _, call := range calls {
		if err := engine.CheckCall(config, known, call); err != nil {
			return usagef("%s: %v", c.Command.Name, err)
		}
	}
	return nil
}

// callsOf are the calls of the agents of a run.
func callsOf(v *store.View) (calls []*task.Call) {
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

// recordedBudget is the budget of a run by its latest owner that recorded one.
func recordedBudget(prior *store.View, first task.Amount) task.Amount {
	if prior != nil && prior.Opened != nil && prior.Opened.Budget != nil {
		return *prior.Opened.Budget
	}
	return first
}

// budgetFact is the budget as an owner records it: one that a resume took away
// must not come back with the next.
func (r *driveRequest) budgetFact() *task.Amount {
	if r.config.Budget == (task.Amount{}) && r.prior == nil {
		return nil
	}
	budget := r.config.Budget
	return &budget
}

// recordedTurns is how many turns an attempt may take, by the latest owner that
// recorded it.
func recordedTurns(prior *store.View, first int) int {
	if prior != nil && prior.Opened != nil && prior.Opened.MaxTurns != nil {
		return *prior.Opened.MaxTurns
	}
	return first
}

// turnsFact is that number as an owner records it: agents that a resume let do
// more must not be paid for again to be stopped where they were before.
func (r *driveRequest) turnsFact() *int {
	if r.config.MaxTurns == 0 && r.prior == nil {
		return nil
	}
	turns := r.config.MaxTurns
	return &turns
}

// budgetObject is what a run may spend, and has.
type budgetObject struct {
	amountObject
	Spent *amountObject `json:"spent,omitempty"` // absent in a plan
}

// amountObject is an amount in JSON.
type amountObject struct {
	Tokens int64   `json:"tokens,omitempty"`
	USD    float64 `json:"usd,omitempty"`
	Time   int64   `json:"time_ms,omitempty"`
}

func newAmountObject(a task.Amount) amountObject {
	return amountObject{Tokens: a.Tokens, USD: a.USD, Time: a.Time.Milliseconds()}
}

// newBudgetObject is nil for a run without a budget.
func newBudgetObject(v *store.View, now time.Time) *budgetObject {
	total := recordedBudget(v, task.Amount{})
	if total == (task.Amount{}) {
		return nil
	}
	spent := newAmountObject(v.Spent(now))
	return &budgetObject{amountObject: newAmountObject(total), Spent: &spent}
}

// paidObject is what the latest owner of a resumed run has paid; nil of a run
// that was not resumed.
func paidObject(v *store.View) *task.Usage {
	if v.Resumed == 0 {
		return nil
	}
	paid := paidNow(v)
	return &paid
}

// paidNow is what the latest owner of a run has paid.
func paidNow(v *store.View) task.Usage {
	all, before := v.Usage(), v.Inherited
	return task.Usage{
		Input: all.Input - before.Input, Output: all.Output - before.Output,
		CacheRead: all.CacheRead - before.CacheRead, CacheWrite: all.CacheWrite - before.CacheWrite,
		CostUSD:     max(0, all.CostUSD-before.CostUSD), // sums of fractions
		ComputedUSD: max(0, all.ComputedUSD-before.ComputedUSD),
		// A sum that is told later takes back what had no price.
		UnpricedTokens: max(0, all.UnpricedTokens-before.UnpricedTokens),
	}
}

// spentText is what was spent of a budget; empty where there is none.
func spentText(v *store.View, now time.Time) string {
	return engine.SpentText(v.Spent(now), recordedBudget(v, task.Amount{}))
}

// spentLine is spentText for the end of a run, with what was paid now where
// others had begun it.
func spentLine(v *store.View, now time.Time) string {
	text := spentText(v, now)
	if text == "" {
		return ""
	}
	if v.Resumed > 0 {
		paid := paidNow(v)
		text += fmt.Sprintf("; paid now: %d tokens, %s", paid.Output, task.Dollars(paid.CostUSD))
	}
	return "spent " + text
}

// totalText is a budget before anything was spent.
func totalText(b task.Amount) string {
	var parts []string
	if b.Tokens > 0 {
		parts = append(parts, fmt.Sprintf("%d tokens", b.Tokens))
	}
	if b.USD > 0 {
		parts = append(parts, task.Dollars(b.USD))
	}
	if b.Time > 0 {
		parts = append(parts, b.Time.String()+" of work")
	}
	return strings.Join(parts, ", ")
}

// turnsShort is how many turns an attempt of a run may take, where that is what
// stopped one of its agents; else 0.
func turnsShort(v *store.View) int {
	most := recordedTurns(v, 0)
	for _, a := range v.Agents {
		r, ok := a.Status.(*task.Cancelled)
		own := a.Call.Limits
		if ok && r.Cause == task.CauseBudget && own.Tokens == 0 && own.USD == 0 && (own.Turns == 0 || own.Turns > most) {
			return most
		}
	}
	return 0
}

// resumeCommand is what resumes a paused run: where the budget is spent, or the
// turns of its agents were, with as much again.
func (p *place) resumeCommand(v *store.View) string {
	words := []string{p.env.Calls, "resume", v.Identity.Run}
	total, spent := recordedBudget(v, task.Amount{}), v.Spent(v.Ended)
	more := total
	more.Add(spent)
	if total.Tokens > 0 && spent.Tokens >= total.Tokens {
		words = append(words, "--budget-tokens", fmt.Sprint(more.Tokens))
	}
	if total.USD > 0 && spent.USD >= total.USD {
		words = append(words, "--budget-usd", strconv.FormatFloat(undusted(more.USD), 'f', -1, 64))
	}
	if total.Time > 0 && spent.Time >= total.Time {
		words = append(words, "--budget-time", more.Time.Round(time.Millisecond).String())
	}
	if most := turnsShort(v); most > 0 && len(words) == 3 {
		words = append(words, "--max-turns", strconv.Itoa(2*most))
	}
	return strings.Join(words, " ")
}

// saySilent names the agents that tokens and dollars do not bound: those that
// report none.
func (p *place) saySilent(w io.Writer, pl *plan) {
	if pl.config.Budget.Tokens == 0 && pl.config.Budget.USD == 0 {
		return
	}
	told := map[string]bool{}
	for _, call := range pl.calls {
		if engine.SpecOf(pl.config, call).Format == agent.FormatJSONL || told[call.Agent] {
			continue
		}
		told[call.Agent] = true
		who := "a command after --"
		if call.Agent != "" {
			who = fmt.Sprintf("agent %s (format = \"text\")", call.Agent)
		}
		fmt.Fprintf(w, "budget: %s reports no usage: only --budget-time bounds it\n", who)
	}
}
