package configcmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/plan"
	"agentswarm/swarm/config"
	"agentswarm/swarm/environ"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/isolation"
	"agentswarm/swarm/project"
)

// NewConfig returns the command config.
func NewConfig(env cmdline.Env) *cli.Command {
	return &cli.Command{
		Name:  "config",
		Usage: "show, change or check the configuration",
		Description: `Up to three files make the configuration: .swarm/config.toml of the repository, your
own .swarm/config.local.toml beside it, and your configuration for all repositories.

Examples:
  swarm config show --origin
  swarm config set limits.jobs 20
  swarm config validate
  swarm config schema > config.schema.json`,
		Subcommands: []*cli.Command{
			newConfigShowCommand(env), newConfigPathCommand(env), newConfigEditCommand(env), newConfigSetCommand(env),
			newConfigValidateCommand(env), newConfigSchemaCommand(env),
		},
	}
}

func newConfigShowCommand(env cmdline.Env) *cli.Command {
	return &cli.Command{
		Name:  "show",
		Usage: "print the configuration in force",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "origin", Usage: "print the source of each key"},
			cmdline.JSONFlag(),
		},
		Description: `Prints every key with the value that holds after all files, and the variables
SWARM_SANDBOX, SWARM_BACKEND and SWARM_PASS_ENV over them, defaults filled in, as a
configuration file. Values of variables that look like credentials are
hidden.

Examples:
  swarm config show
  swarm config show --origin | grep -v 'default$'
  swarm config show --json`,
		Action: func(c *cli.Context) error { return configShowAction(c, env) },
	}
}

func newConfigValidateCommand(env cmdline.Env) *cli.Command {
	return &cli.Command{
		Name:      "validate",
		Usage:     "report all mistakes in the configuration",
		ArgsUsage: "[FILE…]",
		Flags:     []cli.Flag{cmdline.JSONFlag()},
		Description: `Reads the configuration files that count here, or those given, and prints a line
for each mistake: file, line, key, what is wrong and what would be right. It
ends with exit code 2 if there is any.

Examples:
  swarm config validate
  swarm config validate .swarm/config.toml
  swarm config validate --json`,
		Action: func(c *cli.Context) error { return configValidateAction(c, env) },
	}
}

func newConfigSchemaCommand(env cmdline.Env) *cli.Command {
	return &cli.Command{
		Name:  "schema",
		Usage: "print the JSON Schema of a configuration file",
		Description: `Prints the JSON Schema (draft 2020-12) of a configuration file, for editors that
complete keys and mark mistakes.

Examples:
  swarm config schema > config.schema.json`,
		Action: func(c *cli.Context) error {
			if _, err := cmdline.Arguments(c, 0, 0); err != nil {
				return err
			}
			text, err := config.Schema()
			if err != nil {
				return err
			}
			_, err = env.Stdout.Write(text)
			return err
		},
	}
}

// configObject is swarm.config/1, described in docs/json.md.
type configObject struct {
	Schema   string          `json:"schema"`
	Settings []settingObject `json:"settings"`
}

type settingObject struct {
	Key    string `json:"key"`
	Value  any    `json:"value,omitempty"`
	Layer  string `json:"layer"`
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	Hidden bool   `json:"hidden,omitempty"`
}

func configShowAction(c *cli.Context, env cmdline.Env) error {
	if _, err := cmdline.Arguments(c, 0, 0); err != nil {
		return err
	}
	if c.Bool("origin") && c.Bool("json") {
		return exit.Usagef("config show: --json says where each key comes from; leave --origin out")
	}
	p, err := openConfigPlace(c, env)
	if err != nil {
		return err
	}
	conf, err := p.LoadConfig(c.Context, "HEAD")
	if err != nil {
		return err
	}
	settings := conf.Settings(config.SettingsRequest{
		Jobs:   cmdline.DefaultJobs(env),
		Secret: environ.Credential,
	})
	if !c.Bool("json") {
		return config.WriteTOML(env.Stdout, settings, c.Bool("origin"))
	}
	o := configObject{Schema: "swarm.config/1", Settings: []settingObject{}}
	for _, s := range settings {
		shown := settingObject{Key: s.Key(), Value: s.Value, Layer: "default", Hidden: s.Hidden}
		if s.Origin.Layer != config.LayerUnset {
			shown.Layer, shown.File, shown.Line = s.Origin.Layer.String(), s.Origin.File, s.Origin.Line
		}
		o.Settings = append(o.Settings, shown)
	}
	return cmdline.PrintJSON(env.Stdout, o)
}

// configCheckObject is swarm.configcheck/1, described in docs/json.md.
type configCheckObject struct {
	Schema string          `json:"schema"`
	OK     bool            `json:"ok"`
	Files  []checkedConfig `json:"files"`
}

type checkedConfig struct {
	File     string          `json:"file"`
	OK       bool            `json:"ok"`
	Problems []configProblem `json:"problems,omitempty"`
	Ignored  []configProblem `json:"ignored,omitempty"` // settings that do not count

	lines []string // the problems as a person reads them
	notes []string // the settings that do not count, for a person
}

type configProblem struct {
	Line    int    `json:"line,omitempty"`
	Key     string `json:"key,omitempty"`
	Message string `json:"message"`
}

// add records a problem. A file has the name that its command gave it.
func (f *checkedConfig) add(e config.Error) {
	e.File = f.File
	f.OK = false
	f.Problems = append(f.Problems, configProblem{e.Line, e.Key, e.Reason})
	f.lines = append(f.lines, e.Error())
}

