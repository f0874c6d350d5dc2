// Command swarm turns one instruction into up to 100 coding agents that work
// at once on one repository, each in its own worktree, and what they did into
// verified, merged patches.
package main

import (
	"context"
	"os"

	"agentswarm/swarm/cli"
	"agentswarm/swarm/demo"
)

func main() {
	ctx := context.Background()
	if code, ok := cli.Supervise(ctx, os.Args[1:]); ok {
		os.Exit(code)
	}
	os.Exit(cli.Run(ctx, os.Args, demos))
}

// demos are the commands of the demo.
func demos(env cli.Env) []*cli.Command {
	return demo.Commands(demo.Env{
		Dir: env.Dir, Environ: env.Environ, Stdout: env.Stdout, Stderr: env.Stderr,
		Self: env.Self, Calls: env.Calls, Swarm: cli.Typed(env),
	})
}
