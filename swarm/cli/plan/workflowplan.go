package plan

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/workflow/library"
)

// ScriptFlags are the flags of run that are about scripts.
func ScriptFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "eval", Aliases: []string{"e"}, Usage: "run the script `CODE`"},
		&cli.StringFlag{Name: "workflow", Usage: "run the saved workflow `NAME`"},
		&cli.StringFlag{Name: "args", Usage: "args of the script: `JSON`, @FILE, or - for standard input"},
	}
}

// readScript reads the script that the flags name, if any.
func (pl *Plan) readScript(c *cli.Context, p *cmdline.Place, args []string) (found bool, err error) {
	code, name := c.IsSet("eval"), c.IsSet("workflow")
	switch {
	case !code && !name:
		return false, nil
	case code && name:
		return false, exit.Usagef("run: --eval and --workflow exclude each other: both are a script")
	case len(args) > 0 || len(pl.workflow.Command) > 0:
		return false, exit.Usagef("run: --eval and --workflow are the script itself; leave the prompt and the command after -- out")
	case code:
		if err := pl.takeScript("(code)", c.String("eval")); err != nil {
			return true, err
		}
		pl.Script.Dispatched = p.Env.Dispatched
		return true, nil
	}
	path, err := OpenLibrary(p).SavedFile("run: --workflow", c.String("workflow"))
	if err != nil {
		return false, err
	}
	return true, pl.ReadScriptFile(p, OpenLibrary(p).Shown(path), path)
}

// ReadScriptFile reads the script of a file.
func (pl *Plan) ReadScriptFile(p *cmdline.Place, name, path string) error {
	file, err := OpenLibrary(p).ReadFile(pl.says(), name, path)
	if file != nil {
		pl.Script, pl.lies, pl.nested = file.Script, file.Paths, file.Nested
	}
	return err
}

func (pl *Plan) takeScript(name, text string) (err error) {
	pl.Script, err = library.New(pl.says(), name, text)
	return err
}

// says is the command that messages name.
func (pl *Plan) says() string { return cmp.Or(pl.Verb, "run") }

// ReadArgs reads the arguments of the script. It returns a usage error if there
// is no script, or they are not valid.
func (pl *Plan) ReadArgs(c *cli.Context, p *cmdline.Place) error {
	if !c.IsSet("args") {
		return nil
	}
	if pl.Script == nil {
		return exit.Usagef("%s: --args is for a script, and there is none", pl.says())
	}
	text := c.String("args")
	from := "what is given"
	switch file, ok := strings.CutPrefix(text, "@"); {
	case ok:
		if !filepath.IsAbs(file) {
			file = filepath.Join(p.Dir, file)
		}
		f, err := os.Open(file) // may be a pipe: @<(command)
		if err != nil {
			return exit.Usagef("%s: --args: %v", pl.says(), err)
		}
		all, err := io.ReadAll(io.LimitReader(f, maxArgs+1))
		if err = errors.Join(err, f.Close()); err != nil {
			return exit.Usagef("%s: --args: %v", pl.says(), err)
		}
		text, from = string(all), file
	case text == "-":
		all, err := io.ReadAll(io.LimitReader(cmdline.Input(p.Env), maxArgs+1))
		if err != nil {
			return fmt.Errorf("read standard input: %w", err)
		}
		pl.Input = all
		text, from = string(all), "standard input"
	}
	if len(text) > maxArgs {
		return exit.Usagef("%s: --args: what a script is given may be %s long", pl.says(), termtext.Bytes(maxArgs))
	}
	if !json.Valid([]byte(text)) {
		return exit.Usagef("%s: --args: %s is not JSON; a text is JSON in quotes: --args '\"text\"'", pl.says(), termtext.Line(from))
	}
	pl.Script.Args = json.RawMessage(strings.TrimSpace(text))
	return nil
}

// maxArgs bounds the arguments of a script, in bytes: they are recorded with
// the run.
const maxArgs = 16 << 20

// checkScript refuses a script that is none, and arguments it does not take,
// before anything starts.
func checkScript(ctx context.Context, p *cmdline.Place, pl *Plan) error {
	if pl.Script == nil {
		return nil
	}
	switch {
	case len(pl.workflow.Each) > 0, pl.workflow.Count > 0, len(pl.workflow.Command) > 0:
		return exit.Usagef("run: --each, --count and a command after -- are not for scripts: a script makes its own calls")
	}
	if err := OpenLibrary(p).Gather(pl.Script); err != nil {
		return err
	}
	return Vet(ctx, p, pl)
}

// Vet refuses a script that is none, and arguments that it does not take.
func Vet(ctx context.Context, p *cmdline.Place, pl *Plan) error {
	out, err := OpenLibrary(p).Read(ctx, pl.Script)
	if err != nil {
		return err
	}
	pl.meta, pl.exports, pl.uses = out.Meta, out.Exports, out.Uses
	return library.CheckArgs(pl.says(), pl.meta, pl.Script.Args)
}

// TrustScript adds a script that came with the repository, and its lib and
// types, to the items that need an approval.
func (pl *Plan) TrustScript(brought []string) {
	if pl.Script != nil {
		file := library.File{Script: pl.Script, Paths: pl.lies, Nested: pl.nested}
		pl.Wants = append(pl.Wants, file.Items(brought)...)
	}
}

// OpenLibrary is the workflows of the repository.
func OpenLibrary(p *cmdline.Place) *library.Library {
	return &library.Library{Project: &p.Project, Self: p.Env.Self}
}
