package runcmd

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/terminal"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/follow"
	"agentswarm/swarm/cli/plan"
	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/config"
	"agentswarm/swarm/exit"
)

// NewRun returns the command run.
func NewRun(env cmdline.Env) *cli.Command {
	return &cli.Command{
		Name:      "run",
		Usage:     "run agents on this repository, each in its own workspace",
		ArgsUsage: "[PROMPT | FILE | -] [-- COMMAND [ARGUMENT…]]",
		Flags:     slices.Concat(runFlags(), plan.TicketFlags(), plan.RoleFlags(), plan.OptionFlags(), plan.StageFlags(), plan.ScriptFlags(), plan.BudgetFlags(), plan.QuotaFlags(), plan.CaptureFlags(), plan.ContactFlags(), plan.IsolationFlags(), plan.CautionFlags()),
		Description: `Starts one agent for the prompt, or one for each item that --each matches in
the base commit, or --count alternatives. The command after -- is the agent itself:
a command that runs once for each item in its workspace, with no shell between.

A FILE.jsonl or FILE.toml is a list of tasks, - reads one from standard input: one
task a line, or JSONL. With a command after -- its lines are items for it.

With --prompt the list has tickets: a JSON array, JSONL, or CSV with --csv. Their
fields fill the template: {title}, {author.login}, {labels|json}, {body|head:2000}.
The id is the field id, key or number, or the line. Fields are quoted as data.

A FILE.js is a workflow script, which makes the calls itself; --workflow runs a saved
one and -e one that is typed. Its result goes to standard output. -n tells what
it may use and how many agents it starts at most.

With items, {item} is replaced by the item, {name} by its base name, {index} by its
number and {count} by the number of items. Your checkout does not change: the
changes of an agent become a patch, and merge or apply lands it.

The answer of a single agent goes to standard output; for several it is the id
of the run. Progress and the table of results go to standard error.

Examples:
  swarm run "fix the failing test in ./parser"
  swarm run --each 'services/*/' -- gofmt -w .
  swarm run --each 'packages/*' --agent mine "add a README to {item}"
  swarm run --count 3 --agent mine --verify 'go test ./...' "make it faster"
  swarm run tasks.toml --overlap serialize
  swarm run --workflow review
  swarm run plan.js --args '{"part": "parser"}'
  swarm run --stages --verify 'go test ./...' "make the parser accept tabs"
  swarm run --prompt 'Fix #{number}: {title}' issues.json
  git ls-files '*.py' | swarm run - -- black {item}
  swarm run --each 'pkg/**/*.go' -n -- sed -i s/foo/bar/ {item}`,
		Action: func(c *cli.Context) error { return runAction(c, env) },
	}
}

func runFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "each", Usage: "one agent for each match of `GLOB` in the base; a trailing slash matches folders only; may be given again"},
		&cli.IntFlag{Name: "count", Usage: "`N` alternatives; merge one of them"},
		&cli.StringFlag{Name: "overlap", Usage: "tasks with overlapping paths: `MODE` is warn, serialize or refuse (default warn)"},
		&cli.StringFlag{Name: "agent", Aliases: []string{"a"}, Usage: "configured agent `NAME`"},
		&cli.IntFlag{Name: "jobs", Aliases: []string{"j"}, Usage: "run `N` agents at once, 1 to 100 (default: by the configuration, or this machine)"},
		&cli.IntFlag{Name: "max-agents", Usage: "start at most `N` agents in the life of the run (default 1000)"},
		&cli.StringFlag{Name: "base", Aliases: []string{"b"}, Usage: "start from the commit `REF` (default HEAD)"},
		&cli.BoolFlag{Name: "with-changes", Usage: "start from HEAD with your uncommitted changes"},
		&cli.DurationFlag{Name: "timeout", Usage: "end an agent after `TIME`"},
		&cli.DurationFlag{Name: "idle-timeout", Usage: "end an agent that writes nothing for `TIME`"},
		&cli.DurationFlag{Name: "run-timeout", Usage: "stop the run after `TIME`"},
		&cli.IntFlag{Name: "retries", Usage: "retry an agent up to `N` times after a transient failure: lost, start_failed, rate_limit, overloaded"},
		&cli.StringFlag{Name: "warm", Usage: "run `CMD` by sh -c once before the first agent, to fill caches for all"},
		&cli.StringFlag{Name: "setup", Usage: "run `CMD` by sh -c in each workspace before its agent"},
		&cli.StringFlag{Name: "verify", Usage: "run `CMD` by sh -c on the patch of each agent"},
		&cli.BoolFlag{Name: "merge", Usage: "when the run ends, merge work that passes --verify together"},
		&cli.BoolFlag{Name: "hand-back", Usage: "with --merge: give patches that are left out back to their agents"},
		&cli.BoolFlag{Name: "attest", Usage: "with --merge: write a note about the check"},
		&cli.StringFlag{Name: "into", Usage: "with --merge: land on `BRANCH` (default: the current branch)"},
		&cli.BoolFlag{Name: "dry-run", Aliases: []string{"n"}, Usage: "print the plan; start nothing"},
		&cli.BoolFlag{Name: "detach", Aliases: []string{"d"}, Usage: "return after the start; the run continues without this terminal"},
		&cli.BoolFlag{Name: "watch", Usage: "open the view of watch; leaving it does not stop the run"},
		&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "print only questions and the result"},
		cmdline.JSONFlag(),
		cmdline.YesFlag(),
		plan.AnywayFlag(),
		&cli.BoolFlag{Name: "trust", Usage: "approve the commands of this repository's configuration"},
	}
}

func runAction(c *cli.Context, env cmdline.Env) error {
	env.Quiet = c.Bool("quiet")
	report, err := openReport(env)
	if err != nil {
		return err
	}
	err = runHere(c, env, report)
	return errors.Join(err, report.send("", err))
}

func runHere(c *cli.Context, env cmdline.Env, report *report) error {
	first := sign(env.Stderr, terminal.Detect(env.Stderr, env.Getenv), "preparing the run…")
	defer first.clear()
	env.Stderr = first
	p, err := cmdline.Open(c, env)
	if err != nil {
		return err
	}
	p.Keep()
	pl, err := plan.New(p, c)
	if err != nil {
		return err
	}
	defer pl.Discard()
	plan.PrintTools(p, pl)
	if c.Bool("dry-run") {
		first.clear()
		return plan.PrintPlan(p, pl, c.Bool("json"))
	}
	if err := approve(p, pl.Needs, c.Bool("trust")); err != nil {
		return err
	}
	if pl.Merge {
		if err := p.Personal("merging"); err != nil {
			return err
		}
	}
	if err := plan.ModelNamed(p, pl); err != nil {
		return err
	}
	if err := plan.KindsReady(c.Context, p, pl, c.Bool("anyway")); err != nil {
		return err
	}
	plan.SayAgent(p, pl)
	if err := plan.ConfirmPaid(p, pl, c.Bool("yes")); err != nil {
		return err
	}
	plan.PrintBase(p, pl)
	plan.SayNotes(p, pl)
	plan.SayRoutes(p, pl)
	plan.SayVariants(p, pl)
	if pl.Assigned != nil {
		plan.SayUnused(env.Stderr, pl.Config.Roles, pl.Assigned.Flags())
	}
	plan.PrintOverlaps(p, pl)
	plan.SaySilent(p, env.Stderr, pl)
	if err := plan.HintInstalled(c.Context, p, pl); err != nil {
		return err
	}
	if c.Bool("detach") && report == nil {
		return detach(c.Context, p, detachRequest{json: c.Bool("json"), input: pl.Input})
	}
	if c.Bool("watch") && report == nil && follow.HasScreen(p) {
		first.clear()
		run, err := beginDetached(c.Context, p, pl.Input)
		if err != nil {
			return err
		}
		return follow.WatchDetached(p, c, env, run)
	}
	b, err := begin(c.Context, p, pl)
	if err != nil {
		return err
	}
	if err := startHook(c.Context, b, pl.Config, true); err != nil {
		return err
	}
	if err := report.send(b.Run.ID, nil); err != nil {
		return errors.Join(err, b.Owner.Close())
	}
	if env.Began != nil {
		env.Began(b.Run)
	}
	request := finishRequest{json: c.Bool("json"), merge: pl.Merge, into: pl.Into, attest: c.Bool("attest")}
	drive := driveRequest{
		calls: pl.Calls, script: pl.Script, base: pl.Base, config: pl.Config, timeout: pl.RunTimeout,
		anyway: c.Bool("anyway"),
	}
	if request.merge {
		// An error is that of the merge at the end.
		if merge, _, err := endMerge(b, request); err == nil {
			drive.merge = &merge
		}
	}
	end, err := driveCalls(c.Context, b, drive)
	if err != nil {
		return err
	}
	if c.Bool("hand-back") {
		request.back = &attempts{place: p, cli: c, run: b.Run, owner: b.Owner}
	}
	return finish(c.Context, b, end, request)
}

