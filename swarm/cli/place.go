package cli

import (
	"context"
	"errors"

	"github.com/urfave/cli/v2"

	"agentswarm/swarm/config"
	"agentswarm/swarm/isolation"
	"agentswarm/swarm/policy"
	"agentswarm/swarm/project"
	"agentswarm/worktree/git"
)

// place is the repository a command works on, and the state kept for it.
type place struct {
	project.Project
	env Env
	// reads is set for a command that only reads.
	reads bool
	// toldPending are the runs of which was said that their recovery is pending.
	toldPending *[]string
	// given lays what the command line says of isolation over what is recorded.
	given func(*isolation.Settings) error
	// cautious lays what it says of judging actions over what is recorded.
	cautious func(*policy.Policy) error
}

// openPlace finds the repository. It writes nothing, unless a command that
// changed a checkout was cut off: then it ends what that command began.
func openPlace(c *cli.Context, env Env) (*place, error) {
	inv := invoked(c)
	if inv.hasDir {
		env.Calls = calledIn(env.Calls, inv.typedDir)
	}
	p, err := placeAt(c.Context, env, inv.dir)
	if err == nil {
		p.reads = readsOnly(c.Context)
		p.recoverCheckouts(c.Context)
		p.given = func(i *isolation.Settings) error { return p.readIsolationFlags(c, i) }
		p.cautious = func(into *policy.Policy) error { return p.layCaution(c, into) }
	}
	return p, err
}

// placeAt is openPlace for a folder.
func placeAt(ctx context.Context, env Env, dir string) (*place, error) {
	p := &place{
		env: env, toldPending: new([]string),
		given:    func(*isolation.Settings) error { return nil },
		cautious: func(*policy.Policy) error { return nil },
	}
	opened, err := project.Open(ctx, project.Request{Dir: dir, Environ: env.Environ, Getenv: env.Getenv, Step: env.Step})
	if err != nil {
		return nil, refused(err)
	}
	p.Project = *opened
	return p, nil
}

// withoutProject is a place for commands that need no repository.
func withoutProject(env Env) *place {
	return &place{env: env, Project: project.Project{Getenv: env.Getenv}}
}

// keep has every git from now on end with this process, whatever ends it.
// Commands that only read do without: it costs them a process.
func (p *place) keep() {
	if p.env.keeper != nil {
		p.Repo.Keep(p.env.keeper)
	}
}

// refused gives the errors of a command that was not carried out because of
// what the user gave it, or where, the code of a refusal.
func refused(err error) error {
	if err == nil {
		return nil
	}
	var missing *git.MissingError
	if errors.As(err, &missing) || codeOf(err) == CodeFailed {
		return &ExitError{Code: CodeUsage, Err: err}
	}
	return err
}

// config reads all configuration files, and what the environment says over
// them. In a bare repository the project's comes from the base commit.
func (p *place) config(ctx context.Context, base git.Hash) (*config.Config, error) {
	c, err := p.Config(ctx, base)
	return c, refused(err)
}

// NoRunError says that no run was ever made here.
type NoRunError struct{ Repo string }

func (e *NoRunError) Error() string { return "there is no run of " + e.Repo + " yet" }

// Hint says what would be right.
func (e *NoRunError) Hint() string { return "start one with `swarm run`" }
