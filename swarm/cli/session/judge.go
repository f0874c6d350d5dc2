package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"agentswarm/internal/fspath"
	"agentswarm/internal/termtext"
	"agentswarm/risk/repository"
	"agentswarm/swarm/ask"
	"agentswarm/swarm/asksocket"
	"agentswarm/swarm/box"
	"agentswarm/swarm/cli/riskcmd"
	"agentswarm/swarm/control"
	"agentswarm/swarm/guard"
	"agentswarm/swarm/isolation"
	"agentswarm/swarm/policy"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// judgeActions gives the engine the judge of the run's actions. It puts guards into
// the PATH of agents where no sandbox is around them. With the sandbox switched off
// there are none.
func (s *Session) judgeActions(ctx context.Context, self string) error {
	j, err := policy.New(ctx, policy.Request{
		Run: s.Run, Repo: s.Repo, Trees: s.Trees, Policy: s.Policy, Level: s.Sandbox.Level, View: box.ViewIn(s.Sandbox.Level, s.Sandbox.Why), Open: s.Sandbox.Settings.Off(), Snapshots: &s.Snapshots,
		Getenv: s.Env.Getenv, UserRules: riskcmd.UserRules(s.Env), SetupLayers: isolation.SetupLayers, Now: s.Deps.Now,
		Warn: func(about string, err error) { s.Deps.Warn(about + ": " + termtext.ErrorLine(err)) },
	})
	if err != nil {
		return riskcmd.RefusedRules(err)
	}
	s.Deps.Judge, s.Deps.AskSockets = j, actionSockets{run: s.Run, getenv: s.Env.Getenv}
	if s.Sandbox.Level.Namespaces() || s.Sandbox.Settings.Off() {
		return nil
	}
	programs, err := j.Programs()
	if err != nil {
		return riskcmd.RefusedRules(err)
	}
	s.Sandbox.Guards, err = guard.Install(self, guard.Installed(programs, s.Env.Getenv("PATH")))
	return err
}

// PrintGrants prints a line if the working tree's grants differ from the commit's. It returns an
// error if git cannot compare them.
func (s *Session) PrintGrants(ctx context.Context) error {
	if s.Repo.Bare() || !fspath.Exists(filepath.Join(s.Repo.TopLevel, repository.AgentsFile)) {
		return nil
	}
	id, err := s.Run.Identity()
	if err != nil {
		return err
	}
	differs, err := repository.GrantsDiffer(ctx, s.Repo, policy.GrantingCommit(id.Base))
	if differs {
		fmt.Fprintf(s.Env.Stderr, "grants: %s\n", GrantsDiffer)
	}
	return err
}

// actionSockets opens the sockets for the hooks of agents: for each attempt its
// own, in a folder that no other agent sees.
type actionSockets struct {
	run    *store.Run
	getenv func(string) string
}

// Listen opens the socket of an attempt and answers its requests with decide. It returns the
// address of the socket and a function that closes and removes it, or an error if the folder or
// the socket cannot be made.
func (a actionSockets) Listen(ctx context.Context, agent task.ID, attempt int, decide func(context.Context, ask.Request) ask.Answer) (string, func() error, error) {
	dir, err := control.AskFolder(a.run, task.AttemptName(agent, attempt), a.getenv)
	if err != nil {
		return "", nil, err
	}
	path := filepath.Join(dir, "s")
	s, err := asksocket.Listen(ctx, path, decide)
	if err != nil {
		return "", nil, errors.Join(err, os.Remove(dir))
	}
	return s.Address(), func() error { return errors.Join(s.Close(), os.Remove(dir)) }, nil
}

// GrantsDiffer is the note for grants of the working tree that are not committed.
const GrantsDiffer = repository.AgentsFile + " grants other things than its commit, and only the commit counts"
