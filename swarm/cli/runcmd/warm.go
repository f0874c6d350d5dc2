package runcmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"agentswarm/internal/statefile"
	"agentswarm/internal/termtext"
	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/isolation"
	"agentswarm/swarm/landing/lander"
	"agentswarm/swarm/proc"
	"agentswarm/worktree/git"
)

// warmUp has a command of the user's fill the caches of tools before any agent
// starts. Without it a hundred agents with private writes would all compile the
// same code. It runs at the base, in a workspace that is thrown away. All
// agents of this run then read its writes elsewhere, and none can change them.
// cool removes these writes.
//
// The command may fail: failed tests have filled caches, too.
func warmUp(ctx context.Context, b *session.Session, command string) (cool func() error, err error) {
	nothing := func() error { return nil }
	if command == "" {
		return nothing, nil
	}
	fmt.Fprintf(b.Env.Stderr, "warm: %s\n", termtext.Line(command))
	began := time.Now()
	dir := engine.WarmOf(b.Run)
	if err := os.MkdirAll(filepath.Join(dir, "box"), 0o700); err != nil {
		return nil, fmt.Errorf("warm: %w", err)
	}
	cool = func() error { return engine.RemoveBox(b.Run, dir) }
	var exit proc.Exit
	out := filepath.Join(dir, "warm")
	err = b.Sandbox.InSpace(ctx, lander.SpaceRequest{
		Step: engine.SetupStep, Name: "warm", Commit: git.Hash(b.Owner.View().Identity.Base.Commit), Saved: filepath.Join(dir, "index"), Private: filepath.Join(dir, "box"),
	}, func(s *isolation.Space) (err error) {
		exit, err = s.Shell(ctx, command, out)
		return err
	})
	switch {
	case ctx.Err() != nil:
		return cool, nil // the run is told so by whoever drives it
	case err != nil:
		return nil, errors.Join(fmt.Errorf("warm: %w", err), cool())
	}
	b.Sandbox.Warm = filepath.Join(dir, "box", isolation.SetupLayers)
	took := time.Since(began).Round(time.Second / 10)
	if exit.Reason == proc.Exited && exit.Code == 0 {
		fmt.Fprintf(b.Env.Stderr, "warm: done in %s\n", took)
		return cool, nil
	}
	last, err := statefile.TailText(out+".err", 500)
	if err != nil {
		return nil, errors.Join(err, cool())
	}
	fmt.Fprintf(b.Env.Stderr, "warm: %s in %s; the run continues with its files: %s\n",
		exit.Words(), took, termtext.Line(strings.TrimSpace(last)))
	return cool, nil
}

// fillCaches prepares HOMEs and caches before the first agent starts. cool
// removes the files of the run.
func fillCaches(ctx context.Context, b *session.Session, r driveRequest) (cool func() error, err error) {
	unshare := b.Sandbox.OpenHomes(r.config, r.config.Verify != "" || r.script != nil)
	unwarm, err := warmUp(ctx, b, r.config.Warm)
	if err != nil {
		return nil, errors.Join(err, unshare())
	}
	cool = func() error { return errors.Join(unwarm(), unshare()) }
	if err := b.Sandbox.WatchHome(); err != nil {
		return nil, errors.Join(err, cool())
	}
	return cool, nil
}
