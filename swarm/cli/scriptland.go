package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"agentswarm/merge"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/script"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/swarm/workflow"
	"agentswarm/worktree/git"
)

// Land moves a branch to the merge of patches, of all of them or of none: a
// script that lands three has three in mind. What is in the way, be it a
// conflict, a check that fails or a branch that moved, is an outcome and no
// error.
//
// A landing that an earlier owner of the run began is found by its key. One
// that happened is told and not made again; one that was given up, or undone
// since, is made anew.
func (t *scriptTools) Land(ctx context.Context, r workflow.LandRequest) (*script.Landing, error) {
	b := t.bench
	if err := t.landable(ctx, r); err != nil {
		return nil, err
	}
	if err := t.landing.Acquire(ctx, 1); err != nil {
		return nil, context.Cause(ctx)
	}
	defer t.landing.Release(1)
	t.awaitSubjects(ctx, r.Patches)
	v := b.owner.View()
	if err := b.settleLandings(ctx, v); err != nil {
		return nil, err
	}
	if l := landedBefore(v, r.Key); l != nil {
		return &script.Landing{
			Landed: true, Ref: l.Ref, Commit: l.New, Applied: commitsOf(r.Patches),
			Conflicts: []script.Conflict{}, Verified: l.Verified,
		}, nil
	}
	report := &mergeReport{run: b.run.ID, view: v}
	var err error
	if report.ref, err = b.landingRef(ctx, r.Into); err != nil {
		return nil, err
	}
	if reason := rejection(v, r.Patches); reason != "" {
		return notLanded(report, reason), nil
	}
	l, err := b.openLanding(ctx, report)
	if err != nil {
		return nil, err
	}
	l.key = r.Key
	landing, err := t.mergeAndLand(ctx, l, r, report)
	return landing, errors.Join(err, l.quarantine.Discard())
}

// awaitSubjects waits until it is known what the commits of patches are to be
// called.
func (t *scriptTools) awaitSubjects(ctx context.Context, patches []workflow.Patch) {
	ctx, cancel := context.WithTimeout(ctx, subjectTime)
	defer cancel()
	t.await(ctx, commitsOf(patches))
}

// landable refuses a landing that nothing could come of.
func (t *scriptTools) landable(ctx context.Context, r workflow.LandRequest) error {
	if len(r.Patches) == 0 {
		return scriptError(script.CodeOption, "land: no patches are given")
	}
	if err := t.mergeable(ctx, "land", r.Patches); err != nil {
		return err
	}
	seen := map[task.ID]bool{}
	for _, p := range r.Patches {
		if seen[p.Agent] {
			return scriptError(script.CodeOption, "land: two patches of %s are named, of which each is all of its work", p.Agent)
		}
		seen[p.Agent] = true
	}
	if r.Verify != "" {
		if err := t.known("land: verify", r.Verify); err != nil {
			return err
		}
	}
	// A run that an agent started may do much, but not move the user's
	// branches.
	err := t.bench.personal("landing")
	var agent *AgentError
	if errors.As(err, &agent) {
		return scriptError(script.CodePolicy, "land: %v", err)
	}
	return err
}

// landingRef is the full ref that a script wants to land on.
func (b *bench) landingRef(ctx context.Context, into string) (string, error) {
	ref, err := b.targetRef(ctx, into)
	var usage *UsageError
	switch {
	case !errors.As(err, &usage):
		return ref, err
	case into == "":
		return "", scriptError(script.CodeOption, "land: no branch is checked out here; say which one is meant with into")
	default:
		return "", scriptError(script.CodeOption, "land: into is %q, which is no name a branch can have", clipped(into))
	}
}

// landedBefore is the landing of a request that stands; nil where there is
// none.
func landedBefore(v *store.View, key string) *store.Landing {
	for _, l := range v.Landings {
		if key != "" && l.Key == key && l.Stands() {
			return l
		}
	}
	return nil
}

