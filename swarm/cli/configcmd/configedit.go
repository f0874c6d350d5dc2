package configcmd

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/fspath"
	"agentswarm/internal/terminal"
	"agentswarm/internal/termtext"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/config"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/proc"
	"agentswarm/swarm/project"
	"agentswarm/worktree/git"
)

// fileFlags choose a configuration file; without a flag it is the user's own.
func fileFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "local", Usage: "your file for this repository, .swarm/config.local.toml"},
		&cli.BoolFlag{Name: "project", Usage: "the file of the repository, .swarm/config.toml"},
	}
}

func newConfigPathCommand(env cmdline.Env) *cli.Command {
	return &cli.Command{
		Name:  "path",
		Usage: "print where the configuration files are",
		Flags: append(fileFlags(), cmdline.JSONFlag()),
		Description: `Prints the path of each configuration file that counts here, the one that wins
last, and whether it exists. With --local or --project it prints that path alone.

Examples:
  swarm config path
  swarm config path --local`,
		Action: func(c *cli.Context) error { return configPathAction(c, env) },
	}
}

func newConfigEditCommand(env cmdline.Env) *cli.Command {
	return &cli.Command{
		Name:  "edit",
		Usage: "open a configuration file in your editor, and check it",
		Flags: fileFlags(),
		Description: `Opens your own configuration file, or the one that a flag names, in the editor that
git uses: GIT_EDITOR, core.editor, VISUAL, EDITOR, else vi. A missing file is made
when the editor saves it. Afterwards the file is checked; with mistakes in it the
exit code is 2.

Examples:
  swarm config edit
  swarm config edit --local`,
		Action: func(c *cli.Context) error { return configEditAction(c, env) },
	}
}

func newConfigSetCommand(env cmdline.Env) *cli.Command {
	return &cli.Command{
		Name:      "set",
		Usage:     "set a key in a configuration file",
		ArgsUsage: "KEY VALUE",
		Flags:     append(fileFlags(), cmdline.JSONFlag()),
		Description: `Sets a key in your own configuration file, or in the one that a flag names.
Comments and the order of the file stay. A value that is valid TOML for the key is
taken as TOML, any other as a string. A value that the key does not allow is
refused, and the file stays as it is.

Examples:
  swarm config set limits.jobs 20
  swarm config set run.default_agent claude
  swarm config set workspace.verify 'go test ./...' --local`,
		Action: func(c *cli.Context) error { return configSetAction(c, env) },
	}
}

// openConfigPlace is openPlace for commands that also work in no repository: the
// user has a configuration anywhere.
func openConfigPlace(c *cli.Context, env cmdline.Env) (*cmdline.Place, error) {
	p, err := cmdline.Open(c, env)
	var none *git.NotRepoError
	if !errors.As(err, &none) || c.Bool("local") || c.Bool("project") {
		return p, err
	}
	p = cmdline.Without(env)
	p.Dir = cmdline.Invoked(c).Dir
	return p, nil
}

// chosenFile is the configuration file that the flags of a command name.
func chosenFile(p *cmdline.Place, c *cli.Context) (project.ConfigFile, error) {
	layer := config.User
	switch {
	case c.Bool("local") && c.Bool("project"):
		return project.ConfigFile{}, exit.Usagef("config %s: --local and --project exclude each other", c.Command.Name)
	case c.Bool("local"):
		layer = config.Local
	case c.Bool("project"):
		layer = config.Project
	}
	for _, f := range p.ConfigFiles() {
		if f.Layer == layer && f.Path != "" {
			return f, nil
		}
	}
	if layer == config.User {
		return project.ConfigFile{}, exit.Usagef("config %s: your configuration has no place: neither HOME nor XDG_CONFIG_HOME is set", c.Command.Name)
	}
	return project.ConfigFile{}, exit.Usagef("config %s: a bare repository has no such file", c.Command.Name)
}

// pathsObject is swarm.configpaths/1, described in docs/json.md.
type pathsObject struct {
	Schema string       `json:"schema"`
	Files  []pathObject `json:"files"`
}

type pathObject struct {
	Layer  string `json:"layer"`
	Path   string `json:"path"`
	Exists bool   `json:"exists"`
}

