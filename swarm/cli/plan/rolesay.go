package plan

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"agentswarm/internal/termtext"
	"agentswarm/roles"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/nearest"
	"agentswarm/swarm/reviewer"
	"agentswarm/swarm/task"
)

// SayRoutes reports once the agents of a run that go to a role without being
// named for it. It also reports the model that reviews the run's patches.
func SayRoutes(p *cmdline.Place, pl *Plan) {
	printRouted(p, pl)
	o, kinds := pl.Config.Roles, cmdline.Kinds(p.Env).ByName()
	if o == nil || len(o.Table)+len(o.Models) == 0 {
		return
	}
	var by []string
	for _, call := range reviewer.CallsOf(pl.Config, kinds, pl.Calls) {
		spec := engine.SpecOf(pl.Config, call)
		if shown := strings.TrimSpace(spec.Name + " " + spec.Model); !slices.Contains(by, shown) {
			by = append(by, shown)
		}
	}
	if len(by) > 0 {
		// On a line of its own: it is of that role by name, and --route off does not
		// leave it.
		fmt.Fprintf(p.Env.Stderr, "reviews: by %s (%s)\n", reviewer.Role, termtext.Line(termtext.List(by, 3)))
	}
}

// printRouted reports the agents that go to a role that no flag or task named.
// The calls of a script are not known, but those of stages are: their planner
// plans, and none of the others counts as an explorer.
func printRouted(p *cmdline.Place, pl *Plan) {
	o := pl.Config.Roles
	if o == nil || !o.Route || len(o.Table)+len(o.Models) == 0 {
		return
	}
	var parts []string
	if pl.Script != nil {
		for _, rule := range o.Rules() {
			if pl.Script.Name == stagesName && rule.Role == roles.Smol {
				continue
			}
			parts = append(parts, rule.What+" to "+roleShown(o.Table, rule.Role))
		}
	} else {
		parts = routed(o.Table, pl.Assigned.Found())
	}
	slow := pl.Script != nil && o.Routes()
	for _, call := range pl.Calls {
		slow = slow || call.Slow != nil
	}
	if _, there := o.Table[roles.Slow]; there && slow {
		parts = append(parts, "what fails twice to "+roleShown(o.Table, roles.Slow))
	}
	if o.Subjects() {
		parts = append(parts, "subjects of commits to "+namerShown(o))
	}
	if len(parts) > 0 {
		fmt.Fprintf(p.Env.Stderr, "routing: %s; --route off leaves it\n", termtext.Line(strings.Join(parts, ", ")))
	}
}

// roleOf is the role of a call; empty for default.
func roleOf(call *task.Call) string {
	if input, ok := call.Input.(*task.TypedAgentInput); ok {
		return input.Role
	}
	return ""
}

// routed are the calls that were routed, by where and why, in their order.
func routed(table roles.Table, found []*roles.Resolved) (parts []string) {
	type way struct{ role, why string }
	var order []way
	counts := map[way]int{}
	for _, f := range found {
		w := way{f.Role, f.Routed}
		if f.Routed == "" {
			continue
		}
		if counts[w]++; counts[w] == 1 {
			order = append(order, w)
		}
	}
	for _, w := range order {
		parts = append(parts, fmt.Sprintf("%s (%s) to %s", termtext.Count(counts[w], "agent", "agents"), w.why, roleShown(table, w.role)))
	}
	return parts
}

// roleShown is a role with its resolved model.
func roleShown(table roles.Table, name string) string {
	role := table[name]
	of := strings.TrimSpace(role.Spec.String() + " " + role.Kind)
	if of == "" {
		return name
	}
	return name + " (" + of + ")"
}

// namerShown is the role commit with its resolved model in a run.
func namerShown(o *roles.Orders) string {
	spec, named := o.Models[roles.Commit]
	if !named {
		spec = o.Naming().Model
	}
	if spec == (roles.Spec{}) {
		return roleShown(o.Table, roles.Commit)
	}
	return roles.Commit + " (" + spec.String() + ")"
}

// SayUnused warns of flags that decided nothing in a run.
func SayUnused(w io.Writer, o *roles.Orders, used []string) {
	if o == nil {
		return
	}
	for _, name := range o.Unused(used) {
		var text string
		switch name {
		case roles.NamedModel:
			text = "--model " + o.Model.String() + ": every agent of the run has a model of its own"
		case roles.NamedRole:
			text = "--role " + o.Role + ": every agent of the run has a role of its own"
		default:
			text = "--agent-model " + name + ": " + whyUnused(o, name)
		}
		fmt.Fprintln(w, "not used: "+termtext.Line(text))
	}
	if _, there := o.Table[o.Role]; o.Role != "" && o.Role != roles.Default && !there && slices.Contains(used, roles.NamedRole) {
		fmt.Fprintf(w, "role %s: not configured, so it uses the model of default\n", termtext.Line(o.Role))
	}
}

// whyUnused explains the likely mistake in an unused name.
func whyUnused(o *roles.Orders, name string) string {
	known := append(o.Table.Names(), "planner", "implementer", "reviewer")
	if near := nearest.Name(name, known); near != "" && !slices.Contains(known, name) {
		return fmt.Sprintf("no stage, type or role of the run is called so; did you mean %s?", near)
	}
	return "it decides the model of no agent of the run"
}
