package plan

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"agentswarm/swarm/captureref"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/cli/view"
	"agentswarm/swarm/project"
	"agentswarm/swarm/store"
	"agentswarm/worktree/git"
)

// PrintBase reports in a line which parts of the user's work are not in the base.
func PrintBase(p *cmdline.Place, pl *Plan) {
	if pl.Base.Kind != store.BaseHead || !pl.dirt.Any() {
		return
	}
	var parts []string
	for _, d := range []struct {
		n    int
		what string
	}{
		{pl.dirt.Staged, "staged"}, {pl.dirt.Unstaged, "unstaged"},
		{pl.dirt.Untracked, "untracked"}, {pl.dirt.Unmerged, "unmerged"},
	} {
		if d.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", d.n, d.what))
		}
	}
	fmt.Fprintf(p.Env.Stderr, "base: HEAD %s, without your uncommitted changes (%s); --with-changes includes them\n",
		view.Git10(pl.Base.Commit), strings.Join(parts, ", "))
}

// takeSnapshot makes the base of a run with uncommitted changes, outside of
// the repository: until the run begins, nothing of it is there.
func takeSnapshot(ctx context.Context, p *cmdline.Place, pl *Plan) error {
	dir, err := os.MkdirTemp("", "swarm-base-")
	if err != nil {
		return fmt.Errorf("snapshot: %w", err)
	}
	pl.Discard = func() { os.RemoveAll(dir) }
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
	pl.tree, pl.Files = tree, project.Files(entries)
	pl.Base.Commit, pl.Base.Tree, pl.Base.SnapshotOf = string(commit), string(tree), string(pl.head)
	return nil
}

// Identity is the content of run.json. It returns an error if the workflow or
// the configuration cannot be recorded.
func Identity(p *cmdline.Place, pl *Plan) (store.Identity, error) {
	workflow, err := pl.recorded()
	if err != nil {
		return store.Identity{}, err
	}
	text, err := json.Marshal(session.Config{Config: pl.Config, Contact: pl.Contact, Settings: pl.Isolation, Policy: pl.Policy})
	if err != nil {
		return store.Identity{}, fmt.Errorf("record the configuration: %w", err)
	}
	args := make([]string, len(p.Env.Args))
	for i, arg := range p.Env.Args {
		args[i] = cmdline.Readable(arg)
	}
	return store.Identity{
		Created: time.Now(), Version: cmdline.BuildVersion().Version, Base: pl.Base,
		Branch:    cmdline.Readable(pl.branch),
		CommonDir: cmdline.Readable(p.Repo.CommonDir), TopLevel: cmdline.Readable(p.Repo.TopLevel),
		Prefix: cmdline.Readable(p.Repo.Prefix), Workflow: workflow, Args: args, Config: text,
	}, nil
}

// Pin makes the ref that holds the base for as long as the run is kept.
func Pin(ctx context.Context, p *cmdline.Place, run *store.Run, pl *Plan) error {
	update := git.RefUpdate{Ref: captureref.Base(run.ID), New: git.Hash(pl.Base.Commit)}
	message := "swarm run " + run.ID
	if pl.snapshot == nil {
		return p.Repo.UpdateRefs(ctx, message, update)
	}
	return pl.snapshot.Publish(ctx, git.PublishRequest{
		Refs: []git.RefUpdate{update}, Have: []git.Hash{pl.head}, Message: message,
	})
}

// DetachedVar tells a process that it is the detached half of a command: it
// names the descriptor on which the other half waits for the run's id.
const DetachedVar = "SWARM_DETACHED_FD"
