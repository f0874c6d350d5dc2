package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"agentswarm/merge"
	"agentswarm/swarm/captureref"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/proc"
	"agentswarm/worktree"
	"agentswarm/worktree/git"
)

// mergeCheck is a run of the check of a merge that is about to begin.
type mergeCheck struct {
	quarantine  *git.Quarantine
	name        string // of the verification
	command     string
	tip, commit git.Hash        // of the branch, and of the merged result
	dir         string          // keeps what the check leaves
	out         string          // the output goes to out+".out" and out+".err"
	limits      *landing.Limits // required
}

// checkEnd is the end of the command of a check.
type checkEnd struct {
	exit proc.Exit
	took time.Duration
	late bool // the time limit ended it
}

func (e checkEnd) passed() bool {
	return !e.late && e.exit.Reason == proc.Exited && e.exit.Code == 0
}

// runMergeCheck runs a check in a workspace of its own, after the setup of workspaces.
// A setup that fails, or a disk that is full, is a [*landing.NoVerdictError].
func (b *bench) runMergeCheck(ctx context.Context, c mergeCheck) (run checkEnd, err error) {
	env, err := checkEnv(ctx, c.quarantine, c.tip, c.commit, c.dir)
	if err != nil {
		return run, err
	}
	err = b.inSpace(ctx, spaceRequest{
		step: engine.CheckStep, name: landing.SpaceName(c.name), commit: c.commit, onto: c.tip,
		saved: filepath.Join(c.dir, "index"), kept: c.dir, env: env,
	}, func(s *space) (err error) {
		if err := b.setUp(ctx, s, c); err != nil {
			return err
		}
		bounded, done := c.limits.Bound(ctx, c.command)
		defer done()
		began := time.Now()
		run.exit, err = s.shell(bounded, c.command, c.out)
		run.took = time.Since(began)
		run.late = errors.Is(err, landing.ErrTimeLimit) && ctx.Err() == nil
		if err != nil && !run.late {
			return err
		}
		free, err := worktree.Free(s.dir)
		if err != nil {
			return err
		}
		return landing.CheckDisk(run.passed(), free)
	})
	return run, errors.Join(err, landing.BoundOutput(c.out+".out"), landing.BoundOutput(c.out+".err"))
}

// setUp runs the setup of workspaces in that of a check.
func (b *bench) setUp(ctx context.Context, s *space, c mergeCheck) error {
	config, err := engineConfig(b.owner.View())
	if err != nil || config.Setup == "" {
		return err
	}
	ctx, cancel := c.limits.BoundSetup(ctx)
	defer cancel()
	out := filepath.Join(c.dir, "setup")
	exit, err := s.shell(ctx, config.Setup, out)
	if err = errors.Join(err, landing.BoundOutput(out+".out"), landing.BoundOutput(out+".err")); err != nil {
		return err
	}
	if exit.Reason == proc.Exited && exit.Code == 0 {
		return nil
	}
	last, err := tailOf(out+".err", 500)
	if err != nil {
		return err
	}
	return &landing.NoVerdictError{Reason: fmt.Sprintf("setup: %s: %s", exitWords(exit), strings.TrimSpace(last))}
}

// checkEnv makes the folder of a check, with the file of SWARM_CHANGED in it. It
// returns the variables that the check of a landing has.
func checkEnv(ctx context.Context, q *git.Quarantine, tip, commit git.Hash, dir string) ([]string, error) {
	changes, err := q.Changes(ctx, tip, commit)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	changed := filepath.Join(dir, "changed")
	if err := os.WriteFile(changed, []byte(landing.ChangedText(changes)), 0o600); err != nil {
		return nil, err
	}
	return landing.CheckEnv(tip, changed), nil
}

