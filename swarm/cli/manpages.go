package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/fspath"
	"agentswarm/internal/termtext"
	"agentswarm/swarm/cli/argv"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/nearest"
)

func manAction(c *cli.Context, env cmdline.Env) error {
	args, err := cmdline.Arguments(c, 0, 1)
	if err != nil {
		return err
	}
	switch {
	case c.IsSet("dir") && len(args) > 0:
		return exit.Usagef("man: --dir writes all pages; leave the command out")
	case c.IsSet("dir"):
		return writePages(c.App, fspath.From(cmdline.Invoked(c).Dir, c.String("dir")))
	case len(args) == 0:
		return writeMan(env.Stdout, c.App)
	}
	name := strings.TrimPrefix(args[0], cmdline.Program+"-") // as its page is called
	cmd := argv.FindCommand(c.App.Commands, name)
	if cmd == nil || cmd.Hidden {
		e := &exit.UsageError{Text: "man: unknown command " + termtext.Quote(args[0])}
		if near := nearest.Name(name, cmdline.VisibleNames(c.App.Commands)); near != "" {
			e.Text += ", did you mean " + near + "?"
		}
		return e
	}
	return writeManOf(env.Stdout, c.App, cmd)
}

// writePages writes the page of the program and the pages of its commands.
func writePages(app *cli.App, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the folder of the manual pages: %w", err)
	}
	write := func(name string, page func(io.Writer) error) error {
		var b bytes.Buffer
		if err := page(&b); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name+".1"), b.Bytes(), 0o644); err != nil {
			return fmt.Errorf("write a manual page: %w", err)
		}
		return nil
	}
	if err := write(app.Name, func(w io.Writer) error { return writeMan(w, app) }); err != nil {
		return err
	}
	for _, cmd := range app.Commands {
		if cmd.Hidden {
			continue
		}
		if err := write(app.Name+"-"+cmd.Name, func(w io.Writer) error { return writeManOf(w, app, cmd) }); err != nil {
			return err
		}
	}
	return nil
}
