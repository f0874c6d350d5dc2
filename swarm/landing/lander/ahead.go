package lander

import (
	"context"
	"errors"
	"slices"

	"agentswarm/merge"
	"agentswarm/swarm/landing/queue"
	"agentswarm/swarm/refusal"
	"agentswarm/swarm/store"
	"agentswarm/worktree/git"
)

// CheckAhead checks patches for the merge at the end of a run, while other agents of the
// run work. Each patch joins the next check after its agent has ended; ended gets a value
// then. Checks run one at a time and with the lowest priority. Their verdicts are journaled,
// and the merge continues from these. No branch moves, and no patch is refused.
//
// It returns nil when ctx ends, and the error that ended a check otherwise. Nothing else may
// land patches of the run meanwhile.
func (ld *Lander) CheckAhead(ctx context.Context, r MergeRequest, ended <-chan struct{}) error {
	c := &aheadChecks{Lander: ld, request: r}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ended:
		}
		err := c.next(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		}
	}
}

// aheadChecks are the checks of a run whose agents work.
type aheadChecks struct {
	*Lander
	request MergeRequest

	tip    git.Hash          // that the fields below are about
	failed map[git.Hash]bool // patches that are left out of further checks
	last   []git.Hash        // the patches of the last check
	broken bool              // the branch itself fails
}

// next checks the patches of the agents that have ended, if others still work. A patch
// that fails is left out of later checks; the merge at the end decides about it.
func (c *aheadChecks) next(ctx context.Context) (err error) {
	v := c.Owner.View()
	if !slices.ContainsFunc(v.Agents, func(a *store.Agent) bool { return a.Result() == nil }) {
		return nil // the merge is next
	}
	report := &Report{Run: c.Run.ID, View: v, command: c.request.Verify, Queue: &QueueReport{}}
	if report.Ref, err = TargetRef(ctx, c.Repo, c.request.Into); err != nil {
		return err
	}
	chosen, err := c.chosenOf(ctx, &c.request, nil, report)
	switch {
	case is[*NothingError](err), is[*refusal.Error](err):
		return nil // the merge says why
	case err == nil:
		chosen, err = c.linked(ctx, chosen, report)
	}
	if err != nil {
		return err
	}
	l, err := c.openLanding(ctx, report)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.quarantine.Discard()) }()
	if chosen = c.fresh(l.onto, chosen); len(chosen) == 0 {
		return nil
	}
	m := &queuedMerge{
		Lander: c.Lander, move: &l, verify: c.request.Verify, screen: c.request.Queue.Screen, report: report, alone: true, ahead: true,
		work: mergeWork{
			quarantine: l.quarantine, chosen: chosen, style: c.styleOf(ctx, c.request.Style, c.request.Author),
			request: merge.Request{Onto: l.onto, Committer: c.committer(ctx)},
		},
	}
	out, err := m.checkAhead(ctx, c.request.Queue.Order)
	if err != nil {
		return err
	}
	c.broken = len(out.BranchFails) > 0
	for _, r := range out.Refused {
		if r.Kind == queue.Failed || r.Kind == queue.Interaction {
			at := slices.IndexFunc(chosen, func(a *store.Agent) bool { return string(a.ID) == r.ID })
			c.failed[git.Hash(chosen[at].Patch().Commit)] = true
		}
	}
	return nil
}

// fresh returns the patches to check now: none if these were checked on this tip before.
func (c *aheadChecks) fresh(tip git.Hash, chosen []*store.Agent) []*store.Agent {
	if c.tip != tip {
		c.tip, c.failed, c.last, c.broken = tip, map[git.Hash]bool{}, nil, false
	}
	var commits []git.Hash
	var fresh []*store.Agent
	for _, a := range chosen {
		if commit := git.Hash(a.Patch().Commit); !c.failed[commit] {
			commits, fresh = append(commits, commit), append(fresh, a)
		}
	}
	if c.broken || slices.Equal(commits, c.last) {
		return nil
	}
	c.last = commits
	return fresh
}

// checkAhead runs the checks that tell which of the chosen patches pass together.
func (m *queuedMerge) checkAhead(ctx context.Context, order string) (*queue.Outcome, error) {
	gate, err := m.gate()
	if err != nil {
		return nil, err
	}
	patches, err := m.ordered(ctx, gate, order)
	if err != nil {
		return nil, err
	}
	if err := m.Spaces.Prepare(ctx); err != nil {
		return nil, err
	}
	out, err := queue.Land(ctx, queue.Request{
		Patches: patches, Slots: 1, Gate: gate, Screen: m.screen != "", Tried: m.tried(), Ahead: true,
	})
	return out, errors.Join(err, m.dropCandidates(ctx))
}
