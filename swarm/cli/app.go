package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/jq"
	"agentswarm/swarm/agent/kinds"
	"agentswarm/swarm/early"
	"agentswarm/swarm/proc"
	"agentswarm/swarm/store"
)

// program is what commands are called by in usage lines and messages.
const program = "swarm"

// Env is everything a command line may know about the outside.
type Env struct {
	Args           []string  // the words after the program's name
	Stdin          io.Reader // required
	Stdout, Stderr io.Writer // required
	Getenv         func(string) string
	Environ        []string // what children may be given
	Path           string   // as it was given; Environ's is without guards
	Dir            string   // required: the current folder, absolute
	Self           string   // the running binary, for supervisors
	Calls          string   // how the user calls us, for commands to type

	// Step, where set, is called between the steps of what is written to
	// disk: each record of a journal, each part of making, capturing and
	// removing a workspace. Tests end the process or its children there.
	Step func(name string) error
	// Began, where set, is told of each run that a command begins.
	Began func(*store.Run)
	// Kinds, where set, are the kinds of agents there are, in place of those of
	// this version.
	Kinds kinds.List
	// Unhurried has a shell wait for all its candidates, however long they take:
	// tests of what they are run on machines that have other things to do.
	Unhurried bool
	// Available, where set, is how much memory new programs can have, in place of
	// what this machine tells: tests of several agents at once are run on machines
	// that hold much else.
	Available func() int64
	// Dispatched is set where the script of a run was handed in by a model of
	// another harness.
	Dispatched bool

	keeper *proc.Keeper    // one for each command line; started when needed
	quiet  bool            // no progress is shown
	over   <-chan struct{} // closed when the command is to end; nil: never
}

// builtin lists the commands of the product by the job they are for, in the
// order of the help.
func builtin(env Env) []*cli.Command {
	return slices.Concat(
		job("Start", newRunCommand(env), newResumeCommand(env), newWorkflowCommand(env)),
		job("Watch", readOnly(newStatusCommand(env)), readOnly(newLsCommand(env)), readOnly(newShowCommand(env)),
			readOnly(newLogsCommand(env)), readOnly(newUsageCommand(env)), readOnly(newWaitCommand(env)), readOnly(newWatchCommand(env)), newAttachCommand(env)),
		job("Review and land", readOnly(newReviewCommand(env)), readOnly(newDiffCommand(env)), readOnly(newReportCommand(env)),
			newAcceptCommand(env), newRejectCommand(env), newRemarkCommand(env), newRetryCommand(env),
			newMergeCommand(env), newApplyCommand(env), newPRCommand(env), newShellCommand(env), newExecCommand(env)),
		job("Answer", readOnly(newInboxCommand(env)), newAnswerCommand(env), newApproveCommand(env), newDenyCommand(env), newSendCommand(env)),
		job("Undo and tidy", newUndoCommand(env), newCancelCommand(env), newRmCommand(env), newGcCommand(env)),
		job("Set up", newInitCommand(env), newConfigCommand(env), newDoctorCommand(env), newSetupCommand(env), newAgentsCommand(env),
			newModelsCommand(env), newRolesCommand(env), newVariantsCommand(env), newRiskCommand(env), newBenchCommand(env),
			newCompletionCommand(env), newManCommand(env), newVersionCommand(env)),
		job("For machines", newHookCommand(env), newMCPCommand(env), newBuiltinCommand(env), newCompleteCommand(env)),
	)
}

// job puts commands into a group of the help.
func job(title string, commands ...*cli.Command) []*cli.Command {
	for _, c := range commands {
		c.Category = title
	}
	return commands
}

// Main runs the command that env.Args names, of the built-in ones and those
// given, and returns the exit code. Every error ends here: this is the one
// place where an error becomes text and a code.
func Main(ctx context.Context, env Env, commands ...*cli.Command) int {
	out := &sink{w: env.Stdout}
	env.Stdout = out
	if env.Getenv == nil {
		env.Getenv = func(string) string { return "" }
	}
	if env.Calls == "" {
		env.Calls = program
	}
	look := &appearance{getenv: env.Getenv}
	env.Getenv = look.lookup
	env.over = ctx.Done()
	env.keeper = &proc.Keeper{Binary: env.Self, Args: []string{early.Keep}}
	defer env.keeper.Close() // all that it kept has been waited for
	app := newApp(env, append(builtin(env), commands...))
	inv, err := normalize(app, env.Args)
	if err == nil {
		look.color = inv.color
		out.filter(ctx, inv.jq)
		err = perform(ctx, env, app, inv)
		if none, ok := errors.AsType[*noWorkError](err); ok {
			err = none.print(env, inv.json)
		}
	}
	if err = out.end(err); err == nil {
		return int(CodeOK)
	}
	err = signalled(ctx, err)
	if silent(err) {
		return int(codeOf(err))
	}
	if inv.json && inv.jq == nil && out.written() == 0 && out.failure() == nil {
		// The one object that --json promises. A failure to print it changes
		// nothing: the code is already an error's.
		_ = printJSON(out, newRefusal(err))
	}
	complain(env, err)
	return int(codeOf(err))
}

