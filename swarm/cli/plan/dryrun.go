package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"agentswarm/internal/terminal"
	"agentswarm/internal/termtext"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/view"
	"agentswarm/swarm/config"
	"agentswarm/swarm/fanout"
	"agentswarm/swarm/spending"
	"agentswarm/swarm/task"
)

// planObject is swarm.plan/1, described in docs/json.md.
type planObject struct {
	Schema    string             `json:"schema"`
	Base      string             `json:"base"`
	BaseKind  string             `json:"base_kind"`
	Jobs      int                `json:"jobs"`
	MaxAgents int                `json:"max_agents"`
	Warm      string             `json:"warm,omitempty"`
	Setup     string             `json:"setup,omitempty"`
	Verify    string             `json:"verify,omitempty"`
	Into      string             `json:"into,omitempty"`
	Untrusted []string           `json:"untrusted,omitempty"`
	Budget    *view.BudgetObject `json:"budget,omitempty"`
	Agents    []plannedObject    `json:"agents"`

	Script *plannedScript `json:"script,omitempty"`
}

type plannedObject struct {
	ID      string   `json:"id"`
	Label   string   `json:"label,omitempty"`
	Item    string   `json:"item,omitempty"`
	Agent   string   `json:"agent,omitempty"`
	Command []string `json:"command,omitempty"`
	Prompt  string   `json:"prompt,omitempty"`
	Role    string   `json:"role,omitempty"`
	Model   string   `json:"model,omitempty"`
	Effort  string   `json:"effort,omitempty"`

	DependsOn []string `json:"depends_on,omitempty"`
	After     []string `json:"after,omitempty"`
	Paths     []string `json:"paths,omitempty"`
	Timeout   int64    `json:"timeout_ms,omitempty"`
	Allow     []string `json:"allow,omitempty"`
}

// untrusted names an item that waits for an approval: a key of the
// configuration, or a file whose text a script uses.
func untrusted(item config.Item) string {
	switch item.Key {
	case "workflow", "lib", "type":
		return item.Key + " " + item.Origin.File
	default:
		return item.Key
	}
}

// planLine is a line of a plan for people.
type planLine struct{ what, text string }

// object is a plan as JSON.
func (pl *Plan) object() planObject {
	o := planObject{
		Schema: "swarm.plan/1", Base: pl.Base.Commit, BaseKind: string(pl.Base.Kind),
		Jobs: pl.Config.Jobs, MaxAgents: pl.Config.MaxAgents, Into: pl.Into,
		Warm: pl.Config.Warm, Setup: pl.Config.Setup, Verify: pl.Config.Verify, Agents: []plannedObject{},
	}
	if pl.Config.Budget != (task.Amount{}) {
		o.Budget = &view.BudgetObject{AmountObject: view.NewAmountObject(pl.Config.Budget)}
	}
	for _, item := range pl.Needs {
		o.Untrusted = append(o.Untrusted, untrusted(item))
	}
	for i, call := range pl.Calls {
		o.Agents = append(o.Agents, plannedObject{
			ID: string(task.AgentID(i + 1)), Label: call.Label, Item: call.Item,
			Agent: call.Agent, Command: call.Command, Prompt: task.Prompt(call.Input),
			Role: roleOf(call), Model: call.Model, Effort: call.Effort,
			DependsOn: call.DependsOn, After: call.After, Paths: call.Paths,
			Timeout: call.Timeout.Milliseconds(), Allow: call.Allow,
		})
	}
	o.Script = pl.plannedScript()
	return o
}

// PrintPlan prints the plan of a run. It returns an error if standard output
// cannot be written.
func PrintPlan(p *cmdline.Place, pl *Plan, asJSON bool) error {
	o := pl.object()
	if asJSON {
		return cmdline.PrintJSON(p.Env.Stdout, o)
	}
	w := p.Env.Stdout
	PrintBase(p, pl)
	SayNotes(p, pl)
	SayRoutes(p, pl)
	SayVariants(p, pl)
	if pl.Assigned != nil {
		SayUnused(p.Env.Stderr, pl.Config.Roles, pl.Assigned.Flags())
	}
	PrintOverlaps(p, pl)
	SaySilent(p, p.Env.Stderr, pl)
	if o.Script == nil {
		fmt.Fprintf(w, "%s on base %s, %d at once; nothing was started\n",
			termtext.Count(len(o.Agents), "agent", "agents"), view.Git10(o.Base), min(o.Jobs, len(o.Agents)))
	} else {
		fmt.Fprintf(w, "the script %s on base %s, up to %d at once; nothing was started\n",
			termtext.Line(o.Script.Name), view.Git10(o.Base), o.Jobs)
	}
	for _, line := range slices.Concat(o.Script.lines(), []planLine{
		{"warm", o.Warm}, {"setup", o.Setup}, {"verify", o.Verify}, {"merge into", o.Into},
		{"budget", spending.BudgetText(pl.Config.Budget)}, {"not approved yet", strings.Join(o.Untrusted, ", ")},
	}) {
		if line.text != "" {
			fmt.Fprintf(w, "%s: %s\n", line.what, termtext.Line(line.text))
		}
	}
	if o.Script != nil {
		return nil
	}
	t := terminal.Table{Columns: []terminal.Column{{Title: "AGENT"}, {Title: "ITEM"}, {Title: "DOES", Flex: true}}}
	waits := slices.ContainsFunc(pl.Calls, func(c *task.Call) bool { return len(c.DependsOn)+len(c.After) > 0 })
	if waits {
		t.Columns = slices.Insert(t.Columns, 2, terminal.Column{Title: "AFTER", Flex: true})
	}
	bounded := slices.ContainsFunc(pl.Calls, func(c *task.Call) bool { return len(c.Paths) > 0 })
	if bounded {
		t.Columns = append(t.Columns, terminal.Column{Title: "PATHS", Flex: true})
	}
	for i, a := range o.Agents {
		does := fanout.Asked(pl.Calls[i])
		if len(a.Command) > 0 {
			does = strings.Join(a.Command, " ")
		} else if a.Agent != "" {
			does = a.Agent + ": " + does
		}
		row := []string{a.ID, cmp.Or(a.Item, a.Label), does}
		if waits {
			row = slices.Insert(row, 2, strings.Join(slices.Concat(a.DependsOn, a.After), ", "))
		}
		if bounded {
			row = append(row, strings.Join(a.Paths, ", "))
		}
		t.Row(row...)
	}
	width, _ := terminal.Detect(w, p.Env.Getenv).Size()
	return t.Print(w, width)
}
