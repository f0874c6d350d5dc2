package cli

import (
	"embed"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/exit"
)

// completionScripts are the files that shells source, one for each shell. They
// know no commands: they ask `swarm __complete`.
//
//go:embed completion/swarm.bash completion/swarm.zsh completion/swarm.fish
var completionScripts embed.FS

// shells are those that have a script.
func shells() []string { return []string{"bash", "zsh", "fish"} }

func newCompletionCommand(env cmdline.Env) *cli.Command {
	return &cli.Command{
		Name:      "completion",
		Usage:     "print a script that completes commands in your shell",
		ArgsUsage: strings.Join(shells(), " | "),
		Description: `Prints a script for bash, zsh or fish that completes commands, flags, runs,
agents, branches and more when you press Tab. Source it where your shell
starts:

in ~/.bashrc: source <(swarm completion bash)

in ~/.zshrc, after compinit: source <(swarm completion zsh)

in ~/.config/fish/config.fish: swarm completion fish | source

The script runs the swarm that is in your PATH.

Examples:
  swarm completion bash > ~/.local/share/bash-completion/completions/swarm
  swarm completion fish > ~/.config/fish/completions/swarm.fish`,
		Action: func(c *cli.Context) error {
			args, err := cmdline.Arguments(c, 1, 1)
			if err != nil {
				return err
			}
			if !slices.Contains(shells(), args[0]) {
				return exit.Usagef("completion: there is no script for %s; want %s",
					termtext.Quote(args[0]), strings.Join(shells(), ", "))
			}
			script, err := completionScripts.ReadFile("completion/swarm." + args[0])
			if err != nil {
				return err
			}
			_, err = env.Stdout.Write(script)
			return err
		},
	}
}