// newApp builds the parser. Help and version are not urfave's: its flags for
// them are package variables, which parallel runs would write to.
func newApp(env Env, commands []*cli.Command) *cli.App {
	prepare(commands)
	return &cli.App{
		Name:     program,
		Usage:    "one instruction, a hundred coding agents, one repository",
		Commands: commands,
		Flags:    globalFlags(),
		Description: `Examples:
  swarm run --each 'packages/*/' -- gofmt -w {item}
  swarm status
  swarm merge --into landed --verify 'go test ./...'
  swarm help run`,
		HideHelp:                  true,
		HideHelpCommand:           true,
		HideVersion:               true,
		DisableSliceFlagSeparator: true,
		OnUsageError:              onUsageError,
		ExitErrHandler:            func(*cli.Context, error) {},
		Reader:                    env.Stdin,
		Writer:                    env.Stdout,
		ErrWriter:                 env.Stderr,
		Compiled:                  time.Unix(0, 0), // else it looks for a file
	}
}

// prepare gives every command the settings that all commands share.
func prepare(commands []*cli.Command) {
	for _, c := range commands {
		c.HideHelp, c.HideHelpCommand = true, true
		c.OnUsageError = onUsageError
		for _, f := range c.Flags {
			if s, ok := f.(*cli.StringSliceFlag); ok {
				s.KeepSpace = true // a file name may begin with a blank
			}
		}
		prepare(c.Subcommands)
	}
}

func onUsageError(c *cli.Context, err error, _ bool) error {
	return &UsageError{Text: fmt.Sprintf("%s: %v", c.Command.Name, err)}
}

// perform carries out one normalised command line.
func perform(ctx context.Context, env Env, app *cli.App, inv *invocation) error {
	if inv.help {
		return writeHelp(env.Stdout, helpRequest{app: app, path: inv.path, short: inv.short})
	}
	dir, err := startDir(env.Dir, inv)
	if err != nil {
		return err
	}
	inv.typedDir, inv.dir = inv.dir, dir
	app.Metadata = map[string]any{invocationKey: inv}
	return app.RunContext(ctx, inv.argv)
}

// startDir is the folder to run in: the current one, or what -C says.
func startDir(dir string, inv *invocation) (string, error) {
	if !inv.hasDir {
		return dir, nil
	}
	if inv.dir == "" {
		return "", usagef("-C needs a folder, not an empty word")
	}
	to := inv.dir
	if !filepath.IsAbs(to) {
		to = filepath.Join(dir, to)
	}
	switch stat, err := os.Stat(to); {
	case errors.Is(err, os.ErrNotExist):
		return "", usagef("-C %s: there is no such folder", inv.dir)
	case err != nil:
		return "", usagef("-C: %v", err)
	case !stat.IsDir():
		return "", usagef("-C %s: not a folder", inv.dir)
	}
	return filepath.Clean(to), nil
}

// signalled replaces the bare news of a cancelled context by the signal that
// cancelled it.
func signalled(ctx context.Context, err error) error {
	var sig *SignalError
	if errors.Is(err, context.Canceled) && errors.As(context.Cause(ctx), &sig) {
		return sig
	}
	return err
}

// complain tells a person what went wrong. A message may quote file names and
// agents; only its own line breaks reach the terminal, and lines after the
// first are indented, so that no quoted text can pass for a message of ours.
func complain(env Env, err error) {
	term := detect(env.Stderr, env.Getenv)
	first, rest, more := strings.Cut(err.Error(), "\n")
	text := term.paint(styleError, program+":") + " " + Printable(first) + "\n"
	if more {
		for line := range strings.SplitSeq(rest, "\n") {
			text += strings.TrimRight("  "+PrintableText(line), " ") + "\n"
		}
	}
	var about interface{ Excerpt() string }
	if errors.As(err, &about) && about.Excerpt() != "" {
		text += "  " + Printable(about.Excerpt()) + "\n"
	}
	if hint := hintOf(err); hint != "" {
		text += "hint: " + Printable(hint) + "\n"
	}
	// Nobody is left to be told that stderr is gone.
	_, _ = io.WriteString(env.Stderr, text)
}

