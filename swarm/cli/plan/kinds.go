package plan

import (
	"agentswarm/swarm/agent/kinds"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/config"
	"agentswarm/swarm/models/catalog"
	"agentswarm/swarm/store"
)

// FoundAgents lists the kinds of agents that this machine has.
func FoundAgents(env cmdline.Env) []kinds.Found { return cmdline.NewMachine(env).Found() }

// KnownProviders are the names of providers that models may have: those that are
// configured, and those of the kinds and their programs here.
func KnownProviders(env cmdline.Env, conf *config.Config, configured []string) *catalog.Providers {
	root, err := store.Root(env.Getenv)
	if err != nil {
		root = "" // a run reports its error
	}
	return catalog.NewProviders(catalog.ProvidersRequest{Machine: cmdline.NewMachine(env), Config: conf, Root: root, Configured: configured})
}
