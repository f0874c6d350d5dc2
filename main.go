// Command swarm runs up to 100 coding agents at once on one Git repository, each
// in an isolated copy, and merges their tested patches.
package main

import (
	"context"
	"os"

	"agentswarm/swarm/cli"
	"agentswarm/swarm/cli/cmdline"
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
func demos(env cmdline.Env) []*cli.Command {
	return demo.Commands(demo.Env{
		Dir: env.Dir, Environ: env.Environ, Stdout: env.Stdout, Stderr: env.Stderr,
		Self: env.Self, Calls: env.Calls, Swarm: cmdline.Typed(env),
	})
}
