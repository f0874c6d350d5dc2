package demo

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"
)

// Env holds the parts of its program that the demo needs.
type Env struct {
	Dir            string // the working directory
	Environ        []string
	Stdout, Stderr io.Writer

	// Self is the path of the running binary, which is also the agent.
	Self string
	// Calls is the user's call of the program ("go run .", "swarm"), so that
	// printed commands can be typed.
	Calls string
	// Swarm runs a command in this process as if the user had typed it in dir,
	// and returns its exit code.
	Swarm func(ctx context.Context, dir string, stdout, stderr io.Writer, args ...string) int
}

// agentCommand is the hidden command that is the agent. Its arguments are the
// gate's socket and the folder of a package; it works in its own folder.
const agentCommand = "__demo-agent"

// idleTimeout is the time that an agent of the demo may write nothing. Agents
// that wait for the others, or work, write something every second. So only the
// hanging agent is silent for long, however slow the machine is.
const idleTimeout = 10 * time.Second

// gateTime is how long the first agent waits for the last: a hundred
// workspaces are made in seconds, on a busy machine in a minute.
const gateTime = 3 * time.Minute

// Commands returns the command `demo` and the hidden command that is its agent.
func Commands(env Env) []*cli.Command {
	return []*cli.Command{
		{
			Name: "demo", Category: "Start", // as in the help of swarm/cli
			Usage:     "show what swarm does, on a monorepo that it writes",
			ArgsUsage: "[DIR]",
			Description: `Writes a monorepo of 100 small Go packages into DIR (default: a new folder
for temporary files), lets 100 agents rename a function in it, all at once,
merges what they did, tests the result, and says what to look at. No model is
asked and nothing is paid: the agent is a program. Five agents go wrong on
purpose. Exits 0 when all went as planned.

Examples:
  swarm demo
  swarm demo ~/try-swarm
  swarm demo --packages 20`,
			Flags: []cli.Flag{
				&cli.IntFlag{
					Name: "packages", Value: maxPackages,
					Usage: fmt.Sprintf("how many packages and agents, `N` from %d to %d", minPackages, maxPackages),
				},
			},
			Action: func(c *cli.Context) error {
				r, err := newRequest(env, c)
				if err != nil {
					return err
				}
				return run(c.Context, env, r)
			},
		},
		{
			Name:   agentCommand,
			Hidden: true,
			Action: func(c *cli.Context) error {
				if c.NArg() != 2 {
					return &UsageError{Text: agentCommand + " takes the path of a socket and of a folder"}
				}
				return agent(c.Context, agentRequest{
					Dir: env.Dir, Gate: c.Args().Get(0), Item: c.Args().Get(1), Stdout: env.Stdout,
				})
			},
		},
	}
}

// request is a demo that was asked for and can be given.
type request struct {
	dir      string // empty: a new folder
	packages int
	gate     time.Duration // how long the first agent waits for the last
}

// newRequest checks the user's arguments. It writes nothing.
func newRequest(env Env, c *cli.Context) (request, error) {
	r := request{packages: c.Int("packages"), gate: gateTime}
	switch {
	case c.NArg() > 1:
		return r, &UsageError{Text: fmt.Sprintf("demo takes one folder, not %d: %q", c.NArg(), c.Args().Slice())}
	case r.packages < minPackages || r.packages > maxPackages:
		return r, &UsageError{Text: fmt.Sprintf("--packages %d: must be from %d to %d", r.packages, minPackages, maxPackages)}
	}
	if !onPath("go", env.Environ) {
		return r, &UsageError{
			Text: "go is not on PATH, and the demo tests with it what its agents write",
			Help: "install Go, or add its folder to PATH",
		}
	}
	if c.NArg() == 0 {
		return r, nil
	}
	r.dir = c.Args().First()
	if !filepath.IsAbs(r.dir) {
		r.dir = filepath.Join(env.Dir, r.dir)
	}
	entries, err := os.ReadDir(r.dir)
	switch {
	case os.IsNotExist(err):
		return r, nil
	case err != nil:
		return r, &UsageError{Text: fmt.Sprintf("%s: must be a folder that is empty or does not exist: %v", c.Args().First(), err)}
	case len(entries) > 0:
		return r, &UsageError{
			Text: fmt.Sprintf("%s: is not empty", c.Args().First()),
			Help: "name a folder that is empty or does not exist yet",
		}
	}
	return r, nil
}

// onPath reports whether a program can be found on the PATH of environ.
func onPath(name string, environ []string) bool {
	for _, kv := range environ {
		list, ok := strings.CutPrefix(kv, "PATH=")
		if !ok {
			continue
		}
		for _, dir := range filepath.SplitList(list) {
			at, err := os.Stat(filepath.Join(dir, name))
			if err == nil && at.Mode().IsRegular() && at.Mode()&0o111 != 0 {
				return true
			}
		}
	}
	return false
}

// UsageError is a fault in a call of the demo.
type UsageError struct{ Text, Help string }

func (e *UsageError) Error() string { return e.Text }

// Hint returns the right form.
func (e *UsageError) Hint() string { return e.Help }

// Kind is the kind of the error in JSON.
func (e *UsageError) Kind() string { return "invalid" }

// ExitCode is the code of a usage error.
func (e *UsageError) ExitCode() int { return 2 }
