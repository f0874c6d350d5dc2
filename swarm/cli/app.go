package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/fspath"
	"agentswarm/swarm/cli/agentcmd"
	"agentswarm/swarm/cli/argv"
	"agentswarm/swarm/cli/benchcmd"
	"agentswarm/swarm/cli/builtincmd"
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
	"agentswarm/swarm/cli/variantscmd"
	"agentswarm/swarm/cli/workflowcmd"
	"agentswarm/swarm/early"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/proc"
)

// builtin lists the commands of the product by the job they are for, in the
// order of the help.
func builtin(env cmdline.Env) []*cli.Command {
	return slices.Concat(
		job("Start", runcmd.NewRun(env), runcmd.NewResume(env), workflowcmd.New(env)),
		job("Watch", readOnly(follow.NewStatusCommand(env)), readOnly(follow.NewLsCommand(env)), readOnly(inspect.NewShowCommand(env)),
			readOnly(inspect.NewLogsCommand(env)), readOnly(inspect.NewUsageCommand(env)), readOnly(follow.NewWaitCommand(env)), readOnly(follow.NewWatchCommand(env)), enter.NewAttachCommand(env)),
		job("Review and land", readOnly(inspect.NewReviewCommand(env)), readOnly(inspect.NewDiffCommand(env)), readOnly(inspect.NewReportCommand(env)),
			inspect.NewAcceptCommand(env), inspect.NewRejectCommand(env), inspect.NewRemarkCommand(env), runcmd.NewRetry(env),
			landcmd.NewMergeCommand(env, runcmd.NewAttempts), landcmd.NewApplyCommand(env), inspect.NewPRCommand(env), enter.NewShellCommand(env), enter.NewExecCommand(env)),
		job("Answer", readOnly(follow.NewInboxCommand(env)), follow.NewAnswerCommand(env), follow.NewApproveCommand(env), follow.NewDenyCommand(env), follow.NewSendCommand(env)),
		job("Undo and tidy", landcmd.NewUndoCommand(env), follow.NewCancelCommand(env), cleancmd.NewRmCommand(env), cleancmd.NewGcCommand(env)),
		job("Set up", configcmd.NewInit(env), configcmd.NewConfig(env), configcmd.NewDoctor(env), configcmd.NewSetup(env), configcmd.NewAgents(env),
			configcmd.NewModels(env), configcmd.NewRoles(env), variantscmd.New(env), riskcmd.New(env), benchcmd.New(env),
			newCompletionCommand(env), newManCommand(env), newVersionCommand(env)),
		job("For machines", agentcmd.NewHook(env), agentcmd.NewMCP(env), builtincmd.New(env), newCompleteCommand(env)),
	)
}

// job puts commands into a group of the help.
func job(title string, commands ...*cli.Command) []*cli.Command {
	for _, c := range commands {
		c.Category = title
	}
	return commands
}

// readOnly declares that a command only reads. It leaves a run whose owner died
// as it is, and names the command that recovers it.
func readOnly(c *cli.Command) *cli.Command {
	c.Before = func(c *cli.Context) error {
		c.Context = context.WithValue(c.Context, cmdline.ReadsKey{}, true)
		return nil
	}
	return c
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
	inv, err := argv.Parse(app, env.Args)
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

// newApp makes the program with the texts of its help.
func newApp(env cmdline.Env, commands []*cli.Command) *cli.App {
	app := argv.NewApp(env, commands)
	app.Usage = "one instruction, a hundred coding agents, one repository"
	app.Description = `Examples:
  swarm run --each 'packages/*/' -- gofmt -w {item}
  swarm status
  swarm merge --into landed --verify 'go test ./...'
  swarm help run`
	return app
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
	to := fspath.From(dir, inv.Dir)
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

// appearance is the environment with --color over it: always and never stand for
// the variables of the same meaning.
type appearance struct {
	getenv func(string) string
	color  string // empty until the command line is read, and without --color
}

func (a *appearance) lookup(name string) string {
	switch {
	case a.color == "always" && name == "NO_COLOR":
		return ""
	case a.color == "always" && name == "CLICOLOR_FORCE", a.color == "never" && name == "NO_COLOR":
		return "1"
	default:
		return a.getenv(name)
	}
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
