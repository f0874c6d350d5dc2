package plan

import (
	"cmp"
	"fmt"
	"strings"

	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/exit"
	stages "agentswarm/swarm/stage"
	"agentswarm/swarm/task"
)

// ModelNamed refuses agents whose kind has no model of its own, before anything
// starts. Such an agent needs a model, with its provider if there could be
// several. It returns a usage error for the first agent without.
func ModelNamed(p *cmdline.Place, pl *Plan) error {
	for _, call := range append(stageCalls(p, pl), pl.Calls...) {
		spec := pl.Config.Agents[call.Agent]
		if spec == nil {
			continue
		}
		kind, known := cmdline.Kinds(p.Env).WithProviders(pl.Config.Providers).Find(spec.Kind)
		if !known || kind.Unnamed == nil {
			continue
		}
		around := cmdline.NewMachine(p.Env).SurroundingsOf(spec)
		if model := cmp.Or(call.Model, spec.Model); model != "" {
			if strings.Contains(model, "/") || kind.Login != nil && kind.Login(around).Provider != "" {
				continue // whom it is asked of is known
			}
			return &exit.UsageError{
				Text:   fmt.Sprintf("agent %s: model %s: it names no provider", call.Agent, model),
				Advice: "put that before it: PROVIDER/" + model + "; swarm models lists the models",
			}
		}
		if hint := kind.Unnamed(around); hint != "" {
			return &exit.UsageError{Text: fmt.Sprintf("agent %s: no model is named", call.Agent), Advice: hint}
		}
	}
	return nil
}

// stageCalls are calls as --stages makes them, as far as their models go. Other
// scripts have none here, since their calls may name any model. A call that
// cannot get a model is reported when it is made.
func stageCalls(p *cmdline.Place, pl *Plan) (calls []*task.Call) {
	if pl.Script == nil || pl.Script.Name != stagesName {
		return nil
	}
	for _, part := range stages.Parts() {
		call := &task.Call{
			Input: &task.TypedAgentInput{Prompt: "p", Role: part.Role}, Agent: pl.Script.Agent,
			Stage: &task.Stage{Name: part.Name},
		}
		if pl.Script.Options != nil {
			call.Options = *pl.Script.Options
		}
		call.ReadOnly = call.ReadOnly || part.Reads
		if _, err := engine.Assign(pl.Config, cmdline.Kinds(p.Env).ByName(), engine.AssignRequest{Call: call}); err == nil {
			calls = append(calls, call)
		}
	}
	return calls
}
