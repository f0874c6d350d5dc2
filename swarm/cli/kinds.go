package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"agentswarm/roles"
	"agentswarm/swarm/agent"
	"agentswarm/swarm/agent/command"
	"agentswarm/swarm/agent/kinds"
	"agentswarm/swarm/config"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/provider"
	"agentswarm/swarm/task"
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
	known = known.With(c.Prices)
	price := func(model string, u task.Usage) (float64, bool) {
		p, ok := known.Of(model)
		if !ok {
			return 0, false
		}
		return p.Cost(roles.Usage{Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite})
	}
	all := withProviders(env.kinds(), c.Providers).ByName()
	all[agent.KindCommand] = command.Kind()
	for name, k := range all {
		k.Adapter = agent.Priced(k.Adapter, price)
		all[name] = k
	}
	return all, nil
}

// found is what this machine has of the kinds of agents.
func (env Env) found() []kinds.Found {
	return withProviders(env.kinds(), env.providers()).Look(kinds.LookRequest{
		Surroundings: env.surroundings(),
		Path:         func(name string) string { return lookPath(env.Getenv("PATH"), name) },
		Self:         env.Self,
	})
}

// withProviders are kinds of which the built-in agent asks more providers.
func withProviders(all kinds.List, more map[string]provider.Provider) kinds.List {
	if len(more) == 0 {
		return all
	}
	all = slices.Clone(all)
	for i := range all {
		if all[i].Name == agent.KindBuiltin {
			all[i].Login, all[i].Unnamed = command.Endpoints(more), command.Unnamed(more)
		}
	}
	return all
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
	source, err := config.ReadUser((&place{env: env}).lookup)
	if err != nil {
		return nil, refused(err)
	}
	conf, err := config.Load(source)
	return conf, refused(err)
}

// surroundings are what logins are looked for in.
func (env Env) surroundings() agent.Surroundings {
	return agent.Surroundings{Getenv: env.Getenv, Home: env.Getenv("HOME"), Read: readSmall}
}

// lookPath is where a program is; empty where there is none. What a relative
// folder of the PATH holds depends on where one stands.
func lookPath(search, name string) string {
	for _, dir := range filepath.SplitList(search) {
		if file := filepath.Join(dir, name); filepath.IsAbs(dir) && executable(file) {
			return file
		}
	}
	return ""
}

// mostSetup bounds a file of an agent's own set-up, in bytes.
const mostSetup = 1 << 20

// readSmall reads a file that is one, and not a pipe that could make us wait.
func readSmall(name string) (_ []byte, err error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	stat, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !stat.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no file", name)
	case stat.Size() > mostSetup:
		return nil, fmt.Errorf("%s is longer than %s", name, Bytes(mostSetup))
	}
	return io.ReadAll(io.LimitReader(f, mostSetup))
}

// installCommands are the commands that install the kinds that are missing, a
// line each: the most common agents first, and the built-in one last.
func installCommands(all []kinds.Found) []string {
	rank := func(f kinds.Found) int {
		switch f.Name {
		case agent.KindClaude:
			return 0
		case agent.KindCodex:
			return 1
		case agent.KindBuiltin:
			return 3
		default:
			return 2
		}
	}
	var lines []string
	for _, f := range slices.SortedStableFunc(slices.Values(all), func(a, b kinds.Found) int { return rank(a) - rank(b) }) {
		switch {
		case f.Program == "" && f.Login.Name == "" && f.Login.Missing != "":
			lines = append(lines, f.Name+": "+f.Login.Missing)
		case f.Path == "":
			lines = append(lines, f.Name+": "+f.Install)
		}
	}
	return lines
}

// kindNames are the names of kinds.
func kindNames(all []kinds.Found) string {
	var names []string
	for _, f := range all {
		names = append(names, f.Name)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
