package landcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/inspect"
	"agentswarm/swarm/cli/selection"
	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/cli/view"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/landing/handback"
	"agentswarm/swarm/landing/lander"
	"agentswarm/swarm/store"
)

// Attempts returns the runner of attempts for patches that a merge hands back.
type Attempts func(c *cli.Context, p *cmdline.Place, run *store.Run, owner *store.Owner) handback.Runner

// NewMergeCommand returns the command `swarm merge`.
func NewMergeCommand(env cmdline.Env, attempts Attempts) *cli.Command {
	return &cli.Command{
		Name:        "merge",
		Aliases:     []string{"land"},
		Usage:       "merge the patches of a run onto a branch",
		ArgsUsage:   "[RUN | AGENT… | -]",
		Flags:       mergeFlags(),
		Description: mergeDescription,
		Action:      func(c *cli.Context) error { return mergeAction(c, env, attempts) },
	}
}

func mergeFlags() []cli.Flag {
	return slices.Concat([]cli.Flag{
		&cli.StringFlag{Name: "into", Usage: "land on `BRANCH` (default: the current branch); made at the run's base if missing"},
		&cli.StringFlag{Name: "verify", Usage: "land patches that pass `CMD`, run by sh -c on the result"},
		&cli.BoolFlag{Name: "dry-run", Aliases: []string{"n"}, Usage: "print what would land and what conflicts; move nothing"},
		&cli.StringFlag{Name: "message", Aliases: []string{"m"}, Usage: "message `TEXT` of the commit; for several patches only with --squash"},
		&cli.BoolFlag{Name: "squash", Usage: "make one commit of all patches"},
		&cli.StringSliceFlag{Name: "trailer", Usage: "add the line `KEY:VALUE` to each commit message; may be given again"},
		&cli.StringFlag{Name: "author", Usage: "make `WHO` the author: user (default), with the agent as co-author, or agent"},
		&cli.BoolFlag{Name: "hand-back", Usage: "give patches that are left out back to their agents, and merge the results"},
		cmdline.YesFlag(),
		&cli.BoolFlag{Name: "attest", Usage: "with --verify: write a signed note about the check on the commits"},
		&cli.StringSliceFlag{Name: "drop", Usage: "merge the last patches again without that of `AGENT`; may be given again"},
		&cli.BoolFlag{Name: "resolve", Usage: "open a workspace with an agent's conflict, and land your result"},
		&cli.BoolFlag{Name: "continue", Usage: "land a resolution"},
		&cli.BoolFlag{Name: "abort", Usage: "give up a resolution; your edits are kept"},
		cmdline.JSONFlag(),
	}, queueFlags(), selection.EndedFlags())
}

const mergeDescription = `Takes the patches of agents that completed, changed something and did not
fail their check, and that passed their review where the run has reviews; others
only by name. They are merged in the order of the plan, in memory, each as one
commit. One that conflicts is left out, told with its files, and does not stop
the others.

You are the author of the commits, and a Co-authored-by line names the agent and
its model. The subject is the label or the first line of the prompt, or what the
model of the role commit says; see -m, --squash and --trailer.

With --verify the patches that pass the check together land. A patch is refused
after two failed runs on a tree that passed without it, and a third on all that
landed. It is named with the outputs; see swarm show. If the branch itself fails,
no patch is blamed. A check may take three times as long as on the branch itself,
and at least a minute. --screen names a quick check that sorts the patches. It
refuses none.

The branch moves last and only if it is still where it was. Where it is checked
out the files follow, if they are clean; else nothing moves. With --as-they-pass it
moves each time that patches have passed together. swarm undo takes all back.

--hand-back gives each patch that conflicts, fails or takes landed lines back to the
conversation in which it was made, on the tip of the branch, with conflict markers and
a short brief. If the result does not merge either, a new conversation of the role
slow gets it once. Then it is yours: exit code 4. Lines of the other side that a
result lacks are found. Budgets apply, and you are asked before many paid agents start.

--attest writes an in-toto statement as a git note below refs/notes/swarm: that the
check passed on the tree of these commits. Its commit is signed if your own git
configuration has commits signed. swarm show COMMIT prints it.

--drop takes the last merge back, if the branch is where it left it, and merges its
other patches with the same check. Trees that passed are not checked again. The
patch is no longer landed: reject it, or a later merge takes it.

--resolve opens a workspace at the tip of the branch with the patch of one agent
in it. Conflicts are between markers that show both sides and their base. On a
terminal you get a shell there, and leaving it lands the result. Else edit the
files and run --continue. A file that still holds a marker is refused. The
workspace stays until --continue or --abort, also after a crash.

Examples:
  swarm merge
  swarm merge k3x9q2 --into landed --verify 'go test ./...'
  swarm merge k3x9q2/a3 k3x9q2/a7
  swarm merge -n
  swarm merge --squash -m 'Rename Get to Lookup' --trailer 'Refs: #12'
  swarm merge --verify 'go test ./...' --hand-back
  swarm merge --drop a7
  swarm merge --resolve a7
  swarm merge --continue`

