package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"agentswarm/swarm/config"
	"agentswarm/swarm/policy"
	"agentswarm/swarm/store"
	"agentswarm/worktree/git"
)

// place is the repository a command works on, and the state kept for it.
type place struct {
	env   Env
	dir   string // where the command was given
	repo  *git.Repo
	root  string // of the state of all repositories
	state *store.State
	// reads is set for a command that only reads.
	reads bool
	// toldPending are the runs of which was said that their recovery is pending.
	toldPending *[]string
	// given lays what the command line says of isolation over what is recorded.
	given func(*isolation) error
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
		p.given = func(i *isolation) error { return p.readIsolationFlags(c, i) }
		p.cautious = func(into *policy.Policy) error { return p.layCaution(c, into) }
	}
	return p, err
}

// placeAt is openPlace for a folder.
func placeAt(ctx context.Context, env Env, dir string) (*place, error) {
	p := &place{
		env: env, dir: dir, toldPending: new([]string),
		given:    func(*isolation) error { return nil },
		cautious: func(*policy.Policy) error { return nil },
	}
	var err error
	g := git.New(env.Environ)
	limit, err := filterLimit(env.Getenv("SWARM_FILTER_TIMEOUT"))
	if err != nil {
		return nil, refused(err)
	}
	g.LimitFilters(limit)
	p.repo, err = g.Discover(ctx, p.dir)
	if err != nil {
		return nil, refused(err)
	}
	if p.root, err = store.Root(env.Getenv); err != nil {
		return nil, refused(err)
	}
	p.state = store.Open(p.root, p.repo.Name(), p.repo.CommonDir)
	p.state.Step = env.Step
	p.repo.HideRefs(p.state.Refs())
	folders := []string{p.repo.CommonDir}
	if !p.repo.Bare() {
		folders = append(folders, p.repo.TopLevel)
	}
	if err := p.state.Outside(folders...); err != nil {
		return nil, refused(err)
	}
	return p, nil
}

// filterLimit reads how long a filter of git may do nothing; 0 where nobody
// says.
func filterLimit(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	limit, err := time.ParseDuration(text)
	if err != nil || limit <= 0 {
		return 0, fmt.Errorf("SWARM_FILTER_TIMEOUT: expected a duration above zero, such as \"90s\", got %q", text)
	}
	return limit, nil
}

// keep has every git from now on end with this process, whatever ends it.
// Commands that only read do without: it costs them a process.
func (p *place) keep() {
	if p.env.keeper != nil {
		p.repo.Keep(p.env.keeper)
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

// rootDir is the user's checkout, or the bare repository.
func (p *place) rootDir() string {
	if p.repo.Bare() {
		return p.repo.CommonDir
	}
	return p.repo.TopLevel
}

// config reads all configuration files, and what the environment says over
// them. In a bare repository the project's comes from the base commit.
func (p *place) config(ctx context.Context, base git.Hash) (*config.Config, error) {
	var sources []config.Source
	for _, f := range p.configFiles() {
		source, _, err := p.readConfig(ctx, f, base)
		if err != nil {
			return nil, refused(err)
		}
		sources = append(sources, source)
	}
	c, err := config.Load(sources...)
	if err != nil {
		return nil, refused(err)
	}
	c, err = c.Over(p.lookup)
	return c, refused(err)
}

// lookup is the environment as configuration reads it.
func (p *place) lookup(name string) (string, bool) {
	value := p.env.Getenv(name)
	return value, value != ""
}

// userFile is what the user's own configuration file is called in messages.
func (p *place) userFile() string {
	if name := config.UserFile(p.lookup); name != "" {
		return name
	}
	return "the user configuration"
}

// NoRunError says that no run was ever made here.
type NoRunError struct{ Repo string }

func (e *NoRunError) Error() string { return "there is no run of " + e.Repo + " yet" }

// Hint says what would be right.
func (e *NoRunError) Hint() string { return "start one with `swarm run`" }

// self is the path of the running binary, kept where it stays while runs
// need it: `go run` deletes its own when it ends.
func (p *place) self() (string, error) {
	build, err := store.Build(p.env.Self)
	if err != nil {
		return "", err
	}
	return p.state.Binary(build, p.env.Self)
}
