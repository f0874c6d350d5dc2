package argv

import (
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/exit"
)

// NewApp returns the program for [Parse] and App.Run, with the flags of every
// command. Help and version are not urfave's: its flags for them are package
// variables, which parallel runs would write to.
func NewApp(env cmdline.Env, commands []*cli.Command) *cli.App {
	prepare(commands)
	return &cli.App{
		Name:                      cmdline.Program,
		Commands:                  commands,
		Flags:                     globalFlags(),
		HideHelp:                  true,
		HideHelpCommand:           true,
		HideVersion:               true,
		DisableSliceFlagSeparator: true,
		OnUsageError:              onUsageError,
		ExitErrHandler:            func(*cli.Context, error) {},
		Reader:                    env.Stdin,
		Writer:                    env.Stdout,
		ErrWriter:                 env.Stderr,
		Compiled:                  time.Unix(0, 0), // else it looks for a file
	}
}

// prepare gives every command the settings that all commands share.
func prepare(commands []*cli.Command) {
	for _, c := range commands {
		c.HideHelp, c.HideHelpCommand = true, true
		c.OnUsageError = onUsageError
		for _, f := range c.Flags {
			if s, ok := f.(*cli.StringSliceFlag); ok {
				s.KeepSpace = true // a file name may begin with a blank
			}
		}
		prepare(c.Subcommands)
	}
}

func onUsageError(c *cli.Context, err error, _ bool) error {
	return &exit.UsageError{Text: fmt.Sprintf("%s: %v", c.Command.Name, err)}
}
