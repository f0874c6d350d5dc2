package cli

import (
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"agentswarm/swarm/engine"
	"agentswarm/swarm/limit"
)

// driveFlags are the flags of commands that go on with a run.
func driveFlags() []cli.Flag {
	return append([]cli.Flag{
		&cli.IntFlag{Name: "j", Usage: "run `N` agents at once, 1 to 100 (default: as the run was started)"},
		&cli.DurationFlag{Name: "run-timeout", Usage: "stop the run after `TIME`"},
		jsonFlag(),
	}, contactFlags()...)
}

// driveFlagsRead are their values.
type driveFlagsRead struct {
	jobs    int // 0: as recorded
	timeout time.Duration
	contact contactGiven
}

func readDriveFlags(c *cli.Context) (driveFlagsRead, error) {
	r := driveFlagsRead{jobs: c.Int("j"), timeout: c.Duration("run-timeout")}
	name := c.Command.Name
	if c.IsSet("j") && (r.jobs < 1 || r.jobs > limit.MaxJobs) {
		return r, usagef("%s: -j %d: want 1 to %d", name, r.jobs, limit.MaxJobs)
	}
	if c.IsSet("run-timeout") && r.timeout <= 0 {
		return r, usagef("%s: --run-timeout %s: want a duration above zero, such as 10m", name, r.timeout)
	}
	var err error
	r.contact, err = readContactFlags(c)
	return r, err
}

// lay lays the flags over what was recorded with the run.
func (r driveFlagsRead) lay(config *engine.Config) {
	if r.jobs > 0 {
		config.Jobs = r.jobs
	}
}

// flagOfDriving is a flag that was given and means nothing where another
// process drives the run; empty for none.
func flagOfDriving(c *cli.Context) string {
	for _, name := range []string{"j", "run-timeout", "questions", "notify"} {
		if c.IsSet(name) {
			return strings.Repeat("-", min(2, len(name))) + name
		}
	}
	return ""
}
