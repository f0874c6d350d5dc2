package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"agentswarm/swarm/cli/cleancmd"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/configcmd"
	"agentswarm/swarm/cli/enter"
	"agentswarm/swarm/cli/follow"
	"agentswarm/swarm/cli/inspect"
	"agentswarm/swarm/cli/landcmd"
	"agentswarm/swarm/cli/riskcmd"
	"agentswarm/swarm/cli/runcmd"
	"agentswarm/swarm/cli/selection"
	"agentswarm/swarm/early"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/proc"
)

// builtin lists the commands of the product by the job they are for, in the
// order of the help.
func builtin(env cmdline.Env) []*cli.Command {
	return slices.Concat(
		job("Start", runcmd.NewRun(env), runcmd.NewResume(env), newWorkflowCommand(env)),
		job("Watch", readOnly(follow.NewStatusCommand(env)), readOnly(follow.NewLsCommand(env)), readOnly(inspect.NewShowCommand(env)),
			readOnly(inspect.NewLogsCommand(env)), readOnly(inspect.NewUsageCommand(env)), readOnly(follow.NewWaitCommand(env)), readOnly(follow.NewWatchCommand(env)), enter.NewAttachCommand(env)),
		job("Review and land", readOnly(inspect.NewReviewCommand(env)), readOnly(inspect.NewDiffCommand(env)), readOnly(inspect.NewReportCommand(env)),
			inspect.NewAcceptCommand(env), inspect.NewRejectCommand(env), inspect.NewRemarkCommand(env), runcmd.NewRetry(env),
			landcmd.NewMergeCommand(env, runcmd.NewAttempts), landcmd.NewApplyCommand(env), inspect.NewPRCommand(env), enter.NewShellCommand(env), enter.NewExecCommand(env)),
		job("Answer", readOnly(follow.NewInboxCommand(env)), follow.NewAnswerCommand(env), follow.NewApproveCommand(env), follow.NewDenyCommand(env), follow.NewSendCommand(env)),
		job("Undo and tidy", landcmd.NewUndoCommand(env), follow.NewCancelCommand(env), cleancmd.NewRmCommand(env), cleancmd.NewGcCommand(env)),
		job("Set up", configcmd.NewInit(env), configcmd.NewConfig(env), configcmd.NewDoctor(env), configcmd.NewSetup(env), configcmd.NewAgents(env),
			configcmd.NewModels(env), configcmd.NewRoles(env), newVariantsCommand(env), riskcmd.New(env), newBenchCommand(env),
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

// runLine is Main for a command that types another.
func runLine(ctx context.Context, env cmdline.Env) int { return Main(ctx, env) }

// Main runs the command that env.Args names, built in or given, and returns the
// exit code. Every error ends here. No other function turns an error into text
// and an exit code.
func Main(ctx context.Context, env cmdline.Env, commands ...*cli.Command) int {
	out := &cmdline.Sink{Writer: env.Stdout}
	env.Stdout = out
	if env.Getenv == nil {
		env.Getenv = func(string) string { return "" }
	}
	if env.Calls == "" {
		env.Calls = cmdline.Program
	}
	look := &appearance{getenv: env.Getenv}
	env.Getenv = look.lookup
	env.Over = ctx.Done()
	if env.Main == nil {
		env.Main = runLine
	}
	env.Keeper = &proc.Keeper{Binary: env.Self, Args: []string{early.Keep}}
	defer env.Keeper.Close() // all that it kept has been waited for
	app := newApp(env, append(builtin(env), commands...))
	inv, err := normalize(app, env.Args)
	if err == nil {
		look.color = inv.Color
		out.Filter(ctx, inv.JQ)
		err = perform(ctx, env, app, inv)
		if none, ok := errors.AsType[*selection.NoWorkError](err); ok {
			err = none.Print(env, inv.JSON)
		}
	}
	if err = out.End(err); err == nil {
		return int(exit.OK)
	}
	err = signalled(ctx, err)
	if exit.Silent(err) {
		return int(exit.CodeOf(err))
	}
	if inv.JSON && inv.JQ == nil && out.Written() == 0 && out.Failure() == nil {
		// --json promises one object. A failure to print it changes nothing:
		// the exit code is already that of an error.
		_ = cmdline.PrintJSON(out, newRefusal(err))
	}
	cmdline.PrintError(env, err)
	return int(exit.CodeOf(err))
}

// newApp builds the parser. Help and version are not urfave's: its flags for
// them are package variables, which parallel runs would write to.
func newApp(env cmdline.Env, commands []*cli.Command) *cli.App {
	prepare(commands)
	return &cli.App{
		Name:     cmdline.Program,
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
	return &exit.UsageError{Text: fmt.Sprintf("%s: %v", c.Command.Name, err)}
}

// perform carries out a normalised command line.
func perform(ctx context.Context, env cmdline.Env, app *cli.App, inv *cmdline.Invocation) error {
	if inv.Help {
		return writeHelp(env.Stdout, helpRequest{app: app, path: inv.Path, short: inv.Short})
	}
	dir, err := startDir(env.Dir, inv)
	if err != nil {
		return err
	}
	inv.TypedDir, inv.Dir = inv.Dir, dir
	app.Metadata = map[string]any{cmdline.InvocationKey: inv}
	return app.RunContext(ctx, inv.Argv)
}

// startDir returns the folder to run in: the folder of -C, else the current
// folder.
func startDir(dir string, inv *cmdline.Invocation) (string, error) {
	if !inv.HasDir {
		return dir, nil
	}
	if inv.Dir == "" {
		return "", exit.Usagef("-C needs a folder, not an empty word")
	}
	to := inv.Dir
	if !filepath.IsAbs(to) {
		to = filepath.Join(dir, to)
	}
	switch stat, err := os.Stat(to); {
	case errors.Is(err, os.ErrNotExist):
		return "", exit.Usagef("-C %s: there is no such folder", inv.Dir)
	case err != nil:
		return "", exit.Usagef("-C: %v", err)
	case !stat.IsDir():
		return "", exit.Usagef("-C %s: not a folder", inv.Dir)
	}
	return filepath.Clean(to), nil
}

// signalled replaces the bare news of a cancelled context by the signal that
// cancelled it.
func signalled(ctx context.Context, err error) error {
	var sig *exit.SignalError
	if errors.Is(err, context.Canceled) && errors.As(context.Cause(ctx), &sig) {
		return sig
	}
	return err
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
		Kind: exit.KindOf(err), Message: err.Error(), Hint: exit.HintOf(err),
	}}
}

func newVersionCommand(env cmdline.Env) *cli.Command {
	return &cli.Command{
		Name:  "version",
		Usage: "print the version of this program",
		Flags: []cli.Flag{cmdline.JSONFlag()},
		Description: `Prints the version, the Go release that built it and the system it runs on.

Examples:
  swarm version
  swarm version --json`,
		Action: func(c *cli.Context) error {
			if _, err := cmdline.Arguments(c, 0, 0); err != nil {
				return err
			}
			v := cmdline.BuildVersion()
			if c.Bool("json") {
				return cmdline.PrintJSON(env.Stdout, v)
			}
			_, err := fmt.Fprintf(env.Stdout, "%s %s (%s, %s)\n",
				cmdline.Program, v.Version, v.Go, v.System)
			return err
		},
	}
}
