package plan

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
	"agentswarm/swarm/assign"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/config"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/fanout"
	"agentswarm/swarm/models/catalog"
	"agentswarm/swarm/nearest"
)

// RoleFlags are the flags of run that say which models do the work.
func RoleFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "role", Usage: "role `NAME` of agents whose tasks name none, such as smol"},
		&cli.StringSliceFlag{Name: "agent-model", Usage: "model of a stage, type or role: `NAME=MODEL`; may be given again"},
		&cli.StringFlag{Name: "route", Usage: "`MODE` auto uses the configured roles smol, plan, slow and commit for their work; off does not (default auto)"},
	}
}

// readOrders reads the settings for models of the flags and the configuration.
func readOrders(c *cli.Context, conf *config.Config) (*roles.Orders, error) {
	o := &roles.Orders{Table: conf.Roles(), Role: c.String("role"), Route: true, Providers: catalog.Configured(conf)}
	if c.IsSet("role") && !o.Table.Has(o.Role) || c.IsSet("role") && o.Role == "" {
		return nil, UnknownRole("run: --role", &roles.UnknownError{Name: o.Role, Known: o.Table.Names()})
	}
	switch mode := cmp.Or(c.String("route"), "auto"); {
	case c.IsSet("route") && c.String("route") == "", mode != "auto" && mode != "off":
		return nil, exit.Usagef("run: --route %q: want auto or off", c.String("route"))
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
			return nil, exit.Usagef("run: --agent-model %q: want NAME=MODEL, such as planner=openai/gpt-5", text)
		}
		spec, err := readSpec("--agent-model", model)
		if err != nil {
			return nil, err
		}
		if _, twice := o.Models[name]; twice {
			return nil, exit.Usagef("run: --agent-model %q: %s is given twice", text, name)
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
		return roles.Spec{}, exit.Usagef("run: %s %q: want a word without spaces that does not begin with -", flag, text)
	}
	spec, err := roles.ParseSpec(text)
	if err != nil {
		return roles.Spec{}, exit.Usagef("run: %s: %v", flag, err)
	}
	return spec, nil
}

// UnknownRole refuses a role that there is none of.
func UnknownRole(where string, e *roles.UnknownError) error {
	text := fmt.Sprintf("%s: %v", where, e)
	if near := nearest.Name(e.Name, e.Known); near != "" {
		return exit.Usagef("%s; did you mean %q?", text, near)
	}
	return &exit.UsageError{Text: text, Advice: "there is " + strings.Join(e.Known, ", ")}
}

// planRoles finds the orders that resolve the models of calls.
func planRoles(p *cmdline.Place, c *cli.Context, pl *Plan, conf *config.Config, use *config.Use) error {
	o, err := readOrders(c, conf)
	if err != nil {
		return err
	}
	if len(pl.workflow.Command) > 0 {
		if c.IsSet("role") || c.IsSet("agent-model") || c.IsSet("route") {
			return exit.Usagef("run: --role, --agent-model and --route are for agents; a command after -- has what stands in it")
		}
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(o.Table)) {
		if kind := o.Table[name].Kind; kind != "" {
			if _, err := conf.Agent(kind); err != nil {
				return cmdline.Refused(conf.WrongRole(name, "kind: "+err.Error()))
			}
		}
	}
	o.Agent, use.Roles, pl.Config.Roles = c.String("agent"), true, o
	return nil
}

// announcePhases notes which phases the script announced.
func (pl *Plan) announcePhases() {
	if pl.meta == nil || pl.Config.Roles == nil {
		return
	}
	for _, phase := range pl.meta.Phases {
		pl.Config.Roles.Phases = append(pl.Config.Roles.Phases, phase.Title)
	}
}

// roleAgent is the agent of the role of calls that name none; empty where that
// has none.
func (pl *Plan) roleAgent() string {
	o := pl.Config.Roles
	if o == nil {
		return ""
	}
	role, _ := o.Table.Of(cmp.Or(o.Role, roles.Default))
	return role.Kind
}

// addRoleAgents records the agents of roles that can be started here. A call
// that needs another of them gets an error.
func addRoleAgents(p *cmdline.Place, c *cli.Context, pl *Plan, conf *config.Config) error {
	if pl.Config.Roles == nil || c.IsSet("agent") {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(pl.Config.Roles.Table)) {
		kind := pl.Config.Roles.Table[name].Kind
		if kind == "" {
			continue
		}
		a, err := conf.Agent(kind)
		if err != nil {
			return err
		}
		if _, missing := SpecOf(p, a); missing != nil || hasVariables(p, a) != nil {
			continue
		}
		if err := addAgent(p, c, pl, a); err != nil {
			return err
		}
	}
	return nil
}

// checkRoles refuses configured or named roles whose models no agent could ask.
// A model that the agent of a call does not reach is refused with the call.
func checkRoles(p *cmdline.Place, pl *Plan, conf *config.Config) error {
	o := pl.Config.Roles
	if o == nil {
		return nil
	}
	pl.known = KnownProviders(p.Env, conf, o.Providers)
	o.Lacking = pl.known.Lacking()
	request := assign.RolesRequest{Conf: conf, Kinds: cmdline.Kinds(p.Env).ByName(), Unknown: pl.known.Unknown, Orders: o}
	if err := assign.CheckRoles(request, pl.Config, pl.Script != nil); err != nil {
		return cmdline.Refused(err)
	}
	if reason := pl.known.Unknown(o.Model); reason != "" {
		return exit.Usagef("run: --model: %s", reason)
	}
	for _, name := range slices.Sorted(maps.Keys(o.Models)) {
		if reason := pl.known.Unknown(o.Models[name]); reason != "" {
			return exit.Usagef("run: --agent-model %s: %s", name, reason)
		}
	}
	return nil
}

// WrongRoles are the roles whose agents or providers there are not, as a run
// would refuse them.
func WrongRoles(env cmdline.Env, conf *config.Config) []*config.Error {
	configured := catalog.Configured(conf)
	providers := KnownProviders(env, conf, configured)
	return assign.WrongRoles(assign.RolesRequest{
		Conf: conf, Kinds: cmdline.Kinds(env).ByName(), Unknown: providers.Unknown,
		Orders: &roles.Orders{Providers: configured, Lacking: providers.Lacking()},
	})
}

// RefusedRole refuses a call that cannot have the settings of its role.
func RefusedRole(err error) error {
	if of := (*fanout.TaskError)(nil); errors.As(err, &of) {
		return cmdline.Refused(err)
	}
	if unknown, mistyped := errors.AsType[*roles.UnknownError](err); mistyped {
		return UnknownRole("run", unknown)
	}
	return exit.Usagef("run: %v", err)
}
