package session

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"agentswarm/internal/fspath"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/config"
	"agentswarm/swarm/isolation"
	"agentswarm/swarm/limit"
	"agentswarm/swarm/proc"
	"agentswarm/swarm/store"
	"agentswarm/worktree/git"
)

// FindIsolation finds the sandbox and the workspace backend that this machine gives for the
// settings. It returns an error if the settings ask for a mode that is not available.
func FindIsolation(ctx context.Context, p *cmdline.Place, wanted isolation.Settings) (isolation.Found, error) {
	// Not by the kept binary: a plan that is refused has written nothing.
	return isolation.Find(ctx, &p.Project, p.Env.Self, wanted)
}

// FrozenConfig returns the git configuration for captures, copied before the first agent
// started. It makes the copy if there is none, and anew if a crash cut it off. It returns an
// error if the copy cannot be written.
func FrozenConfig(ctx context.Context, p *cmdline.Place, run *store.Run) (*git.Frozen, error) {
	whole := filepath.Join(run.Frozen(), "whole")
	if fspath.Exists(whole) {
		return p.Repo.Thaw(run.Frozen()), nil
	}
	if err := os.RemoveAll(run.Frozen()); err != nil {
		return nil, fmt.Errorf("freeze the configuration: %w", err)
	}
	frozen, err := p.Repo.Freeze(ctx, run.Frozen())
	if err != nil {
		return nil, err
	}
	return frozen, os.WriteFile(whole, nil, 0o600)
}

// Retention returns the user's settings for what is kept. Agents cannot change them: only the
// user's own file counts. It returns an error if that file cannot be read.
func Retention(p *cmdline.Place) (config.Retention, error) {
	c, err := p.OwnConfig()
	if err != nil {
		return config.Retention{}, err
	}
	return c.Retention, nil
}

// BaseSize returns the limit for shared checkouts in bytes, or 0 without a limit. Faults of the
// user's file are reported when a run is planned.
func BaseSize(p *cmdline.Place) int64 {
	keep, err := Retention(p)
	if err != nil {
		return 0
	}
	return keep.BaseSize
}

// poolSize returns the limit for reusable workspaces in bytes, or 0 without a limit.
func poolSize(p *cmdline.Place) int64 {
	keep, err := Retention(p)
	if err != nil {
		return 0
	}
	return keep.PoolSize
}

// admissionOf admits agents by the memory of this machine.
func admissionOf(e cmdline.Env) *limit.Memory {
	return &limit.Memory{Available: func() limit.Room { return cmdline.AvailableMemory(e) }, Used: proc.Memory, Now: time.Now}
}
