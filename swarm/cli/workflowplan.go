package cli

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

// scriptFlags are the flags of run that are about scripts.
func scriptFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "eval", Aliases: []string{"e"}, Usage: "run the script `CODE`"},
		&cli.StringFlag{Name: "workflow", Usage: "run the saved workflow `NAME`"},
		&cli.StringFlag{Name: "args", Usage: "args of the script: `JSON`, @FILE, or - for standard input"},
	}
}

// readScript reads the script that the flags name, if they name one.
func (pl *plan) readScript(c *cli.Context, p *place, args []string) (found bool, err error) {
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
		pl.script.Dispatched = p.Env.Dispatched
		return true, nil
	}
	path, err := p.library().SavedFile("run: --workflow", c.String("workflow"))
	if err != nil {
		return false, err
	}
	return true, pl.readScriptFile(p, p.library().Shown(path), path)
}

// readScriptFile reads the script of a file.
func (pl *plan) readScriptFile(p *place, name, path string) error {
	file, err := p.library().ReadFile(pl.says(), name, path)
	if file != nil {
		pl.script, pl.lies, pl.nested = file.Script, file.Paths, file.Nested
	}
	return err
}

func (pl *plan) takeScript(name, text string) (err error) {
	pl.script, err = library.New(pl.says(), name, text)
	return err
}

// says is the command that messages name.
func (pl *plan) says() string { return cmp.Or(pl.verb, "run") }

// readArgs reads what the script is given.
func (pl *plan) readArgs(c *cli.Context, p *place) error {
	if !c.IsSet("args") {
		return nil
	}
	if pl.script == nil {
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
		pl.input = all
		text, from = string(all), "standard input"
	}
	if len(text) > maxArgs {
		return exit.Usagef("%s: --args: what a script is given may be %s long", pl.says(), termtext.Bytes(maxArgs))
	}
	if !json.Valid([]byte(text)) {
		return exit.Usagef("%s: --args: %s is not JSON; a text is JSON in quotes: --args '\"text\"'", pl.says(), termtext.Line(from))
	}
	pl.script.Args = json.RawMessage(strings.TrimSpace(text))
	return nil
}

// maxArgs bounds what a script is given, in bytes: it is recorded with the run.
const maxArgs = 16 << 20

// checkScript refuses a script that is none, and arguments it does not take,
// before anything starts.
func (p *place) checkScript(ctx context.Context, pl *plan) error {
	if pl.script == nil {
		return nil
	}
	switch {
	case len(pl.workflow.Each) > 0, pl.workflow.Count > 0, len(pl.workflow.Command) > 0:
		return exit.Usagef("run: --each, --count and a command after -- are not for scripts: a script makes its own calls")
	}
	if err := p.library().Gather(pl.script); err != nil {
		return err
	}
	return p.vet(ctx, pl)
}

// vet refuses a script that is none, and arguments that it does not take.
func (p *place) vet(ctx context.Context, pl *plan) error {
	out, err := p.library().Read(ctx, pl.script)
	if err != nil {
		return err
	}
	pl.meta, pl.exports, pl.uses = out.Meta, out.Exports, out.Uses
	return library.CheckArgs(pl.says(), pl.meta, pl.script.Args)
}

// trustScript adds a script that came with the repository, and its lib and
// types, to what needs an approval.
func (pl *plan) trustScript(brought []string) {
	if pl.script != nil {
		file := library.File{Script: pl.script, Paths: pl.lies, Nested: pl.nested}
		pl.wants = append(pl.wants, file.Items(brought)...)
	}
}
