package inspect

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/terminal"
	"agentswarm/internal/termtext"
	"agentswarm/roles"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/selection"
	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/ledger"
	"agentswarm/swarm/spending"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// NewUsageCommand returns the command `swarm usage`.
func NewUsageCommand(env cmdline.Env) *cli.Command {
	return &cli.Command{
		Name:      "usage",
		Usage:     "show the tokens and cost of a run",
		ArgsUsage: "[RUN | AGENT… | -]",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "by", Usage: "key of the sums: `role|model|agent|phase` (default: role)"},
			cmdline.JSONFlag(),
		}, selection.SelectorFlags()...),
		Description: `Sums up the tokens of all attempts of the agents of a run (default: the latest):
input, output, read from a cache, and written to one.

A cost is reported if the agent stated it, computed if the model of its tokens had a
price, and estimated if the price became known later. Models without a known price
are named. The last line is the cost of the same tokens on the model of the role
default.

Examples:
  swarm usage
  swarm usage k3x9q2 --by model
  swarm usage --failed
  swarm usage --by agent --json`,
		Action: func(c *cli.Context) error { return usageAction(c, env) },
	}
}

// usageObject is swarm.usage/1, described in docs/json.md.
type usageObject struct {
	Schema string      `json:"schema"`
	Run    string      `json:"run"`
	By     ledger.By   `json:"by"`
	Rows   []usageRow  `json:"rows"`
	Total  usageRow    `json:"total"`
	Alone  *aloneUsage `json:"default,omitempty"`
	// Working are agents at work, of which only earlier attempts are counted.
	Working int `json:"working,omitempty"`
	// single is set where all was done by the model that Alone compares with.
	single bool
}

type usageRow struct {
	Name       *string  `json:"name,omitempty"`
	Label      string   `json:"label,omitempty"`
	Agents     int      `json:"agents"`
	Attempts   int      `json:"attempts"`
	Input      int64    `json:"input"`
	Output     int64    `json:"output"`
	CacheRead  int64    `json:"cache_read"`
	CacheWrite int64    `json:"cache_write"`
	Cost       float64  `json:"cost_usd"`
	Reported   float64  `json:"reported_usd,omitempty"`
	Computed   float64  `json:"computed_usd,omitempty"`
	Estimated  float64  `json:"estimated_usd,omitempty"`
	Unpriced   []string `json:"unpriced,omitempty"`
}

// aloneUsage is the same with everything on the model of the role default.
type aloneUsage struct {
	Model   string   `json:"model"`
	Paid    *float64 `json:"paid_usd,omitempty"`
	Cost    *float64 `json:"cost_usd,omitempty"`
	Saved   *float64 `json:"saved_usd,omitempty"`
	Unknown []string `json:"unknown,omitempty"`
	Longest int64    `json:"longest_request,omitempty"`
}

func usageAction(c *cli.Context, env cmdline.Env) error {
	by := ledger.ByRole
	if c.IsSet("by") {
		if err := by.UnmarshalText([]byte(c.String("by"))); err != nil {
			return exit.Usagef("usage: --by %v", err)
		}
	}
	p, s, err := selection.Open(c, env, 0, -1)
	if err != nil {
		return err
	}
	if err := s.NonePicked("usage"); err != nil {
		return err
	}
	if s.Named = selection.Distinct(s.Named); !s.OnlyAgents() {
		s.Named = nil // the run itself is named
	}
	o, err := usage(c.Context, p, s, by)
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return cmdline.PrintJSON(env.Stdout, o)
	}
	width, _ := terminal.Detect(env.Stdout, env.Getenv).Size()
	return o.print(env.Stdout, width)
}

