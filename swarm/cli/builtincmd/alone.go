package builtincmd

import (
	"cmp"
	"fmt"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/termtext"
	"agentswarm/roles"
	"agentswarm/swarm/agent"
	builtinagent "agentswarm/swarm/builtin"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/configcmd"
	"agentswarm/swarm/cli/plan"
	"agentswarm/swarm/cli/runcmd"
	"agentswarm/swarm/config"
	"agentswarm/swarm/environ"
	"agentswarm/swarm/exit"
	"agentswarm/variants"
	"agentswarm/worktree/git"
)

// standalone lays the configured models and variants over the options of the
// agent, as a run does for its agents. In a run the run has done so.
type standalone struct {
	c    *cli.Context
	env  cmdline.Env
	conf *config.Config // nil for an agent of a run
	// paid is the configuration that chooses models. It is conf, or own if the
	// user has not approved the repository's choice of models.
	paid *config.Config
	own  *config.Config // the user's own

	place *cmdline.Place // the repository, or a place without a repository
	base  git.Hash
}

// newStandalone reads the configuration for an agent that belongs to no run.
func newStandalone(c *cli.Context, env cmdline.Env) (*standalone, error) {
	a := &standalone{c: c, env: env}
	if env.Getenv("SWARM_RUN") != "" {
		if c.IsSet("role") {
			return nil, exit.Usagef("builtin: --role: the model of an agent of a run is said by the run")
		}
		return a, nil
	}
	var err error
	if a.paid, err = cmdline.UserConfig(env); err != nil {
		return nil, err
	}
	a.own = a.paid
	if a.place, a.base, err = configcmd.PlaceAnywhere(c, env); err != nil { // it needs no git
		a.place, a.base = cmdline.Without(env), ""
	}
	if a.conf = a.paid; a.place.Repo == nil {
		return a, nil
	}
	if a.conf, err = a.place.LoadConfig(c.Context, "HEAD"); err != nil {
		return nil, err
	}
	return a, a.trust()
}

// trust takes the repository's choice of models if the user has approved it.
func (a *standalone) trust() error {
	store := a.place.Trust()
	pending, err := store.Pending(a.conf.Needs(config.Use{Roles: true, Agents: []string{agent.KindBuiltin}}))
	switch {
	case err != nil:
		return err
	case len(pending) == 0:
		a.paid = a.conf
	case a.c.String("model") == "":
		fmt.Fprintf(a.env.Stderr, "%s: what this repository says of models is not approved, and does not count: %s\n", cmdline.Program, termtext.Line(runcmd.ItemKeys(pending)))
	}
	return nil
}

// environ selects the variables that the model's commands get. In a run the
// start of the agent has selected them.
func (a *standalone) environ(all []string) ([]string, error) {
	if a.own == nil {
		return all, nil
	}
	own, err := a.own.Over(config.Lookup(a.env.Getenv))
	if err != nil {
		return nil, cmdline.Refused(err)
	}
	passed, _ := environ.Rules{Pass: own.PassEnvPatterns()}.Select(all)
	return passed, nil
}

// model finds the model: that of the flag, of a role that is named, of
// $SWARM_BUILTIN_MODEL or [agents.builtin], or of the default role.
func (a *standalone) model(o *builtinagent.Options) (roles.Spec, error) {
	var given, own roles.Spec
	for _, m := range []struct {
		text string
		to   *roles.Spec
	}{{a.c.String("model"), &given}, {cmp.Or(a.env.Getenv("SWARM_BUILTIN_MODEL"), a.configured()), &own}} {
		if m.text == "" {
			continue
		}
		spec, err := roles.ParseSpec(m.text)
		if err != nil {
			return spec, exit.Usagef("builtin: %v", err)
		}
		*m.to = spec
	}
	if a.conf == nil {
		return cmp.Or(given, own), nil
	}
	orders := &roles.Orders{Table: a.paid.Roles(), Role: a.c.String("role"), Model: given}
	if a.c.IsSet("role") && (orders.Role == "" || !orders.Table.Has(orders.Role)) {
		return given, plan.UnknownRole("builtin: --role", &roles.UnknownError{Name: orders.Role, Known: orders.Table.Names()})
	}
	found, err := orders.Resolve(roles.Asked{Own: own, Agent: agent.KindBuiltin})
	if err != nil {
		return given, err
	}
	if found.Kind != "" && found.Kind != agent.KindBuiltin {
		return given, exit.Usagef("builtin: --role %s: what is of that role goes to the agent %s", orders.Role, found.Kind)
	}
	if !a.c.IsSet("max-turns") {
		o.MaxTurns = found.Limits.Turns
	}
	if own != (roles.Spec{}) && a.c.String("model") == "" && found.Model != own {
		fmt.Fprintf(a.env.Stderr, "%s: the role %s has it ask %s\n", cmdline.Program, termtext.Line(orders.Role), termtext.Line(found.Model.String()))
	}
	return found.Model, nil
}

// configured is the model that the configuration gives the built-in agent.
func (a *standalone) configured() string {
	if a.conf == nil {
		return ""
	}
	known, err := a.paid.Agent(agent.KindBuiltin)
	if err != nil {
		return "" // a run reports this error
	}
	return known.Model
}

// variants are those that it may be told.
func (a *standalone) variants() ([]variants.Variant, error) {
	if a.conf == nil {
		return variants.Embedded()
	}
	return plan.RunVariants(a.c.Context, a.place, a.conf, a.base)
}
