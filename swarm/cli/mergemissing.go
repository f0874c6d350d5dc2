package cli

import (
	"context"
	"fmt"
	"slices"

	"agentswarm/swarm/landing"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree/git"
)

// missingOf finds the landings of a run that are no longer on a branch.
func (p *place) missingOf(ctx context.Context, v *store.View, ref string) (landing.Missing, error) {
	tip, err := p.repo.Ref(ctx, ref)
	if err != nil {
		return landing.Missing{}, err
	}
	return landing.FindMissing(landing.MissingRequest{
		View: v, Ref: ref, Tip: tip,
		Contains: func(commit, ancestor git.Hash) (bool, error) { return p.contains(ctx, commit, ancestor) },
	})
}

// chosenOf are the patches that a merge takes. Landings that the branch no longer has do
// not count.
func (b *bench) chosenOf(ctx context.Context, r *mergeRequest, named []task.ID, report *mergeReport) ([]*store.Agent, error) {
	v := report.view
	missing, err := b.missingOf(ctx, v, report.ref)
	if err != nil {
		return nil, err
	}
	missing.Forget(v)
	chosen, skipped, err := choose(landing.SelectRequest{
		View: v, Ref: report.ref, Named: r.unlanded(v, named, report.ref), Verified: r.verify != "", Missing: missing,
	})
	if err != nil {
		return nil, err
	}
	report.skipped = skipped
	if r.queued == nil && len(r.unfiltered) == 0 { // the first round
		b.tellMissing(missing, chosen, report)
	}
	return chosen, nil
}

// narrow keeps the agents of a selector whose patches a merge takes by itself.
func (p *place) narrow(ctx context.Context, s *selection, into string) error {
	if s.chosen.Empty() {
		return nil
	}
	ref, err := p.targetRef(ctx, into)
	if err != nil {
		return err
	}
	missing, err := p.missingOf(ctx, s.view, ref)
	if err != nil {
		return err
	}
	missing.Forget(s.view)
	s.keepMergeable(func(a *store.Agent) bool { return !landing.LandedOn(s.view, a, ref) })
	return nil
}

// contains reports whether a commit is another or has it in its past. It is false if
// either is not in the repository.
func (p *place) contains(ctx context.Context, commit, ancestor git.Hash) (bool, error) {
	there, err := p.repo.Contains(ctx, commit, ancestor)
	if err == nil {
		return there, nil
	}
	for _, h := range []git.Hash{commit, ancestor} {
		if has, hasErr := p.repo.HasCommit(ctx, h); hasErr == nil && !has {
			return false, nil
		}
	}
	return false, err
}

// tellMissing tells which of the chosen patches are merged again, and which patches a
// merge without names leaves out although the branch may not have them.
func (b *bench) tellMissing(m landing.Missing, chosen []*store.Agent, report *mergeReport) {
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
		they := "they are"
		if len(again) == 1 {
			they = "it is"
		}
		fmt.Fprintf(b.env.Stderr, "%s: the landing of %s is no longer on %s: %s merged again\n", program,
			listed(again, 5), Printable(branchName(report.ref)), they)
	}
	left := slices.DeleteFunc(slices.Clone(m.Unknown), func(u landing.MissingAgent) bool {
		a := report.view.Agent(u.ID)
		return taken(u.ID) || a == nil || slices.Contains(a.Found, report.ref)
	})
	for _, text := range unknownTexts(left, report.ref) {
		fmt.Fprintf(b.env.Stderr, "%s: %s\n", program, Printable(text))
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
			commit.Short(), listed(ids[commit], 5), branchName(ref)))
	}
	return texts
}