func mergeAction(c *cli.Context, env cmdline.Env, attempts Attempts) error {
	switch mode, err := resolveMode(c); {
	case err != nil:
		return err
	case c.IsSet("into") && c.String("into") == "":
		return exit.Usagef("merge: --into is empty: give the name of a branch, or leave it out")
	case c.IsSet("verify") && strings.TrimSpace(c.String("verify")) == "":
		return exit.Usagef("merge: --verify is empty: give a command, or leave it out")
	case mode != "":
		return resolveAction(c, env, mode)
	}
	queue, err := queueOf(c)
	switch {
	case err != nil:
		return err
	case c.Bool("attest") && (c.String("verify") == "" || c.Bool("dry-run")):
		return exit.Usagef("merge: --attest is for a merge with --verify CMD that is no dry run")
	case c.Bool("hand-back"):
		if err := checkHandBack(c); err != nil {
			return err
		}
	case len(c.StringSlice("drop")) > 0 && c.Bool("dry-run"):
		return exit.Usagef("merge: --drop moves the branch, and --dry-run does not")
	case len(c.StringSlice("drop")) > 0:
		return dropAction(c, env, queue)
	}
	p, s, err := selection.Open(c, env, 0, -1)
	if err != nil {
		return err
	}
	if err := inspect.RefuseRejected(c.Context, p, "merge", s, s.Named); err != nil {
		return err
	}
	if err := narrow(c.Context, p, s, c.String("into")); err != nil {
		return err
	}
	if err := s.NonePicked("merge"); err != nil {
		return err
	}
	style, err := styleFlags(c)
	if err != nil {
		return err
	}
	r := lander.MergeRequest{
		Works: s.Named, Into: c.String("into"), Verify: c.String("verify"), Queue: queue, DryRun: c.Bool("dry-run"), Style: style,
	}
	report, err := mergeOwned(p, c, s, r, attempts)
	if nothing, ok := errors.AsType[*lander.NothingError](err); ok && nothing.Done && (report == nil || report.Stopped == nil) {
		return nothingMerged(c.Context, p, s, r, nothing)
	}
	return tellMerge(p, c, env, report, err)
}

// nothingMerged is the outcome of a merge whose patches have all landed before.
func nothingMerged(ctx context.Context, p *cmdline.Place, s *selection.Selection, r lander.MergeRequest, nothing *lander.NothingError) error {
	ref, err := lander.TargetRef(ctx, p.Repo, r.Into)
	if err != nil {
		return err
	}
	return &selection.NoWorkError{Text: nothing.Error(), Object: view.MergeObject{
		Schema: "swarm.merge/1", Run: s.Run.ID, Ref: ref, Merged: []view.MergedObject{}, Conflicts: []view.ConflictObject{}, DryRun: r.DryRun,
	}}
}

// tellMerge prints the outcome of a merge, also of a merge that an error
// stopped after it had moved the branch. The error has its exit code, except
// for such a merge.
func tellMerge(p *cmdline.Place, c *cli.Context, env cmdline.Env, report *lander.Report, mergeErr error) (err error) {
	if mergeErr != nil && (report == nil || report.Stopped == nil) {
		return mergeErr
	}
	if c.Bool("json") {
		err = cmdline.PrintJSON(env.Stdout, view.NewMergeObject(report))
	} else {
		view.PrintMerge(p, env.Stdout, report)
	}
	if report.Stopped != nil {
		return errors.Join(mergeErr, err)
	}
	return cmp.Or(err, codeError(MergeCodes(report)))
}

