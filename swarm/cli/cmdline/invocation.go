package cmdline

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/fspath"
	"agentswarm/internal/jq"
	"agentswarm/internal/termtext"
	"agentswarm/swarm/exit"
)

// Invocation is a command line, put in order.
type Invocation struct {
	Path     []*cli.Command // the command, outermost first; empty for help
	Argv     []string       // for App.Run, program name included
	After    []string       // the words after `--`, for commands that take them
	HasAfter bool           // a `--` was given to such a command
	Dir      string         // the folder to work in
	TypedDir string         // the value of -C
	HasDir   bool           // -C was given
	JSON     bool
	Help     bool
	Short    bool      // the help was asked for by -h
	Color    string    // --color: auto, always, never, or empty
	JQ       *jq.Query // --jq; nil for none
	NoPager  bool      // --no-pager
}

// InvocationKey is where App.Metadata keeps the invocation.
const InvocationKey = "invocation"

// Invoked is the command line of an action: Dir is the folder to work in, After
// the words after `--`.
func Invoked(c *cli.Context) *Invocation {
	return c.App.Metadata[InvocationKey].(*Invocation)
}

// Arguments returns the arguments of a command that takes from least to most
// of them; a negative most sets no limit.
func Arguments(c *cli.Context, least, most int) ([]string, error) {
	args := c.Args().Slice()
	switch name := Path(Invoked(c).Path); {
	case len(args) < least:
		e := &exit.UsageError{Text: fmt.Sprintf("%s: an argument is missing; usage: %s %s %s",
			name, Program, name, c.Command.ArgsUsage)}
		if slices.ContainsFunc(c.Command.Flags, func(f cli.Flag) bool { return f.Names()[0] == "failed" }) {
			e.Advice = fmt.Sprintf("name agents, or select them, as in %s %s --failed", Program, name)
		}
		return nil, e
	case most == 0 && len(args) > 0:
		return nil, exit.Usagef("%s: takes no argument, but got %q", name, args[0])
	case most >= 0 && len(args) > most:
		return nil, exit.Usagef("%s: takes %s, but got one more: %q",
			name, termtext.Count(most, "argument", "arguments"), args[most])
	}
	return args, nil
}

// PathFlag returns the path that a flag gives, seen from the folder of the command and cleaned.
func PathFlag(c *cli.Context, name string) string {
	return filepath.Clean(fspath.From(Invoked(c).Dir, c.String(name)))
}

// JSONFlag makes the flag that every command with a result has.
func JSONFlag() cli.Flag {
	return &cli.BoolFlag{Name: "json", Usage: "print one JSON object instead of text"}
}

// PrintJSON writes v in a single line. It returns an error if v cannot be
// encoded or w cannot be written.
func PrintJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false) // patches and prompts are full of < and &
	return enc.Encode(v)
}

// Path is how a command is typed after the program's name.
func Path(path []*cli.Command) string {
	var names []string
	for _, c := range path {
		names = append(names, c.Name)
	}
	return strings.Join(names, " ")
}

// ReadsKey marks the context of a command that only reads.
type ReadsKey struct{}

// ReadsOnly reports whether the command of a context only reads.
func ReadsOnly(ctx context.Context) bool { return ctx.Value(ReadsKey{}) != nil }