// rejection says that somebody rejected one of the patches; empty where nobody
// did.
func rejection(v *store.View, patches []workflow.Patch) string {
	for _, p := range patches {
		a := v.Agent(p.Agent)
		if a == nil || !a.Rejected() || patchOf(a) == nil || patchOf(a).Commit != p.Commit {
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

// mergeAndLand merges the patches onto the branch and moves it there.
func (t *scriptTools) mergeAndLand(ctx context.Context, l branchMove, r workflow.LandRequest, report *mergeReport) (*script.Landing, error) {
	b := t.bench
	req := merge.Request{Onto: l.onto, Committer: b.committer(ctx)}
	style, err := b.styleOf(ctx, commitStyle{})
	if err != nil {
		return nil, err
	}
	for _, p := range r.Patches {
		a := report.view.Agent(p.Agent)
		if a == nil {
			return nil, fmt.Errorf("land: run %s has no agent %s", b.run.ID, p.Agent)
		}
		patch, err := b.commitOf(a, p.Patch, style)
		if err != nil {
			return nil, err
		}
		req.Patches = append(req.Patches, patch)
	}
	if reason, err := b.unlinkedReason(ctx, r.Patches); err != nil || reason != "" {
		return notLanded(report, reason), err
	}
	if report.outcome, err = merge.Merge(ctx, l.quarantine, req); err != nil {
		return nil, err
	}
	if err := b.blame(ctx, report.view, report); err != nil {
		return nil, err
	}
	switch out := report.outcome; {
	case len(out.Conflicts) > 0:
		landing := notLanded(report, "patches conflict")
		landing.Conflicts = landingConflicts(report.view, r.Patches, out.Conflicts)
		return landing, nil
	case len(out.Landed) == 0:
		return notLanded(report, branchName(report.ref)+" holds all of it already"), nil
	}
	var failed string
	if r.Verify != "" {
		l.check = func(ctx context.Context) (ok bool, err error) {
			ok, failed, err = t.verify(ctx, r.Verify, &l, report.outcome.Commit)
			return ok, err
		}
	}
	err = b.land(ctx, l, report)
	filter, blameErr := b.filterReason(ctx, r.Patches, err)
	switch {
	case blameErr != nil:
		return nil, errors.Join(err, blameErr)
	case filter != "":
		return notLanded(report, filter), nil
	case inTheWay(err):
		return notLanded(report, err.Error()), nil
	case err != nil:
		return nil, err
	case failed != "":
		return notLanded(report, failed), nil
	}
	return &script.Landing{
		Landed: true, Ref: report.ref, Commit: string(report.new), Applied: commitsOf(r.Patches),
		Conflicts: []script.Conflict{}, Verified: report.verified,
	}, nil
}

// unlinkedReason names the patches that record commits of submodules which the user
// cannot get; empty if none does.
func (b *bench) unlinkedReason(ctx context.Context, patches []workflow.Patch) (string, error) {
	var reasons []string
	for _, p := range patches {
		missing, err := landing.ModulesRequest{Repo: b.repo, Stores: b.run.Modules()}.Missing(ctx, p.Patch)
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
func (b *bench) filterReason(ctx context.Context, patches []workflow.Patch, err error) (string, error) {
	failed := git.FilterFailure(err)
	if failed == nil {
		return "", nil
	}
	var reasons []string
	for _, p := range patches {
		changed, err := b.changes(ctx, p.Patch, failed.Path)
		if err != nil {
			return "", err
		}
		if changed {
			reasons = append(reasons, fmt.Sprintf("%s: %s", p.Agent, failed))
		}
	}
	return strings.Join(reasons, "; "), nil
}

// verify runs a configured check on the result of a landing. If it fails, why says
// how.
func (t *scriptTools) verify(ctx context.Context, name string, l *branchMove, commit git.Hash) (ok bool, why string, err error) {
	result, err := t.check(ctx, checkRun{name: name, commit: commit, landing: l})
	if err != nil || result.OK {
		return err == nil, "", err
	}
	return false, fmt.Sprintf("check %s failed: exit status %d", name, result.ExitCode), nil
}

// inTheWay reports whether an error says that a branch, or files of a checkout
// that stands on it, are not as they have to be.
func inTheWay(err error) bool {
	var refusal *ExitError
	return err != nil && errors.As(refusedMove(err), &refusal)
}

// notLanded is a landing that did not happen.
func notLanded(report *mergeReport, reason string) *script.Landing {
	return &script.Landing{
		Ref: report.ref, Applied: []string{}, Conflicts: []script.Conflict{},
		Verified: report.verified, Reason: reason,
	}
}

// commitsOf are the ids by which a script knows patches.
func commitsOf(patches []workflow.Patch) []string {
	ids := make([]string, len(patches))
	for i, p := range patches {
		ids[i] = p.Commit
	}
	return ids
}

// landingConflicts are conflicts between patches that are named by agents.
func landingConflicts(v *store.View, patches []workflow.Patch, all []merge.Conflict) []script.Conflict {
	commits := map[string]string{}
	for _, a := range v.Agents {
		if p := patchOf(a); p != nil {
			commits[string(a.ID)] = p.Commit
		}
	}
	for _, p := range patches {
		commits[string(p.Agent)] = p.Commit
	}
	for i := range all {
		all[i].ID = commits[all[i].ID]
		for k, id := range all[i].With {
			all[i].With[k] = commits[id]
		}
	}
	return scriptConflicts(all)
}
