package spending

import (
	"cmp"

	"agentswarm/roles"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// CommonModel returns the model of an agent without a role whose call names none; zero
// if no model is named. call may be nil.
func CommonModel(recorded engine.Config, call *task.Call) roles.Spec {
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

// HasOwnModel reports whether the model of an agent was named for it alone: by its call,
// its type or --agent-model. A fork has the model of its parent.
func HasOwnModel(recorded engine.Config, v *store.View, id task.ID) bool {
	a := v.Agent(id)
	for range len(v.Agents) { // no chain of forks is longer
		fork, forked := forkOf(a)
		if !forked || a.Call.Model != "" {
			break
		}
		a = v.Agent(fork.Parent)
	}
	if a == nil || a.Call.Model == "" {
		return false
	}
	common := CommonModel(recorded, a.Call)
	common.Effort = "" // each kind of agent has its own form of it
	return common != (roles.Spec{}) && a.Call.Model != common.Model && a.Call.Model != common.String()
}

func forkOf(a *store.Agent) (fork *task.ForkAgentInput, forked bool) {
	if a != nil {
		fork, forked = a.Call.Input.(*task.ForkAgentInput)
	}
	return fork, forked
}
