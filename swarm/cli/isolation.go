package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"agentswarm/swarm/box"
	"agentswarm/worktree"
)

// isolation is how agents are kept apart from everything else. It is recorded
// with the run, and a resume goes on with it.
type isolation struct {
	Sandbox string   `json:"sandbox,omitempty"` // auto, require or off; empty: auto
	Backend string   `json:"backend,omitempty"` // of workspaces, or auto; empty: auto
	Hide    []string `json:"hide,omitempty"`    // paths that agents see nothing of
	Write   []string `json:"write,omitempty"`   // folders that agents may write to
}

// anyBackend reports whether no backend was asked for by name.
func (i isolation) anyBackend() bool { return i.Backend == "" || i.Backend == backendAuto }

// picky reports whether something was asked for that not every machine gives.
func (i isolation) picky() bool { return i.Sandbox == sandboxRequire || !i.anyBackend() }

const (
	sandboxAuto    = "auto"
	sandboxRequire = "require"
	sandboxOff     = "off"
	backendAuto    = "auto"
)

// open reports whether agents may write wherever their user may.
func (i isolation) open() bool { return i.Sandbox == sandboxOff }

// isolationFlags are those of every command that runs agents.
func isolationFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "sandbox", Usage: "keep agents behind walls: `auto|require|off`; require refuses anything below namespaces (default: auto)"},
		&cli.StringFlag{Name: "backend", Usage: "make workspaces as `auto|overlay|reflink|worktree` (default: auto, the cheapest that works)"},
	}
}

// readIsolationFlags lays the flags over what is configured or recorded.
func readIsolationFlags(c *cli.Context, i *isolation) error {
	if c.IsSet("sandbox") {
		switch mode := c.String("sandbox"); mode {
		case sandboxAuto, sandboxRequire, sandboxOff:
			i.Sandbox = mode
		default:
			return usagef("%s: --sandbox %q: want auto, require or off", c.Command.Name, mode)
		}
	}
	if c.IsSet("backend") {
		word := c.String("backend")
		if _, err := worktree.ParseBackend(word); err != nil && word != backendAuto {
			return usagef("%s: --backend %q: want auto, overlay, reflink or worktree", c.Command.Name, word)
		}
		i.Backend = word
	}
	return nil
}

// isolated is what a machine gives of what was asked for.
type isolated struct {
	rung    box.Rung
	why     error // why no better rung
	backend worktree.Backend
	// passed over are the cheaper backends that do not work here, and why.
	passed []error
}

// isolate finds out what this machine can do. What was asked for by name and
// cannot be had is refused.
func (p *place) isolate(ctx context.Context, wanted isolation) (got isolated, err error) {
	self, err := p.self()
	if err != nil {
		return got, err
	}
	if got.rung, got.why, err = p.probe(ctx, self); err != nil {
		return got, err
	}
	if wanted.Sandbox == sandboxRequire && !got.rung.Namespaces() {
		return got, refused(fmt.Errorf("--sandbox=require: there are no namespaces here: %s", oneLine(got.why)))
	}
	for _, backend := range worktree.Backends() {
		if wanted.anyBackend() || wanted.Backend == string(backend) {
			err := p.possible(got.rung, backend)
			if err == nil {
				got.backend = backend
				return got, nil
			}
			got.passed = append(got.passed, fmt.Errorf("%s: %w", backend, err))
		}
	}
	return got, refused(fmt.Errorf("--backend=%s", oneLine(errors.Join(got.passed...))))
}

// possible says why a backend does not work here; nil where it does.
func (p *place) possible(rung box.Rung, backend worktree.Backend) error {
	if backend == worktree.Overlay && !rung.Overlay() {
		return fmt.Errorf("no overlay can be mounted, the walls are %s", rung)
	}
	return worktree.Refuses(backend, worktree.Surroundings{
		At: p.rootDir(), State: p.state.Dir, Home: p.env.Getenv("HOME"),
	})
}

// oneLine is an error for a message of one line.
func oneLine(err error) string {
	if err == nil {
		return "nothing says why"
	}
	return strings.ReplaceAll(err.Error(), "\n", "; ")
}

// wallsWord names the walls, for a person and the journal.
func (b *bench) wallsWord() string {
	if b.isolation.open() && b.rung.Namespaces() {
		return "off, but for namespaces (" + b.rung.String() + ")"
	}
	if b.isolation.open() {
		return "off"
	}
	return b.rung.String()
}

// sayWalls tells what agents run inside, and why it is not the best there is.
func (b *bench) sayWalls() {
	fmt.Fprintf(b.env.Stderr, "walls: %s; workspaces: %s\n", b.wallsWord(), b.backend)
	if b.rung != box.Full {
		fmt.Fprintf(b.env.Stderr, "  no better walls: %s; `%s doctor` says more\n", Printable(oneLine(b.why)), b.env.Calls)
	}
	for _, err := range b.passed {
		fmt.Fprintf(b.env.Stderr, "  not %s\n", Printable(oneLine(err)))
	}
}

// walled reports whether walls stand around what is run.
func (b *bench) walled() bool { return b.rung.Namespaces() && !b.isolation.open() }
