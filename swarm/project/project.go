// Package project opens the repository that a command works on, with the state that swarm
// keeps for it. It finds configuration files, and tells where in the checkout a file lies.
//
// It starts nothing and changes nothing.
package project

import (
	"context"
	"errors"
	"fmt"
	"time"

	"agentswarm/swarm/config"
	"agentswarm/swarm/store"
	"agentswarm/worktree/git"
)

// Project is a repository and its state.
type Project struct {
	Dir       string    // the folder where the command was given, absolute
	Repo      *git.Repo // its refs of runs are hidden from the user's git
	StateRoot string    // the folder with the states of all repositories
	State     *store.State
	Getenv    func(string) string
}

// Request asks for the project of a folder.
type Request struct {
	Dir     string              // required; absolute
	Environ []string            // of the commands of git
	Getenv  func(string) string // required
	// Step is called between the steps of a write to the state. Nil: it is not called.
	Step func(name string) error
}

// Open finds the repository of a folder and its state. An error says which of the folder,
// the environment and the place of the state has to change.
func Open(ctx context.Context, r Request) (*Project, error) {
	p := &Project{Dir: r.Dir, Getenv: r.Getenv}
	g := git.New(r.Environ)
	limit, err := filterLimit(r.Getenv("SWARM_FILTER_TIMEOUT"))
	if err != nil {
		return nil, err
	}
	g.LimitFilters(limit)
	p.Repo, err = g.Discover(ctx, p.Dir)
	if err != nil {
		return nil, err
	}
	if p.StateRoot, err = store.Root(r.Getenv); err != nil {
		return nil, err
	}
	p.State = store.Open(p.StateRoot, p.Repo.Name(), p.Repo.CommonDir)
	p.State.Step = r.Step
	p.Repo.HideRefs(p.State.Refs())
	folders := []string{p.Repo.CommonDir}
	if !p.Repo.Bare() {
		folders = append(folders, p.Repo.TopLevel)
	}
	if err := errors.Join(p.State.Outside(folders...), p.State.Unlinked()); err != nil {
		return nil, err
	}
	return p, nil
}

// filterLimit reads how long a filter of git may do nothing; 0: no limit is
// set.
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

// Root is the user's checkout, or the bare repository.
func (p *Project) Root() string {
	if p.Repo.Bare() {
		return p.Repo.CommonDir
	}
	return p.Repo.TopLevel
}

// Trust is the record of the texts of this repository that the user has approved.
func (p *Project) Trust() config.Trust { return config.Trust{Dir: p.State.Trust()} }

// Binary is the path of a kept copy of the running binary. Runs need it to the end, and
// `go run` deletes its own when it ends.
func (p *Project) Binary(self string) (string, error) {
	build, err := store.Build(self)
	if err != nil {
		return "", err
	}
	return p.State.Binary(build, self)
}
