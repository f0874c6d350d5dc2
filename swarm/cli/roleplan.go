package cli

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"agentswarm/roles"
	"agentswarm/swarm/agent"
	"agentswarm/swarm/config"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/fanout"
	"agentswarm/swarm/task"
)

// roleFlags are the flags of run that say which models do the work.
func roleFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "role", Usage: "role `NAME` of agents whose tasks name none, such as smol"},
		&cli.StringSliceFlag{Name: "agent-model", Usage: "model of a stage, type or role: `NAME=MODEL`; may be given again"},
		&cli.StringFlag{Name: "route", Usage: "`MODE` auto uses the configured roles smol, plan, slow and commit for their work; off does not (default auto)"},
	}
}

// readOrders reads what the flags and the configuration say of models.
func readOrders(c *cli.Context, conf *config.Config) (*roles.Orders, error) {
	o := &roles.Orders{Table: conf.Roles(), Role: c.String("role"), Route: true, Providers: ownProviders(conf)}
	if c.IsSet("role") && !o.Table.Has(o.Role) || c.IsSet("role") && o.Role == "" {
		return nil, unknownRole("run: --role", &roles.UnknownError{Name: o.Role, Known: o.Table.Names()})
	}
	switch mode := cmp.Or(c.String("route"), "auto"); {
	case c.IsSet("route") && c.String("route") == "", mode != "auto" && mode != "off":
		return nil, usagef("run: --route %q: want auto or off", c.String("route"))
	default:
		o.Route = mode == "auto"
	}
	if c.IsSet("model") {
		spec, err := readSpec("--model", c.String("model"))
		if err != nil {
			return nil, err
		}
		o.Model = spec
	}
	for _, text := range c.StringSlice("agent-model") {
		name, model, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return nil, usagef("run: --agent-model %q: want NAME=MODEL, such as planner=openai/gpt-5", text)
		}
		spec, err := readSpec("--agent-model", model)
		if err != nil {
			return nil, err
		}
		if _, twice := o.Models[name]; twice {
			return nil, usagef("run: --agent-model %q: %s is given twice", text, name)
		}
		if o.Models == nil {
			o.Models = map[string]roles.Spec{}
		}
		o.Models[name] = spec
	}
	return o, nil
}

// readSpec reads a model that a flag names.
func readSpec(flag, text string) (roles.Spec, error) {
	if !agent.IsOption(text) {
		return roles.Spec{}, usagef("run: %s %q: want a word without spaces that does not begin with -", flag, text)
	}
	spec, err := roles.ParseSpec(text)
	if err != nil {
		return roles.Spec{}, usagef("run: %s: %v", flag, err)
	}
	return spec, nil
}

// unknownRole refuses a role that there is none of.
func unknownRole(where string, e *roles.UnknownError) error {
	text := fmt.Sprintf("%s: %v", where, e)
	if near := nearest(e.Name, e.Known); near != "" {
		return usagef("%s; did you mean %q?", text, near)
	}
	return &UsageError{Text: text, Advice: "there is " + strings.Join(e.Known, ", ")}
}

// ownProviders are the providers that the configuration adds to those that are
// known.
func ownProviders(conf *config.Config) []string { return slices.Sorted(maps.Keys(conf.Providers())) }

// planRoles finds what the models of calls are found by.
func (p *place) planRoles(c *cli.Context, pl *plan, conf *config.Config, use *config.Use) error {
	o, err := readOrders(c, conf)
	if err != nil {
		return err
	}
	if len(pl.workflow.Command) > 0 {
		if c.IsSet("role") || c.IsSet("agent-model") || c.IsSet("route") {
			return usagef("run: --role, --agent-model and --route are for agents; a command after -- has what stands in it")
		}
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(o.Table)) {
		if kind := o.Table[name].Kind; kind != "" {
			if _, err := conf.Agent(kind); err != nil {
				return refused(conf.WrongRole(name, "kind: "+err.Error()))
			}
		}
	}
	o.Agent, use.Roles, pl.config.Roles = c.String("agent"), true, o
	return nil
}

// announcePhases notes which phases the script announced.
func (pl *plan) announcePhases() {
	if pl.meta == nil || pl.config.Roles == nil {
		return
	}
	for _, phase := range pl.meta.Phases {
		pl.config.Roles.Phases = append(pl.config.Roles.Phases, phase.Title)
	}
}

// roleAgent is the agent of the role of calls that name none; empty where that
// has none.
func (pl *plan) roleAgent() string {
	o := pl.config.Roles
	if o == nil {
		return ""
	}
	role, _ := o.Table.Of(cmp.Or(o.Role, roles.Default))
	return role.Kind
}

// addRoleAgents records the agents of roles that can be started here. Whoever
// needs one of the others is told.
func (p *place) addRoleAgents(c *cli.Context, pl *plan, conf *config.Config) error {
	if pl.config.Roles == nil || c.IsSet("agent") {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(pl.config.Roles.Table)) {
		kind := pl.config.Roles.Table[name].Kind
		if kind == "" {
			continue
		}
		a, err := conf.Agent(kind)
		if err != nil {
			return err
		}
		if _, missing := p.specOf(a); missing != nil || p.hasVariables(a) != nil {
			continue
		}
		if err := p.addAgent(c, pl, a); err != nil {
			return err
		}
	}
	return nil
}

