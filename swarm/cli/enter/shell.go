package enter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/fspath"
	"agentswarm/internal/terminal"
	"agentswarm/internal/termtext"
	"agentswarm/swarm/box"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/selection"
	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/copies"
	"agentswarm/swarm/early"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/event"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/isolation"
	"agentswarm/swarm/proc"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree"
	"agentswarm/worktree/git"
)

// aboutVisits is the part of the help that shell and exec have in common.
const aboutVisits = `While the agent runs, this is its own workspace: your changes become part of its
patch. Once it has ended, this is a copy of its result. Your changes there become a
patch with its own address, such as a3-1, for diff, merge and apply.`

// NewShellCommand returns the command `swarm shell`.
func NewShellCommand(env cmdline.Env) *cli.Command {
	return &cli.Command{
		Name:      "shell",
		Usage:     "open a shell in the workspace of an agent",
		ArgsUsage: "[AGENT]",
		Description: `Opens $SHELL in the workspace of an agent. ` + aboutVisits + `

Examples:
  swarm shell a3
  swarm shell k3x9q2/a3`,
		Action: func(c *cli.Context) error { return shellAction(c, env) },
	}
}

// NewExecCommand returns the command `swarm exec`.
func NewExecCommand(env cmdline.Env) *cli.Command {
	return &cli.Command{
		Name:      "exec",
		Usage:     "run a command in the workspace of an agent",
		ArgsUsage: "AGENT -- COMMAND [ARGUMENT…]",
		Description: `Runs one command in the workspace of an agent, and ends with its exit code.
` + aboutVisits + `

The command gets your environment without GIT_*, and with SWARM_WORKTREE, SWARM_ROOT,
SWARM_BASE, SWARM_RUN and SWARM_ITEM. Beside a live agent, which could read them,
variables that look like credentials are left out. Exit code 127: there is no such
command. Exit code 126: it cannot be run.

Examples:
  swarm exec a3 -- git status
  swarm exec k3x9q2/a3 -- make test`,
		Action: func(c *cli.Context) error { return execAction(c, env) },
	}
}

func shellAction(c *cli.Context, env cmdline.Env) error {
	v, err := OpenVisit(c, env, 0)
	if err != nil {
		return err
	}
	if !terminal.Detect(AsWriter{env.Stdin}, env.Getenv).TTY {
		return &exit.UsageError{
			Text:   "shell: standard input must be a terminal",
			Advice: fmt.Sprintf("run one command with `%s exec %s -- COMMAND`", env.Calls, v.Address()),
		}
	}
	v.Argv = OwnShell(env)
	return v.enter(c.Context)
}

// OwnShell returns the user's shell as a command.
func OwnShell(env cmdline.Env) []string { return []string{cmp.Or(env.Getenv("SHELL"), "/bin/sh")} }

func execAction(c *cli.Context, env cmdline.Env) error {
	inv := cmdline.Invoked(c)
	if words := c.Args().Slice(); len(words) > 1 && len(inv.After) == 0 {
		return &exit.UsageError{
			Text:   "exec: the command goes after --",
			Advice: fmt.Sprintf("%s exec %s -- %s", env.Calls, words[0], strings.Join(words[1:], " ")),
		}
	}
	v, err := OpenVisit(c, env, 1)
	if err != nil {
		return err
	}
	if len(inv.After) == 0 || inv.After[0] == "" {
		return &exit.UsageError{
			Text:   "exec: the command is missing",
			Advice: fmt.Sprintf("put it after --, as in `%s exec %s -- make test`", env.Calls, v.Address()),
		}
	}
	v.Argv = inv.After
	return v.enter(c.Context)
}

// Visit is a command of a person in the workspace of an agent.
type Visit struct {
	*cmdline.Place
	Verb    string
	Run     *store.Run
	View    *store.View
	Visited *store.Agent
	Argv    []string
}

// OpenVisit finds the agent of a command line. It returns a usage error if there is no single agent.
func OpenVisit(c *cli.Context, env cmdline.Env, least int) (*Visit, error) {
	p, s, err := selection.Open(c, env, least, 1)
	if err != nil {
		return nil, err
	}
	if err := refuseAgents(p, c.Command.Name); err != nil {
		return nil, err
	}
	a, err := s.One(c.Command.Name)
	if err != nil {
		return nil, err
	}
	return &Visit{Place: p, Verb: c.Command.Name, Run: s.Run, View: s.View, Visited: a}, nil
}

// Address returns the address of the agent.
func (v *Visit) Address() string { return store.Address{Run: v.Run, Agent: v.Visited.ID}.String() }

// print tells the person something about where they are.
func (v *Visit) print(format string, args ...any) {
	fmt.Fprintf(v.Env.Stderr, "%s: %s\n", v.Verb, termtext.Line(fmt.Sprintf(format, args...)))
}

