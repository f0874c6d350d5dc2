package cli

import (
	"agentswarm/roles"
	"agentswarm/swarm/agent"
	"agentswarm/swarm/agent/kinds"
	"agentswarm/swarm/config"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/models/catalog"
	"agentswarm/swarm/provider"
	"agentswarm/swarm/store"
)

// kinds are the kinds of agents that this command knows.
func (env Env) kinds() kinds.List {
	if env.Kinds != nil {
		return env.Kinds
	}
	return kinds.All()
}

// driven are the kinds that can be driven, by name, commands among them, as a
// run was told. They price what agents use that report no cost.
func (env Env) driven(c engine.Config) (map[string]agent.Kind, error) {
	known, err := roles.Load()
	if err != nil {
		return nil, err
	}
	return env.kinds().WithProviders(c.Providers).Priced(known.With(c.Prices)), nil
}

// machine finds the programs and logins of agents here.
func (env Env) machine() *kinds.Machine {
	return &kinds.Machine{Kinds: env.kinds(), Getenv: env.Getenv, Environ: env.Environ, Self: env.Self, Providers: env.providers}
}

// found lists the kinds of agents that this machine has.
func (env Env) found() []kinds.Found { return env.machine().Found() }

// knownProviders are the names of providers that models may have: those that are
// configured, and those of the kinds and their programs here.
func (env Env) knownProviders(conf *config.Config, configured []string) *catalog.Providers {
	root, err := store.Root(env.Getenv)
	if err != nil {
		root = "" // a run says what is wrong with it
	}
	return catalog.NewProviders(catalog.ProvidersRequest{Machine: env.machine(), Config: conf, Root: root, Configured: configured})
}

// providers are those that the user configured. What is wrong with the file is
// told by whoever reads all of it.
func (env Env) providers() map[string]provider.Provider {
	conf, err := env.userConfig()
	if err != nil {
		return nil
	}
	return conf.Providers()
}

// userConfig is what the user's own file says.
func (env Env) userConfig() (*config.Config, error) {
	source, err := config.ReadUser(config.Lookup(env.Getenv))
	if err != nil {
		return nil, refused(err)
	}
	conf, err := config.Load(source)
	return conf, refused(err)
}
