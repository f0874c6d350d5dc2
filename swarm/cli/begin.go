package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"agentswarm/swarm/captureref"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/project"
	"agentswarm/swarm/store"
	"agentswarm/worktree/git"
)

// identity is what run.json will say.
func (p *place) identity(pl *plan) (store.Identity, error) {
	workflow, err := pl.recorded()
	if err != nil {
		return store.Identity{}, err
	}
	text, err := json.Marshal(session.Config{Config: pl.config, Contact: pl.contact, Settings: pl.isolation, Policy: pl.policy})
	if err != nil {
		return store.Identity{}, fmt.Errorf("record the configuration: %w", err)
	}
	args := make([]string, len(p.Env.Args))
	for i, arg := range p.Env.Args {
		args[i] = cmdline.Readable(arg)
	}
	return store.Identity{
		Created: time.Now(), Version: cmdline.BuildVersion().Version, Base: pl.base,
		Branch:    cmdline.Readable(pl.branch),
		CommonDir: cmdline.Readable(p.Repo.CommonDir), TopLevel: cmdline.Readable(p.Repo.TopLevel),
		Prefix: cmdline.Readable(p.Repo.Prefix), Workflow: workflow, Args: args, Config: text,
	}, nil
}

// pin makes the ref that holds the base for as long as the run is kept.
func (p *place) pin(ctx context.Context, run *store.Run, pl *plan) error {
	update := git.RefUpdate{Ref: captureref.Base(run.ID), New: git.Hash(pl.base.Commit)}
	message := "swarm run " + run.ID
	if pl.snapshot == nil {
		return p.Repo.UpdateRefs(ctx, message, update)
	}
	return pl.snapshot.Publish(ctx, git.PublishRequest{
		Refs: []git.RefUpdate{update}, Have: []git.Hash{pl.head}, Message: message,
	})
}

// takeSnapshot makes the base of a run with uncommitted changes, outside of
// the repository: until the run begins, nothing of it is there.
func (p *place) takeSnapshot(ctx context.Context, pl *plan) error {
	dir, err := os.MkdirTemp("", "swarm-base-")
	if err != nil {
		return fmt.Errorf("snapshot: %w", err)
	}
	pl.discard = func() { os.RemoveAll(dir) }
	if pl.snapshot, err = p.Repo.Quarantine(dir); err != nil {
		return err
	}
	commit, err := pl.snapshot.Snapshot(ctx, pl.head)
	if err != nil {
		return cmdline.Refused(err)
	}
	entries, tree, err := pl.snapshot.Tree(ctx, commit)
	if err != nil {
		return err
	}
	pl.tree, pl.files = tree, project.Files(entries)
	pl.base.Commit, pl.base.Tree, pl.base.SnapshotOf = string(commit), string(tree), string(pl.head)
	return nil
}
