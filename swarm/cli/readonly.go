package cli

import (
	"context"

	"github.com/urfave/cli/v2"

	"agentswarm/swarm/cli/cmdline"
)

// readOnly declares that a command only reads. It leaves a run whose owner died
// as it is, and names the command that recovers it.
func readOnly(c *cli.Command) *cli.Command {
	c.Before = func(c *cli.Context) error {
		c.Context = context.WithValue(c.Context, cmdline.ReadsKey{}, true)
		return nil
	}
	return c
}
