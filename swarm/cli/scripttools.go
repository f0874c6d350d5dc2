package cli

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
	words "agentswarm/swarm/nearest"
	"agentswarm/swarm/script"
	"agentswarm/swarm/script/repository"
	"agentswarm/swarm/store"
	"agentswarm/worktree/git"
)

// scriptTools are what the script of a run may use beside agents, over the
// bench of that run: they implement workflow.Tools. Only the process that owns
// the run has them; nothing an agent can reach leads here. Close them.
//
// All that is read is read by objects and under the frozen configuration, so
// that neither the user's checkout nor what an agent wrote into the
// repository's configuration has a part in an answer.
type scriptTools struct {
	*repository.Reader
	bench  *bench
	config engine.Config
	// await waits until it is known what commits are to be called; required where
	// anything lands.
	await func(ctx context.Context, commits []string)
	base  store.Base
	when  time.Time // the time of commits that are merged
	dir   string    // holds what is of use to this process only
	cores *semaphore.Weighted
	// landing has one place: landings come one after the other.
	landing *semaphore.Weighted
	made    atomic.Int64 // how many things had a name of their own
}

// scriptTools puts together what the script of a run may use. Of the
// configuration it takes the checks and the setup before them.
func (b *bench) scriptTools(config engine.Config) (*scriptTools, error) {
	id := b.owner.View().Identity
	dir := filepath.Join(b.run.Dir, "script")
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o700)); err != nil {
		return nil, err
	}
	q, err := b.frozen.Quarantine(filepath.Join(dir, "objects"))
	if err != nil {
		return nil, err
	}
	return &scriptTools{
		bench: b, config: config, base: id.Base, when: id.Created.UTC().Truncate(time.Second),
		dir: dir, Reader: repository.New(b.Repo, q, git.Hash(id.Base.Commit)),
		cores:   semaphore.NewWeighted(int64(max(1, b.deps.Cores))),
		landing: semaphore.NewWeighted(1),
	}, nil
}

// Close ends what the tools keep alive. None of them may be in use.
func (t *scriptTools) Close() error {
	return errors.Join(t.Reader.Close(), os.RemoveAll(t.dir))
}

// scratch is a new path for something that only this process needs.
func (t *scriptTools) scratch(kind string) string {
	return filepath.Join(t.dir, fmt.Sprintf("%s.%d", kind, t.made.Add(1)))
}

// scriptError is an error that a script sees.
func scriptError(code script.Code, format string, args ...any) *script.Error {
	return script.Refuse(code, format, args...)
}

// didYouMean is the end of a message about a word that is not known.
func didYouMean(word string, known []string) string { return words.DidYouMean(word, known) }

// clipped shortens text of a script that a message repeats.
func clipped(text string) string { return script.Clip(text) }
