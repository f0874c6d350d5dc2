package view

import (
	"strings"
	"time"

	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/spending"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// BudgetObject has the budget of a run and the amount spent.
type BudgetObject struct {
	AmountObject
	Spent *AmountObject `json:"spent,omitempty"` // absent in a plan
}

// newBudgetObject is nil for a run without a budget.
func newBudgetObject(v *store.View, now time.Time) *BudgetObject {
	total := spending.Budget(v, task.Amount{})
	if total == (task.Amount{}) {
		return nil
	}
	spent := NewAmountObject(v.Spent(now))
	return &BudgetObject{AmountObject: NewAmountObject(total), Spent: &spent}
}

// paidObject is the usage that the latest owner of a resumed run has paid for;
// nil for a run that was not resumed.
func paidObject(v *store.View) *task.Usage {
	if v.Resumed == 0 {
		return nil
	}
	paid := spending.PaidNow(v)
	return &paid
}

// resumeCommand is the command that resumes a paused run. If the budget or the
// agents' turns were spent, it allows as much again.
func resumeCommand(p *cmdline.Place, v *store.View) string {
	return strings.Join(append([]string{p.Env.Calls, "resume", v.Identity.Run}, spending.ExtraFlags(v)...), " ")
}

// DollarsText formats a cost in dollars; zero is empty.
func DollarsText(usd float64) string {
	if usd <= 0 {
		return ""
	}
	return task.Dollars(usd)
}

// AmountObject is an amount in JSON.
type AmountObject struct {
	Tokens int64   `json:"tokens,omitempty"`
	USD    float64 `json:"usd,omitempty"`
	Time   int64   `json:"time_ms,omitempty"`
}

// NewAmountObject returns an amount as a JSON object.
func NewAmountObject(a task.Amount) AmountObject {
	return AmountObject{Tokens: a.Tokens, USD: a.USD, Time: a.Time.Milliseconds()}
}