// refusalObject is printed by --json in place of a result.
type refusalObject struct {
	Schema string      `json:"schema"`
	Error  refusalText `json:"error"`
}

type refusalText struct {
	Kind    string `json:"kind"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

func newRefusal(err error) refusalObject {
	return refusalObject{Schema: "swarm.error/1", Error: refusalText{
		Kind: kindOf(err), Message: err.Error(), Hint: hintOf(err),
	}}
}

// printJSON writes v as one line.
func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false) // patches and prompts are full of < and &
	return enc.Encode(v)
}

// invocation is one command line, put in order.
type invocation struct {
	path     []*cli.Command // the command, outermost first; empty for help
	argv     []string       // for App.Run, program name included
	after    []string       // what follows `--`, for commands that take it
	hasAfter bool           // a `--` was given to such a command
	dir      string         // the folder to work in
	typedDir string         // the value of -C
	hasDir   bool           // -C was given
	json     bool
	help     bool
	short    bool      // the help was asked for by -h
	color    string    // --color: auto, always, never, or empty
	jq       *jq.Query // --jq; nil for none
	noPager  bool      // --no-pager
}

// invocationKey is where App.Metadata keeps the invocation.
const invocationKey = "invocation"

// invoked is the command line that an action was started by: inv.dir is the
// folder to work in, inv.after what follows `--`.
func invoked(c *cli.Context) *invocation {
	return c.App.Metadata[invocationKey].(*invocation)
}

// arguments returns the arguments of a command that takes from least to most
// of them; a negative most sets no limit.
func arguments(c *cli.Context, least, most int) ([]string, error) {
	args := c.Args().Slice()
	switch name := commandPath(invoked(c).path); {
	case len(args) < least:
		e := &UsageError{Text: fmt.Sprintf("%s: an argument is missing; usage: %s %s %s",
			name, program, name, c.Command.ArgsUsage)}
		if slices.ContainsFunc(c.Command.Flags, func(f cli.Flag) bool { return f.Names()[0] == "failed" }) {
			e.Advice = fmt.Sprintf("name agents, or select them, as in %s %s --failed", program, name)
		}
		return nil, e
	case most == 0 && len(args) > 0:
		return nil, usagef("%s: takes no argument, but got %q", name, args[0])
	case most >= 0 && len(args) > most:
		return nil, usagef("%s: takes %s, but got one more: %q",
			name, Count(most, "argument", "arguments"), args[most])
	}
	return args, nil
}

// jsonFlag makes the flag that every command with a result has.
func jsonFlag() cli.Flag {
	return &cli.BoolFlag{Name: "json", Usage: "print one JSON object instead of text"}
}

// versionReport is what `swarm version --json` prints.
type versionReport struct {
	Schema  string `json:"schema"`
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	Go      string `json:"go"`
	System  string `json:"system"`
}

func newVersionCommand(env Env) *cli.Command {
	return &cli.Command{
		Name:  "version",
		Usage: "print the version of this program",
		Flags: []cli.Flag{jsonFlag()},
		Description: `Prints the version, the Go release that built it and the system it runs on.

Examples:
  swarm version
  swarm version --json`,
		Action: func(c *cli.Context) error {
			if _, err := arguments(c, 0, 0); err != nil {
				return err
			}
			v := buildVersion()
			if c.Bool("json") {
				return printJSON(env.Stdout, v)
			}
			_, err := fmt.Fprintf(env.Stdout, "%s %s (%s, %s)\n",
				program, v.Version, v.Go, v.System)
			return err
		},
	}
}

func buildVersion() versionReport {
	info, _ := debug.ReadBuildInfo()
	return versionOf(info)
}

// versionOf is the version that a build has: that of its module, else the
// commit it was made from.
func versionOf(info *debug.BuildInfo) versionReport {
	v := versionReport{
		Schema: "swarm.version/1", Version: "devel", Go: runtime.Version(),
		System: runtime.GOOS + "/" + runtime.GOARCH,
	}
	if info == nil {
		return v
	}
	dirty := ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			v.Commit = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "+dirty"
		}
	}
	switch tagged := info.Main.Version; {
	case tagged != "" && tagged != "(devel)":
		v.Version = tagged
	case v.Commit != "":
		v.Version = "devel-" + v.Commit[:min(12, len(v.Commit))] + dirty
	}
	return v
}
