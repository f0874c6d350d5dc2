package runcmd

import (
	"context"
	"os"
	"sync"

	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/diskwatch"
	"agentswarm/swarm/engine"
)

// watchDisk watches the file systems of the state, of temporary files and of the
// repository while agents work. The function that it returns ends the watch.
func watchDisk(ctx context.Context, b *session.Session, c engine.Config, agents diskwatch.Agents) (end func()) {
	temp := b.Env.Getenv("TMPDIR")
	if temp == "" {
		temp = os.TempDir()
	}
	w := &diskwatch.Watch{
		Dirs: diskwatch.Folders(b.State.Dir, temp, b.Repo.CommonDir), MaxSize: c.MaxSize,
		Agents: agents, Warn: b.Deps.Warn,
	}
	ctx, cancel := context.WithCancel(ctx)
	var watching sync.WaitGroup
	watching.Go(func() { w.Run(ctx) })
	return func() {
		cancel()
		watching.Wait()
	}
}
