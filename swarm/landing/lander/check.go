package lander

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"agentswarm/internal/statefile"
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
	dir         string          // keeps the files that the check leaves
	out         string          // the output goes to out+".out" and out+".err"
	limits      *landing.Limits // required
	low         bool            // it has the lowest priority
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
func (ld *Lander) runMergeCheck(ctx context.Context, c mergeCheck) (run checkEnd, err error) {
	env, err := CheckEnv(ctx, c.quarantine, c.tip, c.commit, c.dir)
	if err != nil {
		return run, err
	}
	err = ld.Spaces.In(ctx, SpaceRequest{
		Step: engine.CheckStep, Name: landing.SpaceName(c.name), Commit: c.commit, Onto: c.tip,
		Saved: filepath.Join(c.dir, "index"), Kept: c.dir, Env: env, Low: c.low,
	}, func(s Space) (err error) {
		if err := ld.setUp(ctx, s, c); err != nil {
			return err
		}
		bounded, done := c.limits.Bound(ctx, c.command)
		defer done()
		began := time.Now()
		run.exit, err = s.Shell(bounded, c.command, c.out)
		run.took = time.Since(began)
		run.late = errors.Is(err, landing.ErrTimeLimit) && ctx.Err() == nil
		if err != nil && !run.late {
			return err
		}
		free, err := worktree.Free(s.Dir())
		if err != nil {
			return err
		}
		return landing.CheckDisk(run.passed(), free)
	})
	return run, errors.Join(err, landing.BoundOutput(c.out+".out"), landing.BoundOutput(c.out+".err"))
}

// setUp runs the setup of workspaces in that of a check.
func (ld *Lander) setUp(ctx context.Context, s Space, c mergeCheck) error {
	config, err := engine.RecordedConfig(ld.Owner.View())
	if err != nil || config.Setup == "" {
		return err
	}
	ctx, cancel := c.limits.BoundSetup(ctx)
	defer cancel()
	out := filepath.Join(c.dir, "setup")
	exit, err := s.Shell(ctx, config.Setup, out)
	if err = errors.Join(err, landing.BoundOutput(out+".out"), landing.BoundOutput(out+".err")); err != nil {
		return err
	}
	if exit.Reason == proc.Exited && exit.Code == 0 {
		return nil
	}
	last, err := statefile.TailText(out+".err", 500)
	if err != nil {
		return err
	}
	return &landing.NoVerdictError{Reason: fmt.Sprintf("setup: %s: %s", exit.Words(), strings.TrimSpace(last))}
}

// CheckEnv makes the folder of a check, with the file of SWARM_CHANGED in it. It
// returns the variables that the check of a landing has.
func CheckEnv(ctx context.Context, q *git.Quarantine, tip, commit git.Hash, dir string) ([]string, error) {
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
func (ld *Lander) verifyMerged(ctx context.Context, l *move, command string, report *Report) (ok bool, err error) {
	if err := ld.Spaces.Prepare(ctx); err != nil {
		return false, err
	}
	dir := filepath.Join(ld.Run.Dir, "landings", fmt.Sprint(l.id))
	c := mergeCheck{
		quarantine: l.quarantine, name: fmt.Sprintf("%d.%d", l.id, time.Now().UnixNano()), command: command,
		tip: l.onto, commit: report.Outcome.Commit, dir: dir,
		out: filepath.Join(dir, fmt.Sprintf("verify.%d", time.Now().UnixNano())), limits: &landing.Limits{},
	}
	run, err := ld.runMergeCheck(ctx, c)
	if err != nil {
		return false, err
	}
	report.Output = c.out + ".out"
	return run.passed(), nil
}

// checkLanding runs the check of a landing on its commit. The commits that are checked
// do not claim that they passed; those of the report do after a pass.
func (ld *Lander) checkLanding(ctx context.Context, l move, report *Report, have []git.Hash) (ok bool, err error) {
	if err := ld.checkMove(ctx, &l, report); err != nil {
		return false, err
	}
	// The check needs the commit in the repository, under a ref. A commit that does
	// not land itself is a candidate.
	ref := captureref.Landing(ld.Run.ID, l.id, report.New)
	if l.attest != nil {
		ref = captureref.Candidates(ld.Run.ID) + report.New.Short()
		defer func() { err = errors.Join(err, ld.dropCandidates(ctx)) }()
	}
	if err := l.quarantine.Publish(ctx, git.PublishRequest{
		Refs: []git.RefUpdate{{Ref: ref, New: report.New, Any: true}}, Have: have, Message: "swarm merge " + ld.Run.ID,
	}); err != nil {
		return false, err
	}
	if ok, err = l.check(ctx); err != nil {
		return false, err
	}
	if report.Verified = &ok; !ok {
		report.Refused = true
		return false, nil
	}
	if l.attest != nil {
		err = l.attest(ctx)
		report.New = report.Outcome.Commit
	}
	return true, err
}

// attest merges patches again after their check passed. The new commits name the tree
// that passed and the check.
func (ld *Lander) attest(ctx context.Context, work mergeWork, command string, report *Report) error {
	tree := report.Outcome.Tree
	work.verified = landing.VerifiedBy(tree, command)
	if err := ld.mergeChosen(ctx, work, report); err != nil {
		return err
	}
	if report.Outcome.Tree != tree {
		return fmt.Errorf("merge: tree %s is not the tree that passed the check", report.Outcome.Tree.Short())
	}
	return ld.blame(ctx, report.View, report)
}

// dropCandidates removes the refs of the candidates, also if the merge was
// cancelled.
func (ld *Lander) dropCandidates(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	return landing.DropCandidates(ctx, ld.Repo, ld.Run.ID)
}