// TrustError says that commands from the repository wait for an approval. Only
// a person can give it.
type TrustError struct{ Items []config.Item }

func (e *TrustError) Error() string {
	return "commands from this repository are not approved: " + ItemKeys(e.Items)
}

// Hint names the remedy.
func (e *TrustError) Hint() string {
	return "read them, then run the same command with --trust"
}

// ExitCode is that of a missing approval.
func (e *TrustError) ExitCode() int { return int(exit.Approval) }

// approve asks for the missing approvals: by --trust, or on a terminal. Without
// an approval nothing runs and nothing is stored.
func approve(p *cmdline.Place, needs []config.Item, trust bool) error {
	if len(needs) == 0 {
		return nil
	}
	// An agent may read the commands, but not approve them.
	if err := p.Personal("approving commands"); err != nil {
		return err
	}
	store := p.Trust()
	if trust {
		return store.Approve(needs)
	}
	in, isFile := p.Env.Stdin.(interface{ Fd() uintptr })
	out := terminal.Detect(p.Env.Stderr, p.Env.Getenv)
	if !isFile || !out.TTY || !cmdline.IsTerminal(in.Fd()) {
		return &TrustError{Items: needs}
	}
	fmt.Fprintln(p.Env.Stderr, "This repository brings commands that swarm would run:")
	for _, item := range needs {
		fmt.Fprintf(p.Env.Stderr, "\n%s", item)
	}
	yes, err := cmdline.AskYes(p.Env, "\nRun them, now and later as long as they stay the same?")
	if err != nil {
		return err
	}
	if !yes {
		return &TrustError{Items: needs}
	}
	return store.Approve(needs)
}

// begin makes the run: its folder, its base, its frozen configuration. From
// here on something is written.
func begin(ctx context.Context, p *cmdline.Place, pl *plan.Plan) (*session.Session, error) {
	id, err := plan.Identity(p, pl)
	if err != nil {
		return nil, err
	}
	run, owner, err := p.State.Create(id)
	if err != nil {
		return nil, err
	}
	err = plan.Pin(ctx, p, run, pl)
	var b *session.Session
	if err == nil {
		b, err = session.Open(ctx, p, run, owner)
	}
	if err == nil {
		err = b.BringAlong(ctx)
	}
	if err != nil {
		// No agent has run yet, so the run is of no use to show or resume.
		err = errors.Join(err, owner.Close())
		_, removing := run.Remove(context.WithoutCancel(ctx))
		return nil, errors.Join(err, removing)
	}
	return b, nil
}
