package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"agentswarm/swarm/engine"
	"agentswarm/swarm/isolation"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/landing/lander"
	"agentswarm/swarm/script/repository"
	"agentswarm/swarm/store"
	"agentswarm/worktree/git"
)

// Config has the parts of a run that [Tools] use.
type Config struct {
	Repo   *git.Repo   // required
	Frozen *git.Frozen // required: the configuration that all reads go by
	Run    *store.Run  // required
	Dir    string      // required: an empty or missing folder for files of this process; [Tools.Close] removes it

	Identity store.Identity     // of the run
	View     func() *store.View // required where anything lands: the records of the run
	Sandbox  *isolation.Executor
	Lander   *lander.Lander // required where anything merges or lands
	Cores    int            // checks that run at once; 0: one

	// Checks and Setup are the commands of the run.
	Engine engine.Config
	// Author returns the author of commits; required where anything lands.
	Author func() (landing.Author, error)
	// MayLand returns why a script may not land; nil: it may. Required where anything lands.
	MayLand func() error
	// Await waits until the subjects of commits are known; required where anything lands.
	Await func(ctx context.Context, commits []string)
}

// Tools carry out the requests of a script beside agents: they implement
// workflow.Tools. Only the process that owns the run has them, and no agent can
// reach them. Close them.
//
// All reads go to objects under the frozen configuration. Neither the user's
// checkout nor an agent's change of the repository's configuration affects an
// answer.
type Tools struct {
	*repository.Reader
	config Config
	base   store.Base
	when   time.Time // the time of commits that are merged
	cores  *semaphore.Weighted
	// landing has weight 1: landings run in turn.
	landing *semaphore.Weighted
	made    atomic.Int64 // the number of names given out
}

// New makes the tools of a run. It fails where the folder cannot be made.
func New(c Config) (*Tools, error) {
	if err := errors.Join(os.RemoveAll(c.Dir), os.MkdirAll(c.Dir, 0o700)); err != nil {
		return nil, err
	}
	q, err := c.Frozen.Quarantine(filepath.Join(c.Dir, "objects"))
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(c.Dir))
	}
	return &Tools{
		config: c, base: c.Identity.Base, when: c.Identity.Created.UTC().Truncate(time.Second),
		Reader:  repository.New(c.Repo, q, git.Hash(c.Identity.Base.Commit)),
		cores:   semaphore.NewWeighted(int64(max(1, c.Cores))),
		landing: semaphore.NewWeighted(1),
	}, nil
}

// Close ends the processes of the tools. None of the tools may be in use. It
// returns an error if their folder cannot be removed.
func (t *Tools) Close() error {
	return errors.Join(t.Reader.Close(), os.RemoveAll(t.config.Dir))
}

// scratch is a new path for something that only this process needs.
func (t *Tools) scratch(kind string) string {
	return filepath.Join(t.config.Dir, fmt.Sprintf("%s.%d", kind, t.made.Add(1)))
}
