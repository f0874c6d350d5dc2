package lander

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"agentswarm/merge"
	"agentswarm/swarm/event"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/landing/queue"
	"agentswarm/swarm/limit"
	"agentswarm/swarm/patch"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree/git"
)

// queuedMerge is a merge whose patches are verified by a landing queue.
type queuedMerge struct {
	*Lander
	work   mergeWork
	move   *move
	verify string
	report *Report
	joins  *landing.Joins // nil: the branch moves once, at the end
	screen string         // text of the quick check; empty: there is none
	limits landing.Limits
	slots  landing.Slots
	alone  bool // no two checks run at the same time
	ahead  bool // agents still work, so checks have the lowest priority

	publishing sync.Mutex // guards made and have, and is held while objects are published
	made       int
	have       []git.Hash // commits that the repository has
}

// mergeQueued finds the patches that pass the check together and merges these.
func (ld *Lander) mergeQueued(ctx context.Context, l *move, work mergeWork, r MergeRequest, report *Report) error {
	m := &queuedMerge{Lander: ld, work: work, move: l, verify: r.Verify, screen: r.Queue.Screen, report: report, alone: r.Queue.Slots == 1}
	m.limits.Least, m.limits.Setup = r.Queue.Least, r.Queue.Setup
	m.resume()
	report.Queue = &QueueReport{}
	if r.queued != nil {
		*report.Queue = *r.queued
	}
	report.Refused = len(report.Queue.Refused) > 0
	if err := ld.mergeChosen(ctx, work, report); err != nil || len(report.Outcome.Landed) == 0 {
		return err
	}
	m.work.chosen = slices.DeleteFunc(slices.Clone(work.chosen), func(a *store.Agent) bool { return slices.Contains(report.Lost, a) })
	gate, err := m.gate()
	if err != nil {
		return err
	}
	patches, err := m.ordered(ctx, gate, r.Queue.Order)
	if err != nil {
		return err
	}
	ids := patchIDs(patches)
	if r.DryRun {
		return m.mergeFinal(ctx, ids)
	}
	if report.Outcome, err = gate.Merge(ctx, ids); err != nil {
		return err
	}
	if err := ld.checkMove(ctx, l, report); err != nil {
		return err
	}
	if err := ld.Spaces.Prepare(ctx); err != nil {
		return err
	}
	request := queue.Request{Patches: patches, Slots: r.Queue.Slots, Gate: gate, Screen: m.screen != "", Tried: m.tried()}
	if r.Queue.Slots == 0 {
		m.slots.Machine = landing.Machine{Processors: runtime.GOMAXPROCS(0), Memory: limit.MemAvailable()}
		request.Slots, request.Resize = 1, m.slots.Count
	}
	if r.Queue.AsTheyPass {
		request.Joined = m.join(gate)
	}
	out, err := queue.Land(ctx, request)
	if err = errors.Join(err, m.dropCandidates(ctx)); err != nil {
		return err
	}
	report.Queue.add(out, gate)
	return m.conclude(ctx, out, gate)
}

// ordered are the chosen patches in the order in which they are to land.
func (m *queuedMerge) ordered(ctx context.Context, gate *landing.Gate, order string) ([]queue.Patch, error) {
	var pairs []queue.Conflict
	if order == OrderFewest {
		var err error
		if pairs, err = gate.Conflicts(ctx); err != nil {
			return nil, err
		}
	}
	return queue.Order(m.queued(), pairs), nil
}

// conclude merges the patches that landed, with the commits that the branch gets.
func (m *queuedMerge) conclude(ctx context.Context, out *queue.Outcome, gate *landing.Gate) error {
	report := m.report
	passed := len(out.Landed) > 0
	if report.Verified = &passed; len(out.BranchFails) > 0 {
		report.Refused = true
		report.Output = runsOf(gate, nil)[0].Output
		report.Outcome = &merge.Outcome{Commit: m.move.onto}
		return m.giveUp()
	}
	set := slices.Clone(out.Landed)
	runs := runsOf(gate, out.Landed)
	at := slices.IndexFunc(runs, func(v landing.Verification) bool { return v.Passed })
	if at >= 0 {
		m.work.verified = landing.VerifiedBy(runs[at].Tree, m.verify)
	}
	for _, r := range out.Refused {
		if r.Kind == queue.Text {
			set = append(set, r.ID)
			continue
		}
		report.Queue.Refused = append(report.Queue.Refused, m.refusal(r, gate))
	}
	report.Refused = report.Refused || len(report.Queue.Refused) > 0
	if m.joins != nil {
		return m.endJoins(ctx, set[len(out.Landed):])
	}
	if err := m.mergeFinal(ctx, set); err != nil {
		return err
	}
	if !passed {
		return m.giveUp()
	}
	if at < 0 || runs[at].Tree != report.Outcome.Tree {
		return fmt.Errorf("merge: tree %s is not the tree that passed the check", report.Outcome.Tree.Short())
	}
	report.Output = runs[at].Output
	return nil
}

