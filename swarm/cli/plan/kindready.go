package plan

import (
	"context"
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/agent/kinds"
	"agentswarm/swarm/agent/readiness"
	"agentswarm/swarm/box"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/config"
	"agentswarm/swarm/control"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/isolation"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// AnywayFlag starts agents that are expected to fail.
func AnywayFlag() cli.Flag {
	return &cli.BoolFlag{Name: "anyway", Usage: "start agents that are not logged in, or too old"}
}

// NewReadiness checks whether the agents of a configuration can start.
func NewReadiness(p *cmdline.Place, c engine.Config, i isolation.Settings, anyway bool) *readiness.Check {
	return readiness.New(readiness.Request{
		Machine: cmdline.NewMachine(p.Env), Config: c, Anyway: anyway,
		Hidden: func(ctx context.Context, program string, spec *agent.Spec) (string, error) {
			return hiddenFolder(ctx, p, i, program, spec)
		},
		Old: func(f kinds.Found, version string) {
			fmt.Fprintf(p.Env.Stderr, "warning: your %s is %s: %s\n", f.Name, version, kinds.Advice(f.Kind, kinds.Older))
		},
	})
}

// hiddenFolder is the folder of a program that the sandbox of an agent hides; empty
// where the agent sees the program.
func hiddenFolder(ctx context.Context, p *cmdline.Place, i isolation.Settings, program string, spec *agent.Spec) (string, error) {
	if i.Off() {
		return "", nil
	}
	if program == p.Env.Self {
		return "", nil // A run shows its own program to its agents, wherever it lies.
	}
	cover, dir := coverOf(p.Env, covering{p.StateRoot, i.Hide, spec.Write}, program)
	if cover != box.Masked {
		return "", nil
	}
	got, err := session.FindIsolation(ctx, p, i)
	if err != nil || got.Level == box.None {
		return "", err
	}
	return dir, nil
}

// KindsReady refuses, before anything starts, the agents of a plan that cannot be
// started. Calls of a script that name no agent count, too.
func KindsReady(ctx context.Context, p *cmdline.Place, pl *Plan, anyway bool) error {
	calls := append(stageCalls(p, pl), pl.Calls...)
	if pl.Script != nil {
		calls = append(calls, &task.Call{Agent: pl.Script.Agent})
	}
	return AgentsReady(ctx, p, NewReadiness(p, pl.Config, pl.Isolation, anyway), calls)
}

// AgentsReady refuses calls whose agents cannot be started.
func AgentsReady(ctx context.Context, p *cmdline.Place, check *readiness.Check, calls []*task.Call) error {
	err := check.Calls(ctx, calls...)
	if unfit := (*readiness.UnfitError)(nil); errors.As(err, &unfit) {
		return cmdline.Refused(err)
	}
	return err
}

// ReadyCalls is a check of calls that also refuses those whose agent cannot be
// started.
func ReadyCalls(ctx context.Context, ready *readiness.Check, check func(*task.Call) error) func(*task.Call) error {
	return func(call *task.Call) error {
		if err := check(call); err != nil {
			return err
		}
		err := ready.Calls(ctx, call)
		if unfit := (*readiness.UnfitError)(nil); errors.As(err, &unfit) {
			return fmt.Errorf("%s; %s", unfit.Text, unfit.Advice)
		}
		return err
	}
}

// covering holds the folders that decide which folders a sandbox hides.
type covering struct {
	state string   // the state folder of all repositories
	hide  []string // the folders that the user hides in addition
	write []string // folders that the agent itself may write to, such as that of its login
}

// coverOf tells how a sandbox covers a program, and which folder is covered.
func coverOf(env cmdline.Env, c covering, program string) (box.Cover, string) {
	in := box.Place{
		Home: env.Getenv("HOME"), State: c.state, Hide: c.hide, Sockets: control.Folders(env.Getenv), Getenv: env.Getenv,
	}
	for _, dir := range c.write {
		in.Pieces = append(in.Pieces, box.Piece{At: dir, From: dir, Write: true})
	}
	return box.CoverOf(in, program)
}

// CoverBy tells how a sandbox with a configuration covers a program, for a person;
// empty where agents see it.
func CoverBy(env cmdline.Env, conf *config.Config, program string) string {
	root, err := store.Root(env.Getenv)
	if program == "" || err != nil {
		return "" // a run reports the error of the state folder
	}
	var hide []string
	for _, path := range conf.Hide {
		hide = append(hide, path.Text)
	}
	cover, dir := coverOf(env, covering{state: root, hide: hide}, program)
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
