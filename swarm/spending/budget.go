// Package spending answers questions about the money and tokens of a run: its budget,
// the rest of it, models without a price, and the model that its agents share. It
// stops no agent; the engine does.
package spending

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"agentswarm/roles"
	"agentswarm/swarm/agent"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// Budget returns the budget that the latest owner of a run recorded; first if
// none did. v may be nil.
func Budget(v *store.View, first task.Amount) task.Amount {
	if v != nil && v.Opened != nil && v.Opened.Budget != nil {
		return *v.Opened.Budget
	}
	return first
}

// Exhausted reports whether a run has spent its budget, or more. first is the
// budget if no owner recorded any.
func Exhausted(v *store.View, first task.Amount, now time.Time) bool {
	budget, spent := Budget(v, first), v.Spent(now)
	return budget.Tokens > 0 && spent.Tokens >= budget.Tokens || budget.USD > 0 && spent.USD >= budget.USD ||
		budget.Time > 0 && spent.Time >= budget.Time
}

// Turns returns the bound of an attempt's turns that the latest owner recorded;
// first if none did. v may be nil.
func Turns(v *store.View, first int) int {
	if v != nil && v.Opened != nil && v.Opened.MaxTurns != nil {
		return *v.Opened.MaxTurns
	}
	return first
}

// PaidNow returns the usage that the latest owner of a run has paid for.
func PaidNow(v *store.View) task.Usage {
	all, before := v.Usage(), v.Inherited
	return task.Usage{
		Input: all.Input - before.Input, Output: all.Output - before.Output,
		CacheRead: all.CacheRead - before.CacheRead, CacheWrite: all.CacheWrite - before.CacheWrite,
		CostUSD:     max(0, all.CostUSD-before.CostUSD), // sums of fractions
		ComputedUSD: max(0, all.ComputedUSD-before.ComputedUSD),
		// A later report of a cost lowers the count of tokens without a price.
		UnpricedTokens: max(0, all.UnpricedTokens-before.UnpricedTokens),
	}
}

// Line says how much of its budget a run has spent, and how much its latest owner paid
// if others began it; "" without a budget.
func Line(v *store.View, now time.Time) string {
	text := engine.SpentText(v.Spent(now), Budget(v, task.Amount{}))
	if text == "" {
		return ""
	}
	if v.Resumed > 0 {
		paid := PaidNow(v)
		text += fmt.Sprintf("; paid now: %d tokens, %s", paid.Output, task.Dollars(paid.CostUSD))
	}
	return "spent " + text
}

// BudgetText returns a budget for people; "" if it bounds nothing.
func BudgetText(b task.Amount) string {
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

// Round returns an amount of dollars without the rounding errors of sums.
func Round(usd float64) float64 { return math.Round(usd*1e9) / 1e9 }

// ExtraFlags returns the flags of resume that a run needs to go on: as much again of
// each spent amount, or else of turns.
func ExtraFlags(v *store.View) []string {
	var flags []string
	total, spent := Budget(v, task.Amount{}), v.Spent(v.Ended)
	more := total
	more.Add(spent)
	if total.Tokens > 0 && spent.Tokens >= total.Tokens {
		flags = append(flags, "--budget-tokens", fmt.Sprint(more.Tokens))
	}
	if total.USD > 0 && spent.USD >= total.USD {
		flags = append(flags, "--budget-usd", strconv.FormatFloat(Round(more.USD), 'f', -1, 64))
	}
	if total.Time > 0 && spent.Time >= total.Time {
		flags = append(flags, "--budget-time", more.Time.Round(time.Millisecond).String())
	}
	if most := turnsShort(v); most > 0 && len(flags) == 0 {
		flags = append(flags, "--max-turns", strconv.Itoa(2*most))
	}
	return flags
}

// turnsShort returns the bound of turns if it stopped an agent of a run; else 0.
func turnsShort(v *store.View) int {
	most := Turns(v, 0)
	for _, a := range v.Agents {
		r, ok := a.Status.(*task.Cancelled)
		own := a.Call.Limits
		if ok && r.Cause == task.CauseBudget && own.Tokens == 0 && own.USD == 0 && (own.Turns == 0 || own.Turns > most) {
			return most
		}
	}
	return 0
}

// Unpriced returns the models of calls that cost money and have no known price: a budget
// in dollars does not bound them. It leaves out agents that report their costs.
func Unpriced(c engine.Config, kinds map[string]agent.Kind, prices *roles.Prices, calls []*task.Call) (models []string) {
	for _, call := range calls {
		if c.Agents[call.Agent] == nil {
			continue
		}
		spec := engine.SpecOf(c, call)
		kind := kinds[spec.Kind]
		if !kind.Paid || kind.Reports || spec.Model == "" || slices.Contains(models, spec.Model) {
			continue
		}
		if _, priced := prices.Of(spec.Model); !priced {
			models = append(models, spec.Model)
		}
	}
	return models
}

// Unbounded returns the models of calls that the run's budget in dollars does not bound;
// none without such a budget. The error is that of the table of prices.
func Unbounded(c engine.Config, kinds map[string]agent.Kind, calls []*task.Call) ([]string, error) {
	if c.Budget.USD <= 0 {
		return nil, nil
	}
	prices, err := roles.Load()
	if err != nil {
		return nil, err
	}
	return Unpriced(c, kinds, prices.With(c.Prices), calls), nil
}

// Silent returns the agents of calls that report no usage, each once, so that only a
// budget of time bounds them. "" stands for a command.
func Silent(c engine.Config, calls []*task.Call) (names []string) {
	if c.Budget.Tokens == 0 && c.Budget.USD == 0 {
		return nil
	}
	for _, call := range calls {
		if engine.SpecOf(c, call).Format != agent.FormatJSONL && !slices.Contains(names, call.Agent) {
			names = append(names, call.Agent)
		}
	}
	return names
}
