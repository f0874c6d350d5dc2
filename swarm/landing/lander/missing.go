package lander

import (
	"context"
	"fmt"
	"slices"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree/git"
)

// FindMissing finds the landings of a run that are no longer on a branch.
func FindMissing(ctx context.Context, repo *git.Repo, v *store.View, ref string) (landing.Missing, error) {
	tip, err := repo.Ref(ctx, ref)
	if err != nil {
		return landing.Missing{}, err
	}
	return landing.FindMissing(landing.MissingRequest{
		View: v, Ref: ref, Tip: tip,
		Contains: func(commit, ancestor git.Hash) (bool, error) { return contains(ctx, repo, commit, ancestor) },
	})
}

// chosenOf are the patches that a merge takes. Landings that the branch no longer has do
// not count.
func (ld *Lander) chosenOf(ctx context.Context, r *MergeRequest, named []task.ID, report *Report) ([]*store.Agent, error) {
	v := report.View
	missing, err := FindMissing(ctx, ld.Repo, v, report.Ref)
	if err != nil {
		return nil, err
	}
	missing.Forget(v)
	chosen, skipped, err := choose(landing.SelectRequest{
		View: v, Ref: report.Ref, Named: r.unlanded(v, named, report.Ref), Verified: r.Verify != "", Missing: missing,
	})
	if err != nil {
		return nil, err
	}
	report.Skipped = skipped
	if r.queued == nil && len(r.unfiltered) == 0 { // the first round
		ld.reportMissing(missing, chosen, report)
	}
	return chosen, nil
}

// contains reports whether a commit is another or has it in its past. It is false if
// either is not in the repository.
func contains(ctx context.Context, repo *git.Repo, commit, ancestor git.Hash) (bool, error) {
	there, err := repo.Contains(ctx, commit, ancestor)
	if err == nil {
		return there, nil
	}
	for _, h := range []git.Hash{commit, ancestor} {
		if has, hasErr := repo.HasCommit(ctx, h); hasErr == nil && !has {
			return false, nil
		}
	}
	return false, err
}

// reportMissing reports which of the chosen patches are merged again, and which patches a
// merge without names leaves out although the branch may not have them.
func (ld *Lander) reportMissing(m landing.Missing, chosen []*store.Agent, report *Report) {
	taken := func(id task.ID) bool {
		return slices.ContainsFunc(chosen, func(a *store.Agent) bool { return a.ID == id })
	}
	var again []string
	for _, id := range m.Gone {
		if taken(id) {
			again = append(again, string(id))
		}
	}
	if len(again) > 0 {
		ld.report(&MergedAgain{Ref: report.Ref, IDs: again})
	}
	left := slices.DeleteFunc(slices.Clone(m.Unknown), func(u landing.MissingAgent) bool {
		a := report.View.Agent(u.ID)
		return taken(u.ID) || a == nil || slices.Contains(a.Found, report.Ref)
	})
	for _, text := range unknownTexts(left, report.Ref) {
		ld.report(&NotOnBranch{Text: text})
	}
}

// unknownTexts says for each commit of a landing that it is not on the branch, and
// how its patches are merged again.
func unknownTexts(all []landing.MissingAgent, ref string) (texts []string) {
	var commits []git.Hash
	ids := map[git.Hash][]string{}
	for _, u := range all {
		if ids[u.Commit] == nil {
			commits = append(commits, u.Commit)
		}
		ids[u.Commit] = append(ids[u.Commit], string(u.ID))
	}
	for _, commit := range commits {
		texts = append(texts, fmt.Sprintf("%s, the commit of the landing of %s, is not on %s: naming the patches merges them again",
			commit.Short(), termtext.List(ids[commit], 5), BranchName(ref)))
	}
	return texts
}