// verifyMerged runs the user's check on the merged commit.
func (b *bench) verifyMerged(ctx context.Context, l *branchMove, command string, report *mergeReport) (ok bool, err error) {
	if b.trees.Include == nil {
		if err := b.bringAlong(ctx); err != nil {
			return false, err
		}
	}
	dir := filepath.Join(b.run.Dir, "landings", fmt.Sprint(l.id))
	c := mergeCheck{
		quarantine: l.quarantine, name: fmt.Sprintf("%d.%d", l.id, time.Now().UnixNano()), command: command,
		tip: l.onto, commit: report.outcome.Commit, dir: dir,
		out: filepath.Join(dir, fmt.Sprintf("verify.%d", time.Now().UnixNano())), limits: &landing.Limits{},
	}
	run, err := b.runMergeCheck(ctx, c)
	if err != nil {
		return false, err
	}
	report.output = c.out + ".out"
	return run.passed(), nil
}

// checkLanding runs the check of a landing on its commit. The commits that are checked
// do not claim that they passed; those of the report do after a pass.
func (b *bench) checkLanding(ctx context.Context, l branchMove, report *mergeReport, have []git.Hash) (ok bool, err error) {
	if err := b.checkMove(ctx, &l, report); err != nil {
		return false, err
	}
	// The check needs the commit in the repository, under a ref. A commit that does
	// not land itself is a candidate.
	ref := captureref.Landing(b.run.ID, l.id, report.new)
	if l.attest != nil {
		ref = captureref.Candidates(b.run.ID) + report.new.Short()
		defer func() { err = errors.Join(err, b.dropCandidates(ctx)) }()
	}
	if err := l.quarantine.Publish(ctx, git.PublishRequest{
		Refs: []git.RefUpdate{{Ref: ref, New: report.new, Any: true}}, Have: have, Message: "swarm merge " + b.run.ID,
	}); err != nil {
		return false, err
	}
	if ok, err = l.check(ctx); err != nil {
		return false, err
	}
	if report.verified = &ok; !ok {
		report.codes = append(report.codes, CodeVerify)
		return false, nil
	}
	if l.attest != nil {
		err = l.attest(ctx)
		report.new = report.outcome.Commit
	}
	return true, err
}

// attest merges patches again after their check passed. The new commits name the tree
// that passed and the check.
func (b *bench) attest(ctx context.Context, work mergeWork, command string, report *mergeReport) error {
	tree := report.outcome.Tree
	work.verified = landing.VerifiedBy(tree, command)
	if err := b.mergeChosen(ctx, work, report); err != nil {
		return err
	}
	if report.outcome.Tree != tree {
		return fmt.Errorf("merge: tree %s is not the one that passed the check", report.outcome.Tree.Short())
	}
	return b.blame(ctx, report.view, report)
}

// dropCandidates removes the refs of the candidates, also if the merge was
// cancelled.
func (b *bench) dropCandidates(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	return landing.DropCandidates(ctx, b.repo, b.run.ID)
}

// checkMove refuses a merge whose result could not land, before its check runs. A
// dry run tells it.
func (b *bench) checkMove(ctx context.Context, l *branchMove, report *mergeReport) error {
	scratch, err := os.MkdirTemp(filepath.Join(b.run.Dir, "landings", fmt.Sprint(l.id)), "check-")
	if err != nil {
		return err
	}
	err = refusedMove(merge.Check(ctx, merge.CheckRequest{
		Quarantine: l.quarantine, Ref: report.ref, Old: report.old, New: report.outcome.Commit, Scratch: scratch,
		Modules: b.modulesOf(l), Filters: report.dry,
	}))
	if gone := os.RemoveAll(scratch); gone != nil {
		return errors.Join(err, gone)
	}
	if err != nil && report.dry && codeOf(err) == CodeUsage {
		report.blocked = err
		report.codes = append(report.codes, CodeUsage)
		return nil
	}
	return err
}

// printBlocked prints the reason that would stop a merge.
func (r *mergeReport) printBlocked(w io.Writer) {
	if r.blocked == nil {
		return
	}
	fmt.Fprintf(w, "blocked: %s\n", Printable(r.blocked.Error()))
	if hint := hintOf(r.blocked); hint != "" {
		fmt.Fprintf(w, "  %s\n", Printable(hint))
	}
}