// enter runs the command: in the workspace of an agent that has a workspace,
// else in a copy of its files.
func (v *Visit) enter(ctx context.Context) error {
	_, running := v.Visited.Status.(*task.Running)
	lease := v.Visited.Lease()
	switch {
	case lease == nil:
	case engine.OnlyChecks(lease.Dir):
		lease = nil // it goes when the check has ended, whatever is in it
	case !running && v.Visited.Captured != nil:
		lease = nil // it goes at once, with all changes in it
	}
	switch {
	case running && v.Visited.Attempt == 0:
		return exit.Usagef("%s: %s has no workspace yet: it is queued", v.Verb, v.Visited.ID)
	case lease != nil && lease.Admin == "" && running:
		return exit.Usagef("%s: the workspace of %s is being made; try again in a moment", v.Verb, v.Visited.ID)
	case lease != nil && lease.Admin != "" && fspath.Exists(lease.Dir):
		at := lease.Dir // where a person finds the files
		if lease.At == "" {
			at = engine.WorkspaceOf(lease).Path()
		}
		switch {
		case running && v.Visited.Captured != nil:
			v.print("the work of %s is captured already: what you change in %s is in no patch, and goes into the trash", v.Visited.ID, at)
		case running:
			v.print("%s is running in %s: what you change becomes part of its patch", v.Visited.ID, at)
		default:
			v.print("what %s left could not be captured yet: this is its very workspace, %s", v.Visited.ID, at)
		}
		return v.enterWorkspace(ctx, lease)
	}
	return v.enterCopy(ctx)
}

// enterWorkspace runs the command in the very workspace. A workspace that is
// mounted for its agent can be entered only in a sandbox: that of the agent as
// long as it runs, else a new sandbox. The same holds for other workspaces if
// agents are in a sandbox, since the agent wrote the files that the command
// reads and runs.
func (v *Visit) enterWorkspace(ctx context.Context, lease *event.Leased) error {
	w := engine.WorkspaceOf(lease)
	var code int
	var err error
	switch {
	case w.At == "" && !v.sandboxed():
		if !leadsHome(w) {
			v.print("careful: the agent has changed .git there, and git may run its programs")
		}
		code, err = v.Inside(w.Path(), lease.Base, nil)
	case !fspath.Exists(v.Run.Door(v.Visited.ID, lease.Attempt)):
		code, err = v.enterAgain(ctx, lease)
	default:
		code, err = v.through(ctx, lease, w.Path())
		if _, running := v.Visited.Status.(*task.Running); errors.Is(err, proc.ErrNoSupervisor) && !running {
			// The door was that of a visit, whose swarm has died.
			code, err = v.enterAgain(ctx, lease)
		}
		if errors.Is(err, proc.ErrGone) {
			// It may have done some of its work: it is not run a second time.
			// The journal may not have the end of the step yet, so the line names no step.
			v.print("the setup, turn or check of %s beside the command has ended, and the command with it", v.Visited.ID)
			code, err = endedWithIt, nil
		}
	}
	v.sayWhereItWent(lease)
	return endOf(code, err)
}

// sandboxed reports whether the agents of the run are in a sandbox, as its
// latest owner recorded it.
func (v *Visit) sandboxed() bool {
	var level box.Level
	opened := v.View.Opened
	return opened != nil && level.UnmarshalText([]byte(opened.Walls)) == nil && level != box.None
}

// endedWithIt is the exit code of a command that was killed since the agent it
// was beside has ended: that of SIGKILL.
const endedWithIt = 128 + 9

// leadsHome tells whether git finds, in a workspace, the folder that we made
// for it.
func leadsHome(w worktree.Workspace) bool {
	file := filepath.Join(w.Path(), ".git")
	at, err := os.Lstat(file)
	if err != nil || !at.Mode().IsRegular() {
		return false
	}
	text, err := os.ReadFile(file)
	return err == nil && strings.TrimSpace(string(text)) == "gitdir: "+w.Admin
}

// endOf is how a command line ends whose command ended with a code.
func endOf(code int, err error) error {
	var bad *proc.CommandError
	switch {
	case errors.As(err, &bad):
		return &exit.CommandError{Code: bad.Code(), Err: err}
	case err != nil:
		return err
	case code != 0:
		return &exit.CommandError{Code: code}
	}
	return nil
}

// Inside runs the command in a folder with the person's streams. It returns the exit code, or an
// error if the command cannot be started.
func (v *Visit) Inside(dir, base string, started func(int, uint64) error) (int, error) {
	signals, giveBack := cmdline.TakeSignals()
	defer giveBack()
	return proc.Foreground(proc.ForegroundRequest{
		Argv: v.Argv, Dir: dir, Env: v.environ(dir, base), Signals: signals,
		Started: started, Waiter: []string{v.Env.Self, early.Become},
		Stdin: v.Env.Stdin, Stdout: cmdline.Unwrapped(v.Env.Stdout), Stderr: cmdline.Unwrapped(v.Env.Stderr),
	})
}