// checkRoles refuses roles whose models nobody could be asked for, of those
// that are configured and those that flags name. What the agent of a call does
// not reach is refused with the call.
func (p *place) checkRoles(pl *plan, conf *config.Config) error {
	o := pl.config.Roles
	if o == nil {
		return nil
	}
	o.Lacking = p.env.lacking(conf)
	known, reach := p.env.kinds().ByName(), newReach(p.env, conf, o)
	pl.known = reach
	for _, name := range slices.Sorted(maps.Keys(o.Table)) {
		role := o.Table[name]
		var agents []string
		switch {
		case role.Kind != "":
			agents = []string{role.Kind}
		case pl.script != nil: // which agents its calls name is not known, and all there are are recorded
			agents = slices.Sorted(maps.Keys(pl.config.Agents))
		}
		for _, spec := range append([]roles.Spec{role.Spec}, role.Fallbacks...) {
			if reason := cmp.Or(reach.unknown(spec), unreached(pl, known, agents, spec)); reason != "" {
				return refused(conf.WrongRole(name, reason))
			}
		}
	}
	if reason := reach.unknown(o.Model); reason != "" {
		return usagef("run: --model: %s", reason)
	}
	for _, name := range slices.Sorted(maps.Keys(o.Models)) {
		if reason := reach.unknown(o.Models[name]); reason != "" {
			return usagef("run: --agent-model %s: %s", name, reason)
		}
	}
	return nil
}

// wrongRoles are the roles whose agents or providers there are not, as a run
// would refuse them.
func wrongRoles(env Env, conf *config.Config) (wrong []*config.Error) {
	table := conf.Roles()
	o := &roles.Orders{Providers: ownProviders(conf), Lacking: env.lacking(conf)}
	known, reach := env.kinds().ByName(), newReach(env, conf, o)
	for _, name := range slices.Sorted(maps.Keys(table)) {
		role, reason := table[name], ""
		tell := func(roles.Spec) string { return "" }
		if role.Kind != "" {
			if a, err := conf.Agent(role.Kind); err != nil {
				reason = "kind: " + err.Error()
			} else if kind, driven := known[a.Kind.String()]; driven && a.Kind != config.KindCommand {
				tell = func(spec roles.Spec) string {
					if _, err := kind.Tell(spec, o); err != nil {
						return err.Error()
					}
					return ""
				}
			}
		}
		for _, spec := range append([]roles.Spec{role.Spec}, role.Fallbacks...) {
			reason = cmp.Or(reason, reach.unknown(spec), tell(spec))
		}
		if reason != "" {
			wrong = append(wrong, conf.WrongRole(name, reason))
		}
	}
	return wrong
}

// unreached says why none of some agents reaches a model; empty where one does,
// or none of them is known here.
func unreached(pl *plan, known map[string]agent.Kind, agents []string, spec roles.Spec) (reason string) {
	for _, name := range agents {
		a := pl.config.Agents[name]
		if a == nil || a.Kind == agent.KindCommand || spec == (roles.Spec{}) {
			continue
		}
		_, err := known[a.Kind].Tell(spec, pl.config.Roles)
		if err == nil {
			return ""
		}
		reason = err.Error()
	}
	return reason
}

// assigning gives calls what their roles say, and keeps what it found.
type assigning struct {
	config engine.Config
	kinds  map[string]agent.Kind
	found  []*roles.Resolved
	reach  *reach // nil: providers are not looked at
}

// call is for one call.
func (a *assigning) call(r engine.AssignRequest) (*roles.Resolved, error) {
	if spec := a.config.Agents[r.Call.Agent]; a.reach != nil && (spec == nil || spec.Kind != agent.KindCommand) {
		if err := a.reach.call(r.Call.Model, r.TypeModel); err != nil {
			return nil, err
		}
	}
	found, err := engine.Assign(a.config, a.kinds, r)
	if err == nil && found != nil {
		a.found = append(a.found, found)
	}
	return found, err
}

// script is what assigns the calls of a script; nil in runs of versions that
// had no roles.
func (a *assigning) script() func(engine.AssignRequest) (*roles.Resolved, error) {
	if a.config.Roles == nil {
		return nil
	}
	return a.call
}

// flags are those that decided anything.
func (a *assigning) flags() (names []string) {
	if namesCommits(a.config) {
		names = append(names, roles.Commit)
	}
	for _, f := range a.found {
		names = append(names, f.Used...)
	}
	return names
}

// assignCalls gives the calls of a workflow what their roles say.
func assignCalls(a *assigning, w fanout.Workflow, calls []*task.Call) error {
	for _, call := range calls {
		request := engine.AssignRequest{Call: call}
		var t *fanout.Task
		if len(w.Tasks) > 0 {
			t = &w.Tasks[call.Index-1]
			request.Named = t.Agent != ""
		}
		_, err := a.call(request)
		unknown, mistyped := errors.AsType[*roles.UnknownError](err)
		switch {
		case err == nil:
		case t != nil && mistyped:
			wrong := &fanout.TaskError{Source: w.Source, Line: t.Line, Field: "role", Reason: unknown.Error()}
			if near := nearest(unknown.Name, unknown.Known); near != "" {
				wrong.Reason += fmt.Sprintf("; did you mean %q?", near)
			} else {
				wrong.Tip = "there is " + strings.Join(unknown.Known, ", ")
			}
			return refused(wrong)
		case t != nil:
			return refused(&fanout.TaskError{Source: w.Source, Line: t.Line, Reason: err.Error()})
		case mistyped:
			return unknownRole("run", unknown)
		default:
			return usagef("run: %v", err)
		}
	}
	return nil
}