// usage sums up the usage of the chosen agents of a run.
func usage(ctx context.Context, p *cmdline.Place, s *selection.Selection, by ledger.By) (*usageObject, error) {
	recorded, err := session.EngineConfig(s.View)
	if err != nil {
		return nil, err
	}
	prices, err := pricesFor(ctx, p, recorded)
	if err != nil {
		return nil, err
	}
	asked := ledger.Request{
		View: s.View, Told: func(call *task.Call) string { return engine.SpecOf(recorded, call).Model },
	}
	whole := ledger.Entries(asked)
	asked.Only = s.Named
	entries := ledger.Entries(asked)
	rows, total := ledger.Sum(entries, by, prices)
	o := &usageObject{Schema: "swarm.usage/1", Run: s.Run.ID, By: by, Rows: []usageRow{}, Total: newUsageRow(total)}
	for _, r := range rows {
		row := newUsageRow(r)
		row.Name = &r.Name
		if a := s.View.Agent(task.ID(r.Name)); by == ledger.ByAgent && a != nil {
			row.Label = engine.Title(a.ID, a.Call)
		}
		o.Rows = append(o.Rows, row)
	}
	for _, a := range s.Agents() {
		if is, running := a.Status.(*task.Running); running && is.State.Coarse() != task.Queued {
			o.Working++
		}
	}
	if model := defaultModel(ctx, p, recorded, s.View, whole); model != "" && len(entries) > 0 {
		o.Alone = newAloneUsage(ledger.Compare(entries, model, prices))
		o.single = !slices.ContainsFunc(entries, func(e ledger.Entry) bool { return e.Model != model })
	}
	return o, nil
}

// spentBy is the usage of an agent, and its cost.
func spentBy(ctx context.Context, p *cmdline.Place, s *selection.Selection, a *store.Agent) (usageRow, error) {
	recorded, _ := session.EngineConfig(s.View) // as in newRunObject
	prices, err := pricesFor(ctx, p, recorded)
	if err != nil {
		return usageRow{}, err
	}
	entries := ledger.Entries(ledger.Request{
		View: s.View, Only: []*store.Agent{a},
		Told: func(call *task.Call) string { return engine.SpecOf(recorded, call).Model },
	})
	_, total := ledger.Sum(entries, ledger.ByAgent, prices)
	return newUsageRow(total), nil
}

// pricesFor are prices as a run recorded them, then as the user has them now,
// then those of the table.
func pricesFor(ctx context.Context, p *cmdline.Place, recorded engine.Config) (ledger.Prices, error) {
	table, err := roles.Load()
	if err != nil {
		return nil, err
	}
	then := (&roles.Prices{}).With(recorded.Prices)
	now := table
	// Commands that use the configuration report its mistakes.
	if conf, err := p.LoadConfig(ctx, "HEAD"); err == nil {
		now = table.With(conf.Prices())
	}
	return func(model string) (roles.Price, bool) {
		if price, ok := then.Of(model); ok {
			return price, true
		}
		return now.Of(model)
	}, nil
}

func newUsageRow(r *ledger.Row) usageRow {
	u := r.Usage
	return usageRow{
		Agents: r.Agents, Attempts: r.Attempts, Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite,
		Cost: spending.Round(r.Cost()), Reported: spending.Round(r.Reported), Computed: spending.Round(r.Computed), Estimated: spending.Round(r.Estimated), Unpriced: withModels(r.Unpriced),
	}
}

func newAloneUsage(c *ledger.Comparison) *aloneUsage {
	a := &aloneUsage{Model: c.Model, Unknown: withModels(c.Unknown), Longest: c.Longest}
	paid, cost, saved := spending.Round(c.Paid), spending.Round(c.OnThat), spending.Round(c.Saved())
	if !slices.Contains(c.Unknown, c.Model) {
		a.Cost = &cost
	}
	if len(c.Unknown) == 0 {
		a.Paid, a.Saved = &paid, &saved
	}
	return a
}

// unsaid stands for a model that no agent named.
const unsaid = "not said"

// withModels are models, with a word for an unnamed model.
func withModels(models []string) []string {
	var all []string
	for _, m := range models {
		if m == "" {
			m = unsaid
		}
		all = append(all, m)
	}
	return all
}