// mergeOwned merges patches of a run that it owns meanwhile.
func mergeOwned(p *cmdline.Place, c *cli.Context, s *selection.Selection, r lander.MergeRequest, attempts Attempts) (report *lander.Report, err error) {
	owner, err := session.Own(c.Context, p, s.Run)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, owner.Close()) }()
	b, err := session.Open(c.Context, p, s.Run, owner)
	if err != nil {
		return nil, err
	}
	if r.Queue, err = configured(p, c, r.Queue); err != nil {
		return nil, err
	}
	if r.Author, err = session.CommitAuthor(p, r.Style); err != nil {
		return nil, err
	}
	if c.Bool("hand-back") {
		report, err = b.MergeHandingBack(c.Context, r, attempts(c, p, s.Run, owner))
	} else {
		report, err = b.Lander().Merge(c.Context, r)
	}
	if c.Bool("attest") {
		err = b.Attest(c.Context, r, report, err)
	}
	return report, err
}

// narrow keeps the agents of a selector whose patches a merge takes by itself.
func narrow(ctx context.Context, p *cmdline.Place, s *selection.Selection, into string) error {
	if s.Chosen.Empty() {
		return nil
	}
	ref, err := lander.TargetRef(ctx, p.Repo, into)
	if err != nil {
		return err
	}
	missing, err := lander.FindMissing(ctx, p.Repo, s.View, ref)
	if err != nil {
		return err
	}
	missing.Forget(s.View)
	s.KeepMergeable(func(a *store.Agent) bool { return !landing.LandedOn(s.View, a, ref) })
	return nil
}

// dropAction merges the last merge of a run again without some of its patches.
func dropAction(c *cli.Context, env cmdline.Env, queue lander.QueueOptions) error {
	p, s, err := selection.Open(c, env, 0, 1)
	if err != nil {
		return err
	}
	if len(s.Named) > 0 {
		return exit.Usagef("merge: --drop leaves patches of the last merge out: name its run, or nothing")
	}
	style, err := styleFlags(c)
	if err != nil {
		return err
	}
	report, err := mergeAgain(p, c, s, lander.MergeRequest{Into: c.String("into"), Verify: c.String("verify"), Queue: queue, Style: style})
	if report == nil && err == nil {
		fmt.Fprintf(env.Stderr, "%s: the last merge is taken back, and had no other patch\n", cmdline.Program)
		return nil
	}
	return tellMerge(p, c, env, report, err)
}

// mergeAgain takes the last merge back and merges the patches that are left. The report
// is nil if none is left.
func mergeAgain(p *cmdline.Place, c *cli.Context, s *selection.Selection, r lander.MergeRequest) (report *lander.Report, err error) {
	ctx := c.Context
	owner, err := session.Own(ctx, p, s.Run)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, owner.Close()) }()
	b, err := session.Open(ctx, p, s.Run, owner)
	if err != nil {
		return nil, err
	}
	if r.Author, err = session.CommitAuthor(p, r.Style); err != nil {
		return nil, err
	}
	ld := b.Lander()
	d, err := ld.PrepareDrop(ctx, c.StringSlice("drop"), &r, lander.QueueOptions{On: true, Slots: c.Int("slots"), Order: c.String("order")})
	if err != nil {
		return nil, err
	}
	if r.Queue, err = configured(p, c, r.Queue); err != nil {
		return nil, err
	}
	if err := inspect.RefuseRejected(ctx, p, "merge", s, r.Works); err != nil {
		return nil, err
	}
	return ld.MergeAgain(ctx, d, r)
}

// checkHandBack refuses --hand-back beside flags that it does not go with.
func checkHandBack(c *cli.Context) error {
	for _, name := range []string{"dry-run", "all-or-nothing", "drop", "squash", "message"} {
		if c.IsSet(name) {
			return exit.Usagef("merge: --hand-back and --%s exclude each other", name)
		}
	}
	return nil
}
