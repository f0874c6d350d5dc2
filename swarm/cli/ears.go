package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"agentswarm/swarm/ask"
	"agentswarm/swarm/control"
	"agentswarm/swarm/ear"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// ears are the sockets on which agents' hooks ask: one for each attempt, in a
// folder that no other agent sees.
type ears struct {
	run    *store.Run
	getenv func(string) string
}

// Listen opens one. What it leaves goes when it is closed.
func (e ears) Listen(ctx context.Context, agent task.ID, attempt int, decide func(context.Context, ask.Request) ask.Answer) (string, func() error, error) {
	dir, err := control.AskFolder(e.run, task.AttemptName(agent, attempt), e.getenv)
	if err != nil {
		return "", nil, err
	}
	path := filepath.Join(dir, "s")
	s, err := ear.Listen(ctx, path, decide)
	if err != nil {
		return "", nil, errors.Join(err, os.Remove(dir))
	}
	return path, func() error { return errors.Join(s.Close(), os.Remove(dir)) }, nil
}
