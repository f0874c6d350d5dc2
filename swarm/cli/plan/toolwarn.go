package plan

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/agent"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/config"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/script"
	"agentswarm/swarm/task"
	"agentswarm/swarm/workflow"
	"agentswarm/swarm/workflow/library"
)

// PrintTools warns of the tools that a script spells out and its agents cannot be
// given.
func PrintTools(p *cmdline.Place, pl *Plan) {
	if pl.Script == nil {
		return
	}
	kinds := cmdline.Kinds(p.Env).ByName()
	lines := workflow.Warnings(workflow.WarnRequest{
		Types: pl.Script.Types, Uses: pl.uses, Agents: []string{pl.Script.Agent},
		Fit:   engine.Fits(pl.Config.Agents, kinds),
		Check: func(call *task.Call) error { return engine.CheckCall(pl.Config, kinds, call) },
	})
	for _, line := range lines {
		fmt.Fprintf(p.Env.Stderr, "warning: %s\n", termtext.Line(line))
	}
	if !p.Env.Dispatched { // whose standard error nobody reads: the lines of the run say it
		pl.Script.Warned = lines
	}
}

// VetTools checks the types of the checkout, and the tools that scripts spell out. A
// type that no run would take is the fault of each script.
func VetTools(ctx context.Context, p *cmdline.Place, all []library.Checked) ([]string, error) {
	var s library.Script
	if err := OpenLibrary(p).GatherTypes(&s); err != nil {
		if len(all) == 0 {
			return nil, err
		}
		for i := range all {
			if all[i].Fault == nil {
				all[i].Fault = err
			}
		}
		return nil, nil
	}
	var uses []script.Use
	for _, v := range all {
		uses = append(uses, v.Uses...)
	}
	brought := slices.ContainsFunc(slices.Collect(maps.Values(s.Types)), func(t workflow.Type) bool { return t.File != "" })
	if len(uses) == 0 && !brought {
		return nil, nil
	}
	conf, err := p.LoadConfig(ctx, "HEAD")
	if err != nil {
		return []string{"tools of types and calls are not checked: " + err.Error()}, nil
	}
	return toolWarnings(p, conf, s.Types, uses), nil
}

// toolWarnings are the warnings of all types of the checkout, and of the tools that
// scripts spell out, by the agents that a run may use.
func toolWarnings(p *cmdline.Place, conf *config.Config, types map[string]workflow.Type, uses []script.Use) []string {
	kinds := cmdline.Kinds(p.Env).ByName()
	specs := map[string]*agent.Spec{}
	for _, name := range append(conf.AgentNames(), agent.KindNames()...) {
		if a, err := conf.Agent(name); err == nil && specs[name] == nil {
			spec := kinds[a.Kind.String()].Spec
			spec.Name, spec.Kind, spec.Tools, spec.ReadOnly = a.Name, a.Kind.String(), a.Tools, a.ReadOnly
			specs[name] = &spec
		}
	}
	config := engine.Config{Agents: specs}
	return workflow.Warnings(workflow.WarnRequest{
		Types: types, Uses: uses, Agents: likelyAgents(p, conf), All: true, Fit: engine.Fits(specs, kinds),
		Check: func(call *task.Call) error {
			if specs[call.Agent] == nil {
				return nil // the run says that there is none
			}
			return engine.CheckCall(config, kinds, call)
		},
	})
}

// likelyAgents are the agents of calls without a name: the default agent, the
// only choice here, or else all that are configured or installed.
func likelyAgents(p *cmdline.Place, conf *config.Config) []string {
	if conf.DefaultAgent != "" {
		return []string{conf.DefaultAgent}
	}
	names := conf.AgentNames()
	if only, _, err := OnlyChoice(p, names); err == nil {
		return []string{only}
	}
	if len(names) > 0 {
		return names
	}
	for _, f := range FoundAgents(p.Env) {
		if f.Here() && f.Program != "" {
			names = append(names, f.Name)
		}
	}
	return names
}
