package cmdline

import (
	"fmt"

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

// AvailableMemory is the memory that new programs can have.
func AvailableMemory(e Env) limit.Room {
	if e.Machine != nil {
		return e.Machine().Memory
	}
	return limit.ReadMemory()
}

// MachineOf is the room for new programs.
func MachineOf(e Env) limit.Machine {
	if e.Machine != nil {
		return e.Machine()
	}
	return limit.ReadMachine()
}

// DefaultJobs is the number of agents that run at once by default.
func DefaultJobs(e Env) int { return MachineOf(e).Jobs(limit.CommandFootprint) }

// BoundJobs lowers the number of agents at once to the number for which there
// are processes, and then returns a line about it. It refuses a run of which
// not even one agent fits.
func BoundJobs(e Env, jobs int) (most int, note string, err error) {
	m := MachineOf(e)
	if err := m.Check(); err != nil {
		return 0, "", Refused(err)
	}
	if most = m.MostJobs(); jobs <= most {
		return jobs, "", nil
	}
	return most, fmt.Sprintf("-j %d: %d at once, as %s leaves %d of %d processes and threads, and an agent needs about %d",
		jobs, most, m.Processes.By, m.Processes.Free, m.Processes.Limit, limit.AgentProcesses), nil
}

// Personal refuses agents a decision. It reads a variable that an agent can change;
// the control socket of a run checks more.
func Personal(env Env, what string) error {
	if env.Getenv("SWARM_AGENT") == "" {
		return nil
	}
	return &AgentError{What: what, Why: policy.InsideAgent}
}