// giveUp journals the end of a landing of which nothing lands.
func (m *queuedMerge) giveUp() error {
	_, err := m.Owner.Append(&event.Refused{
		Ref: m.report.Ref, Tip: string(m.move.onto), Refused: m.report.Refusals(),
		BranchFails: m.report.Queue.BranchFails,
	})
	return err
}

// mergeFinal merges patches as they are to be on the branch.
func (m *queuedMerge) mergeFinal(ctx context.Context, ids []string) error {
	req := m.work.request
	var err error
	if req.Patches, err = m.patchesOf(ids); err != nil {
		return err
	}
	req.Squash = m.work.style.Squashed(m.Run.ID, len(ids))
	m.report.Outcome, err = merge.Merge(ctx, m.work.quarantine, req)
	return err
}

// patchesOf are patches by their ids, with the commits that the branch gets.
func (m *queuedMerge) patchesOf(ids []string) ([]merge.Patch, error) {
	all, err := m.patches(m.work.chosen, m.work)
	if err != nil {
		return nil, err
	}
	out := make([]merge.Patch, len(ids))
	for i, id := range ids {
		out[i] = all[slices.IndexFunc(all, func(p merge.Patch) bool { return p.ID == id })]
	}
	return out, nil
}

// refusal is a refused patch as the journal has it.
func (m *queuedMerge) refusal(r queue.Refusal, gate *landing.Gate) event.Refusal {
	out := event.Refusal{Agent: task.ID(r.ID), Kind: string(r.Kind), Command: m.verify, On: taskIDs(r.On), Needs: taskIDs(r.Needs)}
	if a := m.report.View.Agent(out.Agent); a != nil && a.Copy > 0 {
		out.Copy = patch.CopyName(a.ID, a.Copy)
	} else if now := m.Owner.View().Agent(out.Agent); a != nil && now != nil && now.Attempt != a.Attempt {
		out.Copy = store.AttemptName(a.ID, a.Attempt)
	}
	for _, t := range r.Failed {
		for _, v := range runsOf(gate, t.Set) {
			out.Tree = cmp.Or(out.Tree, string(v.Tree)) // of the two failures that it rests on
			if !v.Passed && !slices.Contains(out.Outputs, v.Output) {
				out.Outputs = append(out.Outputs, v.Output)
			}
		}
	}
	return out
}

// queued are the chosen patches as the queue takes them.
func (m *queuedMerge) queued() []queue.Patch {
	list := make([]queue.Patch, 0, len(m.work.chosen))
	labelled, part := map[string]string{}, ""
	for _, a := range m.work.chosen {
		labelled[a.Call.Label] = string(a.ID)
	}
	for _, a := range m.work.chosen {
		p := queue.Patch{ID: string(a.ID), Odds: oddsOf(a)}
		for _, label := range a.Call.DependsOn {
			if id := labelled[label]; id != "" {
				p.Needs = append(p.Needs, id)
			}
		}
		if a.PartBy > 0 { // it builds on the part before it
			if part != "" {
				p.Needs = append(p.Needs, part)
			}
			part = string(a.ID)
		}
		list = append(list, p)
	}
	return list
}

// oddsOf is how likely the patch of an agent fails a check, by its own check.
func oddsOf(a *store.Agent) float64 {
	done, ok := a.Status.(*task.Completed)
	switch {
	case !ok || done.Verified == nil:
		return queue.DefaultOdds
	case *done.Verified:
		return queue.CheckedOdds
	default:
		return queue.DoubtedOdds
	}
}

// gate makes the gate of this merge.
func (m *queuedMerge) gate() (*landing.Gate, error) {
	patches, err := m.patches(m.work.chosen, m.work)
	if err != nil {
		return nil, err
	}
	m.have = []git.Hash{m.move.onto, m.move.tip, git.Hash(m.move.base.Commit)}
	paths := map[string][]string{}
	for _, a := range m.work.chosen {
		paths[string(a.ID)] = a.Patch().Paths
	}
	return landing.NewGate(landing.GateRequest{
		Quarantine: m.work.quarantine, Onto: m.move.onto, Patches: patches, Paths: paths,
		Committer: m.work.request.Committer, Known: m.known, Check: m.check, Report: m.verified,
		Overdue: func(c landing.Candidate) <-chan struct{} { return m.limits.Overdue(m.commandOf(c)) },
		Slow:    m.slow, Alone: m.alone,
	}), nil
}

func taskIDs(ids []string) []task.ID {
	var out []task.ID
	for _, id := range ids {
		out = append(out, task.ID(id))
	}
	return out
}

func patchIDs(patches []queue.Patch) []string {
	out := make([]string, len(patches))
	for i, p := range patches {
		out[i] = p.ID
	}
	return out
}
