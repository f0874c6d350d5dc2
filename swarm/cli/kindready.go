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
	"agentswarm/swarm/task"
)

// anywayFlag starts agents that are expected to fail.
func anywayFlag() cli.Flag {
	return &cli.BoolFlag{Name: "anyway", Usage: "start agents that are not logged in, or too old"}
}

// readiness finds out whether the agents of calls can be started: by the version
// that their program says, and by their login. It asks about each agent once and
// may be used by several goroutines.
type readiness struct {
	place  *place
	agents map[string]*agent.Spec
	anyway bool // start them all the same

	mu    sync.Mutex // guards known
	known map[string]error
}

// newReadiness looks at agents by the names that calls have for them.
func (p *place) newReadiness(agents map[string]*agent.Spec, anyway bool) *readiness {
	return &readiness{place: p, agents: agents, anyway: anyway, known: map[string]error{}}
}

// kindsReady refuses, before anything starts, the agents of a plan that cannot be
// started. Calls of a script that name no agent count, too.
func (p *place) kindsReady(ctx context.Context, pl *plan, anyway bool) error {
	calls := append(p.stageCalls(pl), pl.calls...)
	if pl.script != nil {
		calls = append(calls, &task.Call{Agent: pl.script.Agent})
	}
	return p.newReadiness(pl.config.Agents, anyway).check(ctx, calls...)
}

// check refuses calls of an agent that is not logged in, or whose program is known
// not to work. It warns of a program that is older than those that were tried.
// Agents with a command of the user's own are not checked.
func (r *readiness) check(ctx context.Context, calls ...*task.Call) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, call := range calls {
		spec := r.agents[call.Agent]
		if spec == nil {
			continue
		}
		err, asked := r.known[call.Agent]
		if !asked {
			err = r.ask(ctx, spec)
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			r.known[call.Agent] = err
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checked is a check of calls that also refuses those whose agent cannot be
// started.
func (r *readiness) checked(ctx context.Context, check func(*task.Call) error) func(*task.Call) error {
	return func(call *task.Call) error {
		if err := check(call); err != nil {
			return err
		}
		err := r.check(ctx, call)
		if unfit := (*UsageError)(nil); errors.As(err, &unfit) {
			return fmt.Errorf("%s; %s", unfit.Text, unfit.Advice)
		}
		return err
	}
}

// ask finds out whether an agent can be started.
func (r *readiness) ask(ctx context.Context, spec *agent.Spec) error {
	env := r.place.env
	f, known := env.programOf(spec)
	if !known {
		return nil
	}
	if f.Kind.Login != nil {
		f.Login = f.Kind.Login(env.surroundingsOf(spec))
	}
	version, _ := env.version(ctx, f)
	if unfit := kinds.Check(f, version); unfit != nil && !r.anyway {
		return &UsageError{Text: unfit.Error(), Advice: unfit.Advice + "; --anyway starts it all the same"}
	}
	if kinds.Judge(version, f.Version) == kinds.Older {
		fmt.Fprintf(env.Stderr, "warning: your %s is %s: %s\n", f.Name, version, kinds.Advice(f.Kind, kinds.Older))
	}
	return nil
}

// programOf is the program of its kind that an agent starts; false if the agent
// starts another.
func (env Env) programOf(spec *agent.Spec) (kinds.Found, bool) {
	for _, f := range env.found() {
		if f.Name == spec.Kind && f.Program != "" && len(spec.Command) == 1 && spec.Command[0] == f.Path {
			return f, true
		}
	}
	return kinds.Found{}, false
}

// surroundingsOf are those in which an agent finds its login: its own variables
// come before those of the caller.
func (env Env) surroundingsOf(spec *agent.Spec) agent.Surroundings {
	around := env.surroundings()
	getenv := around.Getenv
	around.Getenv = func(name string) string {
		if value, own := spec.Env[name]; own {
			return value
		}
		return getenv(name)
	}
	return around
}

// versionOf asks the program of an agent for its version; empty where that is not
// the program of its kind, or names no version.
func (env Env) versionOf(ctx context.Context, spec *agent.Spec) string {
	f, known := env.programOf(spec)
	if !known {
		return ""
	}
	version, _ := env.version(ctx, f)
	return version
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
