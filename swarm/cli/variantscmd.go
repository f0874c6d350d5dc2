package cli

import "github.com/urfave/cli/v2"

func newVariantsCommand(env Env) *cli.Command {
	return &cli.Command{
		Name:  "variants",
		Usage: "measure what prompts against failure modes are good for",
		Description: `A variant is a text that is added to a prompt against what models of a family
are known to do wrong.

Examples:
  swarm variants bench --family qwen --model qwen3-coder --agent mine --tasks 5`,
		Subcommands: []*cli.Command{newVariantsBenchCommand(env)},
	}
}
