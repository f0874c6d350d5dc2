package cli

import (
	"context"
	"fmt"
	"os"

	"github.com/urfave/cli/v2"

	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/gocache"
	"agentswarm/swarm/guard"
)

// Run is a whole process: it takes the environment as it is, turns signals
// into the end of the context, and returns the exit code. The commands that
// extra makes are beside the built-in ones.
func Run(ctx context.Context, argv []string, extra ...func(cmdline.Env) []*cli.Command) int {
	return RunIn(ctx, func(*cmdline.Env) {}, argv, extra...)
}

// RunIn is Run in an environment that change has changed, for programs that
// test this program.
func RunIn(ctx context.Context, change func(*cmdline.Env), argv []string, extra ...func(cmdline.Env) []*cli.Command) int {
	dir, err := os.Getwd()
	if err != nil {
		fmt.Fprintln(os.Stderr, "swarm: the current folder cannot be found; change to one that is there:", err)
		return int(exit.Usage)
	}
	self, err := os.Executable()
	if err != nil {
		fmt.Fprintln(os.Stderr, "swarm: find the running program:", err)
		return int(exit.Failed)
	}
	path, is := os.LookupEnv("PATH")
	if is { // in an agent, swarm runs git as anywhere
		if err := os.Setenv("PATH", guard.Without(path)); err != nil {
			fmt.Fprintln(os.Stderr, "swarm: leave the guards:", err)
			return int(exit.Failed)
		}
	}
	env := cmdline.Env{
		Args: argv[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Getenv: os.Getenv, Environ: os.Environ(), Path: path, Dir: dir, Self: self,
		Calls: calledAs(argv[0], self),
	}
	env.Main = runLine
	change(&env)
	cmdline.OutlivePipes()
	ctx, stop := cmdline.OnSignals(ctx)
	defer stop()
	var commands []*cli.Command
	for _, make := range extra {
		commands = append(commands, make(env)...)
	}
	return Main(ctx, env, commands...)
}

// calledAs is the text that the user types to call swarm again: the typed name,
// or `go run .` if that built the binary.
func calledAs(name, self string) string {
	if gocache.Temporary(self) {
		return "go run ."
	}
	return name
}

// Command is a command that main adds to the built-in ones.
type Command = cli.Command