// ignore records settings that do not count; they are no mistake.
func (f *checkedConfig) ignore(found []config.Error) {
	for _, e := range found {
		e.File = f.File
		f.Ignored = append(f.Ignored, configProblem{e.Line, e.Key, e.Reason})
		f.notes = append(f.notes, e.Error())
	}
}

// unreadable notes why a file could not be read.
func (f *checkedConfig) unreadable(err error) {
	var bad *config.Error
	if errors.As(err, &bad) {
		f.add(*bad)
		return
	}
	f.add(config.Error{Reason: err.Error()})
}

func configValidateAction(c *cli.Context, env cmdline.Env) error {
	args, err := cmdline.Arguments(c, 0, -1)
	if err != nil {
		return err
	}
	o := configCheckObject{Schema: "swarm.configcheck/1", OK: true, Files: []checkedConfig{}}
	if len(args) > 0 {
		for _, name := range args {
			o.Files = append(o.Files, checkConfigFile(cmdline.Invoked(c).Dir, name))
		}
	} else if o.Files, err = checkConfigHere(c, env); err != nil {
		return err
	}
	for _, f := range o.Files {
		o.OK = o.OK && f.OK
	}
	if c.Bool("json") {
		err = cmdline.PrintJSON(env.Stdout, o)
	} else {
		err = printConfigCheck(env, o)
	}
	if err == nil && !o.OK {
		return &exit.Error{Code: exit.Usage}
	}
	return err
}

func printConfigCheck(env cmdline.Env, o configCheckObject) error {
	if len(o.Files) == 0 {
		_, err := fmt.Fprintf(env.Stderr, "there is no configuration file; `%s init` writes one\n", env.Calls)
		return err
	}
	for _, f := range o.Files {
		lines := f.lines
		if f.OK {
			lines = []string{"ok: " + f.File}
		}
		for _, line := range append(slices.Clone(lines), f.notes...) {
			if _, err := fmt.Fprintln(env.Stdout, termtext.Line(line)); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkConfigFile reads a file that the command line names. A file with the
// name of a repository's configuration is checked by the rules for those, any
// other by the rules for a user's own.
func checkConfigFile(dir, name string) checkedConfig {
	checked := checkedConfig{File: name, OK: true}
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, name)
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		checked.add(config.Error{Reason: "there is no such file"})
		return checked
	}
	layer := config.User
	switch slash := filepath.ToSlash(path); {
	case strings.HasSuffix(slash, "/"+project.ConfigName):
		layer = config.Project
	case strings.HasSuffix(slash, "/"+project.LocalConfigName):
		layer = config.Local
	}
	source, err := config.ReadFile(layer, path)
	if err != nil {
		checked.unreadable(err)
		return checked
	}
	for _, e := range config.Check(source) {
		checked.add(*e)
	}
	checked.ignore(source.Ignored())
	return checked
}

// checkConfigHere reads the existing files of all layers. It also checks facts
// that need all files or this place: that the default agent exists, and that
// paths open nothing. It lists a variable only if the variable has a problem.
func checkConfigHere(c *cli.Context, env cmdline.Env) ([]checkedConfig, error) {
	p, err := openConfigPlace(c, env)
	if err != nil {
		return nil, err
	}
	all, sources, valid := []checkedConfig{}, []config.Source{}, true
	for _, f := range p.ConfigFiles() {
		source, there, err := p.ReadConfig(c.Context, f, "HEAD")
		if !there {
			continue
		}
		checked := checkedConfig{File: f.Name, OK: true}
		if err != nil {
			checked.unreadable(err)
		}
		for _, e := range config.Check(source) {
			checked.add(*e)
		}
		sources, valid = append(sources, source), valid && checked.OK
		all = append(all, checked)
	}
	if !valid {
		for i, s := range sources {
			all[i].ignore(s.Ignored())
		}
	} else {
		conf, err := config.Load(sources...)
		if err != nil {
			return all, err
		}
		checkTogether(p, conf, all)
	}
	var bad *config.Error
	if none, err := config.Load(); err != nil {
		return all, err
	} else if _, err := none.Over(p.Lookup); errors.As(err, &bad) {
		checked := checkedConfig{File: bad.File}
		checked.add(*bad)
		all = append(all, checked)
	}
	return all, nil
}

// checkTogether records in each file the problems that arise only with other
// files, or here.
func checkTogether(p *cmdline.Place, conf *config.Config, all []checkedConfig) {
	var wrong []*config.Error
	if p.Repo != nil {
		wrong = conf.Misplaced(isolation.Surroundings(&p.Project))
	}
	var unknown *config.UnknownAgentError
	if _, err := conf.Agent(""); conf.DefaultAgent != "" && errors.As(err, &unknown) {
		wrong = append(wrong, &config.Error{
			File: unknown.Origin.File, Line: unknown.Origin.Line, Key: "run.default_agent", Reason: unknown.Reason(),
		})
	}
	wrong = append(wrong, plan.WrongRoles(p.Env, conf)...)
	ignored := conf.Ignored()
	for i := range all {
		all[i].ignore(slices.DeleteFunc(slices.Clone(ignored), func(e config.Error) bool { return e.File != all[i].File }))
		for _, e := range wrong {
			if all[i].File == e.File {
				all[i].add(*e)
			}
		}
	}
}
