package plan

import (
	"github.com/urfave/cli/v2"

	"agentswarm/internal/bytesize"
	"agentswarm/swarm/exit"
)

// CaptureFlags are those of every command that runs agents.
func CaptureFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "max-file", Usage: "leave new or changed files above `SIZE` out of patches, such as 500MB (default: capture.max_file, 100MiB)"},
	}
}

// layMaxFile lays --max-file, if it was given, over a size in bytes.
func layMaxFile(c *cli.Context, size *int64) error {
	if !c.IsSet("max-file") {
		return nil
	}
	n, ok := bytesize.Parse(c.String("max-file"))
	if !ok || n < 1 {
		return exit.Usagef("%s: --max-file %q: want a size such as 500MB or 5GiB", c.Command.Name, c.String("max-file"))
	}
	*size = n
	return nil
}
