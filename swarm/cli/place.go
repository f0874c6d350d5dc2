package cli

import (
	"context"

	"github.com/urfave/cli/v2"

	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/selection"
	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/store"
)

// place is a repository with the methods of the commands of this package.
type place struct{ cmdline.Place }

// openPlace finds the repository of a command line.
func openPlace(c *cli.Context, env cmdline.Env) (*place, error) {
	p, err := cmdline.Open(c, env)
	if err != nil {
		return nil, err
	}
	return &place{*p}, nil
}

// placeAt finds the repository of a folder.
func placeAt(ctx context.Context, env cmdline.Env, dir string) (*place, error) {
	p, err := cmdline.OpenAt(ctx, env, dir)
	if err != nil {
		return nil, err
	}
	return &place{*p}, nil
}

// withoutProject is a place for commands that need no repository.
func withoutProject(env cmdline.Env) *place { return &place{*cmdline.Without(env)} }

// NoRunError says that no run was ever made here.
type NoRunError struct{ Repo string }

func (e *NoRunError) Error() string { return "there is no run of " + e.Repo + " yet" }

// Hint says what would be right.
func (e *NoRunError) Hint() string { return "start one with `swarm run`" }

// at is the place of the run.
func (b *bench) at() *place { return &place{b.Place} }

// bench is the session of a run with the methods that have not moved to it.
type bench struct{ *session.Session }

// openBench opens the session of a run.
func openBench(ctx context.Context, p *cmdline.Place, run *store.Run, owner *store.Owner) (*bench, error) {
	s, err := session.Open(ctx, p, run, owner)
	if err != nil {
		return nil, err
	}
	return &bench{s}, nil
}

// openSelection opens the run and the agents that the arguments of a command name.
func openSelection(c *cli.Context, env cmdline.Env, least, most int) (*place, *selection.Selection, error) {
	p, s, err := selection.Open(c, env, least, most)
	if err != nil {
		return nil, nil, err
	}
	return &place{*p}, s, nil
}