// environ is the person's own environment without variables that would lead git
// elsewhere, and with variables for the place. None of them marks the person as
// an agent.
func (v *Visit) environ(dir, base string) []string {
	var env []string
	for _, kv := range v.Env.Environ {
		name, _, _ := strings.Cut(kv, "=")
		switch {
		case strings.HasPrefix(name, "GIT_"):
		case name == "PWD", name == "OLDPWD", name == "SWARM_ITEM", name == "SWARM_ATTEMPT":
		default:
			env = append(env, kv)
		}
	}
	return append(env, v.whereabouts(dir, base)...)
}

// whereabouts are the variables that say where a command runs.
func (v *Visit) whereabouts(dir, base string) []string {
	ours := []string{
		"PWD=" + dir, "SWARM_WORKTREE=" + dir, "SWARM_ROOT=" + v.Root(),
		"SWARM_BASE=" + base, "SWARM_RUN=" + v.Run.ID,
	}
	if item := v.Visited.Call.Item; item != "" {
		ours = append(ours, "SWARM_ITEM="+item)
	}
	return ours
}

// sayWhereItWent reports the end of a workspace during the visit: its agent
// ended, and its files were captured.
func (v *Visit) sayWhereItWent(lease *event.Leased) {
	if fspath.Exists(lease.Dir) {
		return
	}
	text := fmt.Sprintf("%s has ended meanwhile, and its workspace is gone", v.Visited.ID)
	now, err := v.Run.View()
	if err != nil {
		v.print("%s", text)
		return
	}
	a := now.Agent(v.Visited.ID)
	if a.Attempt == lease.Attempt && a.Captured != nil && a.Captured.Patch != nil {
		text += "; its changes are in " + cmp.Or(a.Captured.Patch.File, "commit "+a.Captured.Patch.Commit)
	}
	v.print("%s", text)
	records, err := v.Run.Records()
	if err != nil {
		return
	}
	for _, r := range records {
		e, ok := r.Event.(*event.Released)
		if ok && e.Agent == v.Visited.ID && e.Attempt == lease.Attempt && e.Trash != "" {
			v.print("what was changed since, and files that are ignored, are in the trash: %s", e.Trash)
		}
	}
}

// enterCopy runs the command in a copy of an agent's files.
func (v *Visit) enterCopy(ctx context.Context) error {
	from, err := v.source()
	if err != nil {
		return err
	}
	c, err := CopyManager(v.Place).Make(ctx, copies.Request{Run: v.Run, View: v.View, Agent: v.Visited.ID, From: from})
	if err != nil {
		return err
	}
	if from.Commit != "" {
		v.print("this is a copy of what %s left: %s", v.Visited.ID, c.Record.Workspace.Dir)
	} else {
		v.print("%s has changed nothing: this is a copy of its base: %s", v.Visited.ID, c.Record.Workspace.Dir)
	}
	code, err := v.Inside(c.Record.Workspace.Dir, string(from.Base), c.Begun)
	err = endOf(code, err)
	// Signals end this process again, and the copy then waits for gc.
	ctx, stop := cmdline.OnSignals(context.WithoutCancel(ctx))
	defer stop()
	kept, cerr := c.End(ctx)
	for _, r := range kept {
		v.printKept(r)
	}
	if cerr == nil {
		return err
	}
	cerr = fmt.Errorf("keep what was changed in the copy, which stays until `%s gc`: %w", v.Env.Calls, cerr)
	if err == nil {
		return cerr
	}
	cmdline.PrintError(v.Env, cerr) // the caller asked for the command's own code
	return err
}

// printKept reports the result of a copy.
func (v *Visit) printKept(r copies.Kept) {
	if r.Where == "" {
		v.print("%s", r.Text)
		return
	}
	v.print("%s: %s", r.Text, r.Where)
	if r.Address != "" {
		v.print("with the work of %s below it; merge it with: %s merge %s/%s", v.Visited.ID, v.Env.Calls, v.Run.ID, r.Address)
	}
}

// source is the work of the agent that a copy is made of.
func (v *Visit) source() (copies.Source, error) {
	from, err := copies.SourceOf(v.Run, v.Visited)
	if uncaptured, ok := errors.AsType[*copies.UncapturedError](err); ok {
		return from, &exit.UsageError{
			Text: fmt.Sprintf("%s: %v", v.Verb, uncaptured), Advice: fmt.Sprintf("see `%s show %s`", v.Env.Calls, v.Address()),
		}
	}
	return from, err
}

// CopyManager returns the maker of copies of agents' work.
func CopyManager(p *cmdline.Place) *copies.Maker {
	return &copies.Maker{
		Repo: p.Repo, State: p.State, BaseSize: session.BaseSize(p), Step: p.Env.Step, Keep: p.Keep,
		Confine: func(run string, v *store.View) (git.Confine, error) {
			if v == nil {
				return isolation.ConfineLater(&p.Project, p.Env.Self, run, isolation.Settings{}), nil
			}
			recorded, err := session.ReadConfig(v)
			return isolation.ConfineLater(&p.Project, p.Env.Self, run, recorded.Settings), err
		},
	}
}
