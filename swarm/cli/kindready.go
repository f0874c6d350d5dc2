package cli

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/urfave/cli/v2"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/agent/kinds"
	"agentswarm/swarm/proc"
)

// anywayFlag starts agents that are expected to fail.
func anywayFlag() cli.Flag {
	return &cli.BoolFlag{Name: "anyway", Usage: "start agents although they are not logged in, or their program is known to be too old"}
}

// kindsReady refuses, before anything starts, agents of a kind that is not logged
// in or whose program is known not to work, and warns of one that is older than
// those that were tried. Agents with a command of the user's own are not checked.
func (p *place) kindsReady(ctx context.Context, pl *plan, anyway bool) error {
	used := map[string]*agent.Spec{}
	for _, call := range append(p.stageCalls(pl), pl.calls...) {
		if spec := pl.config.Agents[call.Agent]; spec != nil {
			used[spec.Kind] = spec
		}
	}
	for _, f := range p.env.found() {
		spec := used[f.Name]
		if spec == nil || f.Program == "" || len(spec.Command) != 1 || spec.Command[0] != f.Path {
			continue
		}
		if f.Kind.Login != nil {
			around := p.env.surroundings()
			getenv := around.Getenv
			around.Getenv = func(name string) string {
				if value, own := spec.Env[name]; own {
					return value
				}
				return getenv(name)
			}
			f.Login = f.Kind.Login(around)
		}
		version, _ := p.env.version(ctx, f)
		if unfit := kinds.Check(f, version); unfit != nil && !anyway {
			return &UsageError{Text: unfit.Error(), Advice: unfit.Advice + "; --anyway starts it all the same"}
		}
		if kinds.Judge(version, f.Version) == kinds.Older {
			fmt.Fprintf(p.env.Stderr, "warning: your %s is %s: %s\n", f.Name, version, kinds.Advice(f.Kind, kinds.Older))
		}
	}
	return nil
}

// version asks a program for its version; empty where it does not say one.
func (env Env) version(ctx context.Context, f kinds.Found) (string, error) {
	if f.Program == "" || !f.Here() || len(f.Version.Args) == 0 {
		return "", nil
	}
	ctx, cancel := context.WithTimeout(ctx, versionTime)
	defer cancel()
	said, err := proc.Query(ctx, proc.QueryRequest{
		Argv: append([]string{f.Path}, f.Version.Args...), Env: programEnviron(&f, env.Environ), Dir: "/",
	})
	version := kinds.Version(said)
	if version == "" && err != nil {
		return "", errors.New(unanswered(ctx, err))
	}
	return version, nil
}

// versions asks all programs that are here for theirs, at once.
func (env Env) versions(ctx context.Context) map[string]found {
	all := map[string]found{}
	var mu sync.Mutex // guards all
	var asking sync.WaitGroup
	for _, f := range env.found() {
		asking.Go(func() {
			one := found{Found: f}
			version, err := env.version(ctx, f)
			if one.version = version; err != nil {
				one.failed = ": " + err.Error()
			}
			mu.Lock()
			defer mu.Unlock()
			all[f.Name] = one
		})
	}
	asking.Wait()
	return all
}
