package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/agent/kinds"
	"agentswarm/swarm/box"
	"agentswarm/swarm/config"
	"agentswarm/swarm/control"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/proc"
	"agentswarm/swarm/provider"
	"agentswarm/swarm/store"
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
	place     *place
	config    engine.Config
	isolation isolation
	anyway    bool // start them all the same

	mu    sync.Mutex // guards known
	known map[string]error
}

// newReadiness looks at the agents of a configuration.
func (p *place) newReadiness(c engine.Config, i isolation, anyway bool) *readiness {
	return &readiness{place: p, config: c, isolation: i, anyway: anyway, known: map[string]error{}}
}

// kindsReady refuses, before anything starts, the agents of a plan that cannot be
// started. Calls of a script that name no agent count, too.
func (p *place) kindsReady(ctx context.Context, pl *plan, anyway bool) error {
	calls := append(p.stageCalls(pl), pl.calls...)
	if pl.script != nil {
		calls = append(calls, &task.Call{Agent: pl.script.Agent})
	}
	return p.newReadiness(pl.config, pl.isolation, anyway).check(ctx, calls...)
}

// check refuses calls of an agent that is not logged in, whose program is known
// not to work, or whose program the sandbox hides. It warns of a program that is
// older than those that were tried. Of agents with a command of the user's own only
// the place of the program is checked.
func (r *readiness) check(ctx context.Context, calls ...*task.Call) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, call := range calls {
		spec := r.config.Agents[call.Agent]
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
		if call.Input == nil {
			continue // calls of a script have models of their own
		}
		if err := r.keyed(engine.SpecOf(r.config, call)); err != nil {
			return err
		}
	}
	return nil
}

// keyed refuses a model of the built-in agent whose provider needs a key that is
// not set. Its login depends on the model, unlike that of a program.
func (r *readiness) keyed(spec *agent.Spec) error {
	if spec.Kind != agent.KindBuiltin || r.anyway {
		return nil
	}
	lacks := provider.Lacking(r.place.env.surroundingsOf(spec).Getenv, r.config.Providers, spec.Model)
	if lacks == "" {
		return nil
	}
	return &UsageError{
		Text:   "agent " + spec.Name + ": it is not logged in for " + spec.Model,
		Advice: "set $" + lacks + "; --anyway starts it all the same",
	}
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
	if err := r.reachable(ctx, spec); err != nil {
		return err
	}
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

// reachable refuses an agent whose program lies in a folder that its sandbox hides.
func (r *readiness) reachable(ctx context.Context, spec *agent.Spec) error {
	p := r.place
	if r.anyway || r.isolation.open() || len(spec.Command) == 0 {
		return nil
	}
	program := spec.Command[0]
	if !strings.Contains(program, "/") {
		program = lookPath(p.searchPath(spec.Env), program)
	}
	cover, dir := p.env.coverOf(covering{p.root, r.isolation.Hide, spec.Write}, program)
	if cover != box.Masked {
		return nil
	}
	if got, err := p.isolate(ctx, r.isolation); err != nil || got.rung == box.None {
		return err
	}
	return &UsageError{
		Text:   fmt.Sprintf("agent %s: %s lies in %s, which the sandbox hides", spec.Name, program, dir),
		Advice: "install it elsewhere; --anyway starts it all the same",
	}
}

// covering is what decides which folders a sandbox hides.
type covering struct {
	state string   // the state folder of all repositories
	hide  []string // what the user hides in addition
	write []string // folders that the agent itself may write to, such as that of its login
}

// coverOf tells how a sandbox covers a program, and which folder is covered.
func (env Env) coverOf(c covering, program string) (box.Cover, string) {
	in := box.Place{
		Home: env.Getenv("HOME"), State: c.state, Hide: c.hide, Sockets: control.Folders(env.Getenv), Getenv: env.Getenv,
	}
	for _, dir := range c.write {
		in.Pieces = append(in.Pieces, box.Piece{At: dir, From: dir, Write: true})
	}
	return box.CoverOf(in, program)
}

// coverBy tells how a sandbox with a configuration covers a program, for a person;
// empty where agents see it.
func (env Env) coverBy(conf *config.Config, program string) string {
	root, err := store.Root(env.Getenv)
	if program == "" || err != nil {
		return "" // a run says what is wrong with the state folder
	}
	var hide []string
	for _, path := range conf.Hide {
		hide = append(hide, path.Text)
	}
	cover, dir := env.coverOf(covering{state: root, hide: hide}, program)
	return coverText(cover, program, dir)
}

// coverText is how a sandbox covers a program, for a person; empty where it is seen.
func coverText(cover box.Cover, program, dir string) string {
	switch cover {
	case box.Mounted:
		return program + " lies in " + dir + ", which a sandbox hides; the program is mounted there, read-only"
	case box.Masked:
		return program + " lies in " + dir + ", which a sandbox hides: no agent in a sandbox can start it; install it elsewhere"
	default:
		return ""
	}
}
