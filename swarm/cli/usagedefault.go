package cli

import (
	"cmp"
	"context"
	"slices"

	"agentswarm/roles"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/ledger"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// defaultModel is the model of the role default: the one that it had in the run,
// else the one that the run recorded for it, else the one that is configured for
// the default agent; empty where nobody says.
func (p *place) defaultModel(ctx context.Context, recorded engine.Config, v *store.View, whole []ledger.Entry) string {
	unnamed := slices.DeleteFunc(slices.Clone(whole), func(e ledger.Entry) bool { return namedModel(recorded, v, e.Agent) })
	if model := ledger.Default(unnamed); model != "" {
		return model
	}
	if model := commonModel(recorded, nil); model != (roles.Spec{}) {
		model.Effort = "" // it costs the same
		return model.String()
	}
	conf, err := p.config(ctx, "HEAD")
	if err != nil {
		return ""
	}
	a, err := conf.Agent("")
	if err != nil {
		return ""
	}
	return a.Model
}

// commonModel is what an agent without a role is told where nobody named a model
// for it alone; empty for none.
func commonModel(recorded engine.Config, call *task.Call) roles.Spec {
	var own, common roles.Spec
	if call != nil && recorded.Agents[call.Agent] != nil {
		own, _ = roles.ParseSpec(recorded.Agents[call.Agent].Model)
	}
	if recorded.Roles != nil {
		role, _ := recorded.Roles.Table.Of(roles.Default)
		common, own = role.Spec, cmp.Or(recorded.Roles.Model, own)
	}
	return cmp.Or(own, common)
}

// namedModel reports whether an agent's model was named for it alone: by its
// call, its type or --agent-model. That says nothing of the role default. A
// conversation that goes on is told as it began.
func namedModel(recorded engine.Config, v *store.View, id task.ID) bool {
	a := v.Agent(id)
	for range len(v.Agents) { // as long as a chain can be
		fork, forked := forkOf(a)
		if !forked || a.Call.Model != "" {
			break
		}
		a = v.Agent(fork.Parent)
	}
	if a == nil || a.Call.Model == "" {
		return false
	}
	common := commonModel(recorded, a.Call)
	// Each kind is told it in its own words.
	common.Effort = ""
	return common != (roles.Spec{}) && a.Call.Model != common.Model && a.Call.Model != common.String()
}

func forkOf(a *store.Agent) (fork *task.ForkAgentInput, forked bool) {
	if a != nil {
		fork, forked = a.Call.Input.(*task.ForkAgentInput)
	}
	return fork, forked
}
