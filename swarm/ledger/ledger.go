// Package ledger reports the use of models by the agents of a run, and its
// cost.
//
// It owns the attribution of each use, the source of each cost, and the
// comparison with a single model for everything. It reads the sums of the
// journal, and knows only the prices that the caller gives.
package ledger

import (
	"cmp"
	"fmt"
	"slices"

	"agentswarm/roles"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// Entry is the usage of an agent's attempt.
type Entry struct {
	Agent   task.ID
	Attempt int
	Role    string // never empty
	Phase   string // empty: none
	Model   string // empty: not reported
	Usage   task.Usage
}

// Request selects the usage to report.
type Request struct {
	View *store.View // required
	// Only are the agents that are asked about; nil: all.
	Only []*store.Agent
	// Told is the model that a call was told to use; empty for none. It counts
	// where its agent did not say which answered. Required.
	Told func(*task.Call) string
}

// Entries are the attempts that used anything, in the order of agents. All of
// them count, not only the last.
func Entries(r Request) []Entry {
	agents := r.Only
	if agents == nil {
		agents = r.View.Agents
	}
	var all []Entry
	for _, a := range agents {
		role := RoleOf(r.View, a.Call.Input)
		for _, paid := range a.Paid {
			as := role
			if paid.Slow {
				as = roles.Slow
			}
			all = append(all, Entry{
				Agent: a.ID, Attempt: paid.Attempt, Role: as, Phase: a.Call.Phase,
				Model: cmp.Or(paid.Model, r.Told(a.Call)), Usage: paid.Usage,
			})
		}
	}
	return all
}

// RoleOf is the role of a call. A continued conversation keeps the role of its
// beginning.
func RoleOf(v *store.View, in task.AgentInput) string {
	for range len(v.Agents) + 1 { // as long as a chain can be
		switch is := in.(type) {
		case *task.TypedAgentInput:
			return cmp.Or(is.Role, roles.Default)
		case *task.ForkAgentInput:
			parent := v.Agent(is.Parent)
			if parent == nil {
				return roles.Default
			}
			in = parent.Call.Input
		default:
			panic(fmt.Sprintf("unhandled %T", in))
		}
	}
	return roles.Default
}

// By is the key by which uses are summed. The zero value is none.
type By string

// The keys of sums.
const (
	ByRole  By = "role"
	ByModel By = "model"
	ByAgent By = "agent"
	ByPhase By = "phase"
)

// UnmarshalText returns an error for an unknown key.
func (b *By) UnmarshalText(text []byte) error {
	switch got := By(text); got {
	case ByRole, ByModel, ByAgent, ByPhase:
		*b = got
		return nil
	}
	return fmt.Errorf("%q: want role, model, agent or phase", text)
}

// of is the key that an entry is counted under.
func (b By) of(e Entry) string {
	switch b {
	case ByRole:
		return e.Role
	case ByModel:
		return e.Model
	case ByAgent:
		return string(e.Agent)
	case ByPhase:
		return e.Phase
	default:
		panic("unhandled " + string(b))
	}
}

// Row is a sum.
type Row struct {
	Name             string
	Agents, Attempts int
	Usage            roles.Usage
	// The cost by its source: the agents, a computation when they reported
	// tokens, or an estimate by the prices known now.
	Reported, Computed, Estimated float64
	// Unpriced are the models of uses with an unknown cost; empty for an
	// unknown model.
	Unpriced []string

	agents map[task.ID]bool
}

// Cost is all of the cost that is known.
func (r *Row) Cost() float64 { return r.Reported + r.Computed + r.Estimated }

// Prices returns the price of a model.
type Prices func(model string) (roles.Price, bool)

// Sum sums entries up, in the order in which they come first. An estimate takes
// it that no request was longer than the price holds for: sums do not tell.
func Sum(entries []Entry, by By, prices Prices) (rows []*Row, total *Row) {
	total = &Row{agents: map[task.ID]bool{}}
	for _, e := range entries {
		name := by.of(e)
		at := slices.IndexFunc(rows, func(r *Row) bool { return r.Name == name })
		if at < 0 {
			at = len(rows)
			rows = append(rows, &Row{Name: name, agents: map[task.ID]bool{}})
		}
		rows[at].add(e, prices)
		total.add(e, prices)
	}
	return rows, total
}

func (r *Row) add(e Entry, prices Prices) {
	r.Attempts++
	r.agents[e.Agent] = true
	r.Agents = len(r.agents)
	u := tokens(e.Usage)
	var sum task.Usage // which does not run over
	sum.Add(task.Usage{Input: r.Usage.Input, Output: r.Usage.Output, CacheRead: r.Usage.CacheRead, CacheWrite: r.Usage.CacheWrite})
	sum.Add(e.Usage)
	r.Usage = tokens(sum)
	if e.Usage.CostUSD != 0 {
		r.Computed += e.Usage.ComputedUSD
		r.Reported += max(0, e.Usage.CostUSD-e.Usage.ComputedUSD)
		if e.Usage.UnpricedTokens == 0 {
			return
		}
	} else if u == (roles.Usage{}) {
		return
	} else if price, ok := prices.flat(e.Model); ok {
		if cost, ok := price.Cost(u); ok {
			r.Estimated += cost
			return
		}
	}
	if !slices.Contains(r.Unpriced, e.Model) {
		r.Unpriced = append(r.Unpriced, e.Model)
		slices.Sort(r.Unpriced)
	}
}

// flat is the price of a model for requests that are not too long for it.
func (p Prices) flat(model string) (roles.Price, bool) {
	price, ok := p(model)
	price.MostInput = 0
	return price, ok
}

func tokens(u task.Usage) roles.Usage {
	return roles.Usage{Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite}
}

// Comparison is the cost of the same tokens with a single model for everything.
type Comparison struct {
	Model        string
	Paid, OnThat float64
	// Unknown are the models of which no price is known that says it all. With any
	// of them Paid says nothing; OnThat does unless Model is among them.
	Unknown []string
	// Longest is the longest request that the model's price covers. It is set
	// if there were more tokens than that, from an unknown number of requests;
	// 0: it does not matter.
	Longest int64
}

// Saved is the amount by which less was paid.
func (c *Comparison) Saved() float64 { return c.OnThat - c.Paid }

// Compare compares with a single model.
func Compare(entries []Entry, model string, prices Prices) *Comparison {
	c := &Comparison{Model: model}
	price, _ := prices(model)
	var used []roles.Used
	for _, e := range entries {
		u := tokens(e.Usage)
		used = append(used, roles.Used{Model: e.Model, Usage: u, CostUSD: e.Usage.CostUSD, Part: e.Usage.UnpricedTokens > 0})
		if most := price.MostInput; most > 0 && e.Model != model && (u.Input > most || u.CacheRead > most-u.Input || u.CacheWrite > most-u.Input-u.CacheRead) {
			c.Longest = most
		}
	}
	c.Paid, c.OnThat, c.Unknown = roles.AllOn(prices.flat, used, model)
	return c
}

// Default is the model of the role default in the run: the model with most of
// its tokens; empty if no entry names it.
func Default(entries []Entry) string {
	sums := map[string]int64{}
	best := ""
	for _, e := range entries {
		if e.Role != roles.Default || e.Model == "" {
			continue
		}
		var sum task.Usage
		sum.Add(task.Usage{Input: sums[e.Model]})
		for _, n := range []int64{e.Usage.Input, e.Usage.Output, e.Usage.CacheRead, e.Usage.CacheWrite} {
			sum.Add(task.Usage{Input: n})
		}
		if sums[e.Model] = sum.Input; best == "" || sums[e.Model] > sums[best] {
			best = e.Model
		}
	}
	return best
}