// print shows it to a person.
func (o *usageObject) print(w io.Writer, width int) error {
	if len(o.Rows) == 0 {
		_, err := fmt.Fprintf(w, "run %s: no agent has reported usage%s\n", o.Run, o.atWork())
		return err
	}
	t := terminal.Table{Columns: []terminal.Column{
		{Title: strings.ToUpper(string(o.By)), Flex: true}, {Title: "AGENTS", Right: true}, {Title: "ATTEMPTS", Right: true},
		{Title: "IN", Right: true}, {Title: "OUT", Right: true}, {Title: "CACHED", Right: true}, {Title: "WRITTEN", Right: true},
		{Title: "COST", Right: true}, {Title: "FROM"},
	}}
	row := func(name string, r usageRow) {
		t.Row(name, termtext.Number(r.Agents), termtext.Number(r.Attempts), termtext.Number(int(r.Input)), termtext.Number(int(r.Output)),
			termtext.Number(int(r.CacheRead)), termtext.Number(int(r.CacheWrite)), r.cost(), r.origin())
	}
	for _, r := range o.Rows {
		row(o.named(r), r)
	}
	row("total", o.Total)
	if err := t.Print(w, width); err != nil {
		return err
	}
	if len(o.Total.Unpriced) > 0 {
		fmt.Fprintf(w, "no price is known of: %s\n", termtext.Line(strings.Join(o.Total.Unpriced, ", ")))
	}
	text := ""
	if !o.single {
		text = o.Alone.text() // compared with itself it would say nothing
	}
	if working := o.atWork(); working != "" {
		text += strings.TrimPrefix(working, "; ") + "\n"
	}
	_, err := io.WriteString(w, text)
	return err
}

// named is the name of a row for a person.
func (o *usageObject) named(r usageRow) string {
	switch name := *r.Name; {
	case name == "" && o.By == ledger.ByModel:
		return unsaid
	case name == "":
		return "none"
	case r.Label != "" && r.Label != name:
		return name + " " + r.Label
	default:
		return name
	}
}

// atWork says that there is more to come.
func (o *usageObject) atWork() string {
	if o.Working == 0 {
		return ""
	}
	return fmt.Sprintf("; %s running: usage is counted when an attempt ends", termtext.Count(o.Working, "agent", "agents"))
}

// cost is the known cost of a row, or the words for an unknown cost.
func (r *usageRow) cost() string {
	if r.Cost == 0 && len(r.Unpriced) > 0 {
		return "not known"
	}
	return fmt.Sprintf("$%.4f", r.Cost)
}

// origin says where a cost is from.
func (r *usageRow) origin() string {
	var parts, words []string
	for _, part := range []struct {
		usd  float64
		word string
	}{{r.Reported, "reported"}, {r.Computed, "computed"}, {r.Estimated, "estimated"}} {
		if part.usd > 0 {
			parts = append(parts, fmt.Sprintf("%s $%.4f", part.word, part.usd))
			words = append(words, part.word)
		}
	}
	if len(parts) == 1 {
		parts = words
	}
	if len(r.Unpriced) > 0 && r.Cost > 0 {
		parts = append(parts, "more is not known")
	}
	return strings.Join(parts, ", ")
}

// text is the line that compares; empty where there is nothing to compare with.
func (a *aloneUsage) text() string {
	switch {
	case a == nil:
		return ""
	case a.Cost == nil:
		return fmt.Sprintf("with everything on %s the cost is not known: no price is known of all tokens of %s\n",
			termtext.Line(a.Model), termtext.Line(strings.Join(a.Unknown, ", ")))
	}
	text := fmt.Sprintf("with everything on %s it would be $%.4f: ", termtext.Line(a.Model), *a.Cost)
	switch {
	case a.Saved == nil:
		text += "the difference is not known: no price is known of all tokens of " + termtext.Line(strings.Join(a.Unknown, ", "))
	case math.Abs(*a.Saved) < 0.00005: // as it is printed
		text += "the same"
	case *a.Saved < 0:
		text += fmt.Sprintf("you paid $%.4f more", -*a.Saved)
	default:
		text += fmt.Sprintf("you saved $%.4f, %.0f %%", *a.Saved, 100**a.Saved / *a.Cost)
	}
	if a.Longest > 0 {
		text += fmt.Sprintf(", if no request had more than %s tokens", termtext.Number(int(a.Longest)))
	}
	return text + "\n"
}
