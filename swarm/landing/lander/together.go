package lander

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"agentswarm/merge"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree/git"
)

// Patch is a patch of an agent that a script lands.
type Patch struct {
	Agent task.ID
	*task.Patch
}

// TogetherRequest names patches that land together: all of them, or none.
type TogetherRequest struct {
	Patches []Patch // required; at most one of each agent
	Into    string  // a branch; empty: the branch checked out here
	// Key is that of the request in the journal of the script. Required.
	Key    string
	Author landing.Author
	// Check runs a check on the merged commit. It returns why the check failed; empty: it
	// passed. Nil: there is no check.
	Check func(context.Context, CheckTarget) (failed string, err error)
}

// CheckTarget is a merged commit before it lands.
type CheckTarget struct {
	Quarantine   *git.Quarantine // has its objects
	Onto, Commit git.Hash        // of the branch, and of the merge
}

// Together is the outcome of a [TogetherRequest].
type Together struct {
	Landed    bool
	Ref       string // of the branch
	Commit    string // of the branch; empty: nothing landed
	Verified  *bool  // nil: there was no check
	Conflicts []merge.Conflict
	Reason    string // why nothing landed; empty: the patches landed
}

// LandTogether moves a branch to the merge of patches. A conflict, a check that fails, a
// patch that was rejected, or a branch that moved is an outcome, and no error.
//
// A landing that an earlier owner of the run began is found by its key. If it stands, it
// is the outcome, and nothing moves again. The error is a [*refusal.Error] if there is no
// such branch; see [TargetRef].
func (ld *Lander) LandTogether(ctx context.Context, r TogetherRequest) (*Together, error) {
	v := ld.Owner.View()
	if err := ld.Settle(ctx, v); err != nil {
		return nil, err
	}
	if l := landedBefore(v, r.Key); l != nil {
		return &Together{Landed: true, Ref: l.Ref, Commit: l.New, Verified: l.Verified}, nil
	}
	report := &Report{Run: ld.Run.ID, View: v}
	var err error
	if report.Ref, err = TargetRef(ctx, ld.Repo, r.Into); err != nil {
		return nil, err
	}
	if reason := rejection(v, r.Patches); reason != "" {
		return &Together{Ref: report.Ref, Reason: reason}, nil
	}
	l, err := ld.openLanding(ctx, report)
	if err != nil {
		return nil, err
	}
	l.key = r.Key
	out, err := ld.landTogether(ctx, l, r, report)
	return out, errors.Join(err, l.quarantine.Discard())
}

// landTogether merges the patches onto the branch and moves it there.
func (ld *Lander) landTogether(ctx context.Context, l move, r TogetherRequest, report *Report) (*Together, error) {
	not := func(reason string) *Together {
		return &Together{Ref: report.Ref, Verified: report.Verified, Reason: reason}
	}
	if reason, err := ld.unlinkedReason(ctx, r.Patches); err != nil || reason != "" {
		return not(reason), err
	}
	if err := ld.mergeTogether(ctx, l, r, report); err != nil {
		return nil, err
	}
	switch out := report.Outcome; {
	case len(out.Conflicts) > 0:
		return &Together{Ref: report.Ref, Reason: "patches conflict", Conflicts: out.Conflicts}, nil
	case len(out.Landed) == 0:
		return not(BranchName(report.Ref) + " holds all of it already"), nil
	}
	var failed string
	if r.Check != nil {
		l.check = func(ctx context.Context) (ok bool, err error) {
			failed, err = r.Check(ctx, CheckTarget{Quarantine: l.quarantine, Onto: l.onto, Commit: report.Outcome.Commit})
			return err == nil && failed == "", err
		}
	}
	err := ld.land(ctx, l, report)
	filter, blameErr := ld.filterReason(ctx, r.Patches, err)
	switch {
	case blameErr != nil:
		return nil, errors.Join(err, blameErr)
	case filter != "":
		return not(filter), nil
	case is[*BlockedError](err):
		return not(err.Error()), nil
	case err != nil:
		return nil, err
	case failed != "":
		return not(failed), nil
	}
	return &Together{Landed: true, Ref: report.Ref, Commit: string(report.New), Verified: report.Verified}, nil
}

// mergeTogether merges the patches in memory.
func (ld *Lander) mergeTogether(ctx context.Context, l move, r TogetherRequest, report *Report) error {
	req := merge.Request{Onto: l.onto, Committer: ld.committer(ctx)}
	style := ld.styleOf(ctx, landing.StyleRequest{}, r.Author)
	for _, p := range r.Patches {
		a := report.View.Agent(p.Agent)
		if a == nil {
			return fmt.Errorf("land: run %s has no agent %s", ld.Run.ID, p.Agent)
		}
		patch, err := ld.commitOf(a, p.Patch, style)
		if err != nil {
			return err
		}
		req.Patches = append(req.Patches, patch)
	}
	var err error
	if report.Outcome, err = merge.Merge(ctx, l.quarantine, req); err != nil {
		return err
	}
	return ld.blame(ctx, report.View, report)
}

// landedBefore is the landing of a request that stands; nil if there is none.
func landedBefore(v *store.View, key string) *store.Landing {
	for _, l := range v.Landings {
		if key != "" && l.Key == key && l.Stands() {
			return l
		}
	}
	return nil
}

// rejection says that a person rejected one of the patches; empty: they did not.
func rejection(v *store.View, patches []Patch) string {
	for _, p := range patches {
		a := v.Agent(p.Agent)
		if a == nil || !a.Rejected() || a.Patch() == nil || a.Patch().Commit != p.Commit {
			continue
		}
		reason := fmt.Sprintf("%s was rejected", a.ID)
		if a.Review.Reason != "" {
			reason += ": " + a.Review.Reason
		}
		return reason
	}
	return ""
}

// unlinkedReason names the patches that record commits of submodules which the user
// cannot get; empty if none does.
func (ld *Lander) unlinkedReason(ctx context.Context, patches []Patch) (string, error) {
	var reasons []string
	for _, p := range patches {
		missing, err := landing.ModulesRequest{Repo: ld.Repo, Stores: ld.Run.Modules()}.Missing(ctx, p.Patch)
		if err != nil {
			return "", err
		}
		for _, m := range missing {
			reasons = append(reasons, fmt.Sprintf("%s: %s", p.Agent, m))
		}
	}
	return strings.Join(reasons, "; "), nil
}

// filterReason names the patches on whose files a required filter of the user's
// failed; empty if the landing did not fail because of a filter.
func (ld *Lander) filterReason(ctx context.Context, patches []Patch, err error) (string, error) {
	failed := git.FilterFailure(err)
	if failed == nil {
		return "", nil
	}
	var reasons []string
	for _, p := range patches {
		changed, err := ld.changes(ctx, p.Patch, failed.Path)
		if err != nil {
			return "", err
		}
		if changed {
			reasons = append(reasons, fmt.Sprintf("%s: %s", p.Agent, failed))
		}
	}
	return strings.Join(reasons, "; "), nil
}