func configPathAction(c *cli.Context, env cmdline.Env) error {
	if _, err := cmdline.Arguments(c, 0, 0); err != nil {
		return err
	}
	p, err := openConfigPlace(c, env)
	if err != nil {
		return err
	}
	files := p.ConfigFiles()
	if c.Bool("local") || c.Bool("project") {
		f, err := chosenFile(p, c)
		if err != nil {
			return err
		}
		files = []project.ConfigFile{f}
	}
	o := pathsObject{Schema: "swarm.configpaths/1", Files: []pathObject{}}
	for _, f := range files {
		if f.Path != "" {
			o.Files = append(o.Files, pathObject{Layer: f.Layer.String(), Path: f.Path, Exists: fspath.Exists(f.Path)})
		}
	}
	switch {
	case c.Bool("json"):
		return cmdline.PrintJSON(env.Stdout, o)
	case c.Bool("local") || c.Bool("project"):
		_, err := fmt.Fprintln(env.Stdout, o.Files[0].Path)
		return err
	}
	t := terminal.Table{Columns: []terminal.Column{{Title: "LAYER"}, {Title: "EXISTS"}, {Title: "PATH"}}}
	for _, f := range o.Files {
		t.Row(f.Layer, cmdline.YesNo(&f.Exists), f.Path)
	}
	return t.Print(env.Stdout, 0)
}

func configEditAction(c *cli.Context, env cmdline.Env) error {
	if _, err := cmdline.Arguments(c, 0, 0); err != nil {
		return err
	}
	p, err := openConfigPlace(c, env)
	if err != nil {
		return err
	}
	if err := p.Personal("changing the configuration"); err != nil {
		return err
	}
	f, err := chosenFile(p, c)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(f.Path), 0o700); err != nil {
		return fmt.Errorf("make the folder of the configuration: %w", err)
	}
	editor, err := cmdline.Editor(p, c)
	if err != nil {
		return err
	}
	signals, giveBack := cmdline.TakeSignals()
	defer giveBack()
	code, err := proc.Foreground(proc.ForegroundRequest{
		Argv: []string{"sh", "-c", editor + ` "$@"`, "sh", f.Path}, Env: env.Environ, Dir: p.Dir, Signals: signals,
		Stdin: env.Stdin, Stdout: cmdline.Unwrapped(env.Stdout), Stderr: cmdline.Unwrapped(env.Stderr),
	})
	switch {
	case err != nil:
		return err
	case code != 0:
		return fmt.Errorf("the editor %s ended with exit code %d", editor, code)
	case !fspath.Exists(f.Path):
		return nil // it saved nothing
	}
	checked := checkConfigFile(p.Dir, f.Path)
	if err := printConfigCheck(env, configCheckObject{Files: []checkedConfig{checked}}); err != nil {
		return err
	}
	if !checked.OK {
		return &exit.Error{Code: exit.Usage}
	}
	return nil
}

// setObject is swarm.configset/1, described in docs/json.md.
type setObject struct {
	Schema string `json:"schema"`
	Key    string `json:"key"`
	File   string `json:"file"`
}

func configSetAction(c *cli.Context, env cmdline.Env) error {
	args, err := cmdline.Arguments(c, 2, 2)
	if err != nil {
		return err
	}
	p, err := openConfigPlace(c, env)
	if err != nil {
		return err
	}
	if err := p.Personal("changing the configuration"); err != nil {
		return err
	}
	f, err := chosenFile(p, c)
	if err != nil {
		return err
	}
	source, err := config.ReadFile(f.Layer, f.Path)
	if err != nil {
		return cmdline.Refused(err)
	}
	source.Name = f.Name
	text, err := config.Set(source, args[0], args[1])
	if err != nil {
		return cmdline.Refused(err)
	}
	if err := config.WriteFile(f.Path, text); err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}
	if c.Bool("json") {
		return cmdline.PrintJSON(env.Stdout, setObject{Schema: "swarm.configset/1", Key: args[0], File: f.Path})
	}
	_, err = fmt.Fprintf(env.Stdout, "set %s in %s\n", termtext.Line(args[0]), termtext.Line(f.Path))
	return err
}
