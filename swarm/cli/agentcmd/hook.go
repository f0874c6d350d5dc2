package agentcmd

import (
	"context"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"agentswarm/swarm/ask"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/hook"
)

// HookCommand is the command that agents run before each of their actions.
const HookCommand = "hook"

// NewHook returns the command hook.
func NewHook(env cmdline.Env) *cli.Command {
	return &cli.Command{
		Name:  HookCommand,
		Usage: "check an action against the risk rules, as the hook of an agent",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "agent", Usage: "read and answer in the form of `KIND`: claude, codex, copilot, gemini, qwen or plain (default: plain)"},
		},
		Description: `Reads the question of an agent's hook before the agent uses a tool, and asks the run
of that agent. If the action is allowed, it prints nothing and ends with 0. Else it
prints the reason in the form that the agent reads, and ends with 2. It also ends
with 2 if no run answers, or if the question cannot be read. It waits while a person
decides.

The plain form is one JSON object: {"command": "…"}, {"write": "PATH"}, {"git": ["…"]}
or {"tool": "NAME", "target": "URL"}, and "cwd" beside it.

Examples:
  swarm hook --agent claude
  echo '{"command":"git push"}' | swarm hook`,
		Action: func(c *cli.Context) error {
			if _, err := cmdline.Arguments(c, 0, 0); err != nil {
				return err
			}
			var d hook.Dialect
			if err := d.UnmarshalText([]byte(c.String("agent"))); err != nil {
				return exit.Usagef("hook: --agent %v", err)
			}
			code := d.Run(c.Context, hook.Streams{
				Stdin: env.Stdin, Stdout: env.Stdout, Stderr: env.Stderr, Socket: env.Getenv(ask.Variable),
			})
			if code == 0 {
				return nil
			}
			return &exit.Error{Code: exit.Code(code)}
		},
	}
}

// RunHook runs the command hook without the rest of the program, which costs as
// much again as the question. ok is false if args ask for something else.
func RunHook(ctx context.Context, args []string) (code int, ok bool) {
	word := ""
	switch {
	case len(args) == 0:
	case len(args) == 1 && strings.HasPrefix(args[0], "--agent="):
		word = strings.TrimPrefix(args[0], "--agent=")
	case len(args) == 2 && args[0] == "--agent":
		word = args[1]
	default:
		return 0, false
	}
	var d hook.Dialect
	if d.UnmarshalText([]byte(word)) != nil {
		return 0, false
	}
	return d.Run(ctx, hook.Streams{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Socket: os.Getenv(ask.Variable),
	}), true
}
