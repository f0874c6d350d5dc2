package cli

import (
	"context"

	"github.com/urfave/cli/v2"

	"agentswarm/swarm/cli/cmdline"
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
