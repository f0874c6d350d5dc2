package inspect

import (
	"context"
	"slices"

	"agentswarm/roles"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/ledger"
	"agentswarm/swarm/spending"
	"agentswarm/swarm/store"
)

// defaultModel is the model of the role default: its model in the run, else its
// recorded model, else the model configured for the default agent; empty if
// there is none.
func defaultModel(ctx context.Context, p *cmdline.Place, recorded engine.Config, v *store.View, whole []ledger.Entry) string {
	unnamed := slices.DeleteFunc(slices.Clone(whole), func(e ledger.Entry) bool { return spending.HasOwnModel(recorded, v, e.Agent) })
	if model := ledger.Default(unnamed); model != "" {
		return model
	}
	if model := spending.CommonModel(recorded, nil); model != (roles.Spec{}) {
		model.Effort = "" // it costs the same
		return model.String()
	}
	conf, err := p.LoadConfig(ctx, "HEAD")
	if err != nil {
		return ""
	}
	a, err := conf.Agent("")
	if err != nil {
		return ""
	}
	return a.Model
}
