package cmdline

import (
	"agentswarm/roles"
	"agentswarm/swarm/agent"
	"agentswarm/swarm/agent/kinds"
	"agentswarm/swarm/config"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/limit"
	"agentswarm/swarm/policy"
	"agentswarm/swarm/provider"
)

// Kinds are the kinds of agents that this command knows.
func Kinds(env Env) kinds.List {
	if env.Kinds != nil {
		return env.Kinds
	}
	return kinds.All()
}

// NewMachine makes the finder of the programs and logins of agents on this computer.
func NewMachine(env Env) *kinds.Machine {
	return &kinds.Machine{Kinds: Kinds(env), Getenv: env.Getenv, Environ: env.Environ, Self: env.Self, Providers: func() map[string]provider.Provider { return providersOf(env) }}
}

// providersOf are those that the user configured; nil if the file has an error, which
// the commands that read all of it report.
func providersOf(env Env) map[string]provider.Provider {
	conf, err := UserConfig(env)
	if err != nil {
		return nil
	}
	return conf.Providers()
}

// UserConfig reads the user's own configuration. Its error is a refusal.
func UserConfig(env Env) (*config.Config, error) {
	source, err := config.ReadUser(config.Lookup(env.Getenv))
	if err != nil {
		return nil, Refused(err)
	}
	conf, err := config.Load(source)
	return conf, Refused(err)
}

// PricedKinds returns the kinds of agents of a run by name, commands among them, with its
// providers and prices. They compute the cost of agents that report none.
func PricedKinds(env Env, c engine.Config) (map[string]agent.Kind, error) {
	known, err := roles.Load()
	if err != nil {
		return nil, err
	}
	return Kinds(env).WithProviders(c.Providers).Priced(known.With(c.Prices)), nil
}

// AvailableMemory is the memory in bytes that new programs can have.
func AvailableMemory(e Env) int64 {
	if e.Available != nil {
		return e.Available()
	}
	return limit.MemAvailable()
}

// DefaultJobs is the number of agents that run at once by default.
func DefaultJobs(e Env) int { return limit.Jobs(AvailableMemory(e), limit.CommandFootprint) }

// Personal refuses agents a decision. It reads a variable that an agent can change;
// the control socket of a run checks more.
func Personal(env Env, what string) error {
	if env.Getenv("SWARM_AGENT") == "" {
		return nil
	}
	return &AgentError{What: what, Why: policy.InsideAgent}
}
