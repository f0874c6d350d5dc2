package cli

import (
	"fmt"
	"strings"

	"agentswarm/swarm/task"
)

// planObject is swarm.plan/1, described in docs/json.md.
type planObject struct {
	Schema    string          `json:"schema"`
	Base      string          `json:"base"`
	BaseKind  string          `json:"base_kind"`
	Jobs      int             `json:"jobs"`
	MaxAgents int             `json:"max_agents"`
	Setup     string          `json:"setup,omitempty"`
	Verify    string          `json:"verify,omitempty"`
	Into      string          `json:"into,omitempty"`
	Untrusted []string        `json:"untrusted,omitempty"`
	Agents    []plannedObject `json:"agents"`
}

type plannedObject struct {
	ID      string   `json:"id"`
	Label   string   `json:"label,omitempty"`
	Item    string   `json:"item,omitempty"`
	Agent   string   `json:"agent,omitempty"`
	Command []string `json:"command,omitempty"`
	Prompt  string   `json:"prompt,omitempty"`
}

// printPlan tells what a run would do.
func (p *place) printPlan(pl *plan, asJSON bool) error {
	o := planObject{
		Schema: "swarm.plan/1", Base: pl.base.Commit, BaseKind: string(pl.base.Kind),
		Jobs: pl.config.Jobs, MaxAgents: pl.config.MaxAgents, Into: pl.into,
		Setup: pl.config.Setup, Verify: pl.config.Verify,
	}
	for _, item := range pl.needs {
		o.Untrusted = append(o.Untrusted, item.Key)
	}
	for i, call := range pl.calls {
		o.Agents = append(o.Agents, plannedObject{
			ID: string(task.AgentID(i + 1)), Label: call.Label, Item: call.Item,
			Agent: call.Agent, Command: call.Command, Prompt: task.Prompt(call.Input),
		})
	}
	if asJSON {
		return printJSON(p.env.Stdout, o)
	}
	w := p.env.Stdout
	p.sayBase(pl)
	fmt.Fprintf(w, "%s on base %s, %d at once; nothing was started\n",
		Count(len(o.Agents), "agent", "agents"), git10(o.Base), min(o.Jobs, len(o.Agents)))
	for _, line := range []struct{ what, text string }{
		{"setup", o.Setup}, {"verify", o.Verify}, {"merge into", o.Into},
		{"not approved yet", strings.Join(o.Untrusted, ", ")},
	} {
		if line.text != "" {
			fmt.Fprintf(w, "%s: %s\n", line.what, Printable(line.text))
		}
	}
	t := Table{Columns: []Column{{Title: "AGENT"}, {Title: "ITEM"}, {Title: "DOES", Flex: true}}}
	for _, a := range o.Agents {
		does := a.Prompt
		if len(a.Command) > 0 {
			does = strings.Join(a.Command, " ")
		} else if a.Agent != "" {
			does = a.Agent + ": " + does
		}
		t.Row(a.ID, a.Item, does)
	}
	width, _ := detect(w, p.env.Getenv).Size()
	return t.Print(w, width)
}
