package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"agentswarm/merge"
	"agentswarm/swarm/event"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/landing/queue"
	"agentswarm/swarm/proc"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree/git"
)

// The rules for which of two conflicting patches lands first.
const (
	orderFewest = "fewest"
	orderPlan   = "plan"
)

// queueOptions are how a merge finds the patches that pass its check. The zero
// value is a merge that lands all patches or none.
type queueOptions struct {
	slots int // how many checks run at the same time; 0: all or none
	order string
}

// queueFlags are the flags of a merge that has a check.
func queueFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "all-or-nothing", Usage: "with --verify: land all patches or none"},
		&cli.IntFlag{Name: "slots", Value: 1, Usage: "with --verify: run `N` checks at once"},
		&cli.StringFlag{Name: "order", Value: orderFewest, Usage: "with --verify: `RULE` for which conflicting patch lands first: fewest (conflicts) or plan"},
	}
}

func queueFlagNames() []string { return []string{"all-or-nothing", "slots", "order"} }

// queueOf reads these flags. They say nothing without a check.
func queueOf(c *cli.Context) (queueOptions, error) {
	o := queueOptions{slots: c.Int("slots"), order: c.String("order")}
	for _, name := range queueFlagNames() {
		switch {
		case !c.IsSet(name):
		case c.String("verify") == "":
			return o, usagef("merge: --%s is for a merge with --verify CMD", name)
		case c.Bool("all-or-nothing") && name != "all-or-nothing":
			return o, usagef("merge: --all-or-nothing and --%s exclude each other", name)
		}
	}
	switch {
	case o.slots < 1:
		return o, usagef("merge: --slots is %d; want at least 1", o.slots)
	case o.order != orderFewest && o.order != orderPlan:
		return o, usagef("merge: --order %q; want %s or %s", o.order, orderFewest, orderPlan)
	case c.String("verify") == "" || c.Bool("all-or-nothing"):
		return queueOptions{}, nil
	}
	return o, nil
}

// queuedMerge is a merge whose patches are verified by a landing queue.
type queuedMerge struct {
	*bench
	work   mergeWork
	move   *branchMove
	verify string
	report *mergeReport

	publishing sync.Mutex // guards made and have, and is held while objects are published
	made       int
	have       []git.Hash // commits that the repository has
}

// mergeQueued finds the patches that pass the check together and merges these.
func (b *bench) mergeQueued(ctx context.Context, l *branchMove, work mergeWork, r mergeRequest, report *mergeReport) error {
	m := &queuedMerge{bench: b, work: work, move: l, verify: r.verify, report: report}
	report.queued = &queuedReport{}
	if r.queued != nil {
		*report.queued = *r.queued
	}
	if len(report.queued.refused) > 0 {
		report.codes = append(report.codes, CodeVerify)
	}
	if err := b.mergeChosen(ctx, work, report); err != nil || len(report.outcome.Landed) == 0 {
		return err
	}
	m.work.chosen = slices.DeleteFunc(slices.Clone(work.chosen), func(a *store.Agent) bool { return slices.Contains(report.lost, a) })
	gate, err := m.gate()
	if err != nil {
		return err
	}
	patches := m.queued()
	var pairs []queue.Conflict
	if r.queue.order == orderFewest {
		if pairs, err = gate.Conflicts(ctx); err != nil {
			return err
		}
	}
	patches = queue.Order(patches, pairs)
	ids := patchIDs(patches)
	if r.dry {
		return m.mergeFinal(ctx, ids)
	}
	if report.outcome, err = gate.Merge(ctx, ids); err != nil {
		return err
	}
	if err := b.checkMove(ctx, l, report); err != nil {
		return err
	}
	if b.trees.Include == nil {
		if err := b.bringAlong(ctx); err != nil {
			return err
		}
	}
	out, err := queue.Land(ctx, queue.Request{Patches: patches, Slots: r.queue.slots, Gate: gate})
	if err = errors.Join(err, m.dropCandidates(ctx)); err != nil {
		return err
	}
	report.queued.add(out, gate)
	return m.conclude(ctx, out, gate)
}

// conclude merges the patches that landed, with the commits that the branch gets.
func (m *queuedMerge) conclude(ctx context.Context, out *queue.Outcome, gate *landing.Gate) error {
	report := m.report
	passed := len(out.Landed) > 0
	if report.verified = &passed; len(out.BranchFails) > 0 {
		report.codes = append(report.codes, CodeVerify)
		report.output = runsOf(gate, nil)[0].Output
		report.outcome = &merge.Outcome{Commit: m.move.onto}
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
		report.queued.refused = append(report.queued.refused, m.refusal(r, gate))
	}
	if len(report.queued.refused) > 0 && !slices.Contains(report.codes, CodeVerify) {
		report.codes = append(report.codes, CodeVerify)
	}
	if err := m.mergeFinal(ctx, set); err != nil {
		return err
	}
	if !passed {
		return m.giveUp()
	}
	if at < 0 || runs[at].Tree != report.outcome.Tree {
		return fmt.Errorf("merge: tree %s is not the one that passed the check", report.outcome.Tree.Short())
	}
	report.output = runs[at].Output
	return nil
}

// giveUp journals the end of a landing of which nothing lands.
func (m *queuedMerge) giveUp() error {
	_, err := m.owner.Append(&event.Refused{
		Ref: m.report.ref, Tip: string(m.move.onto), Refused: m.report.queued.refused,
		BranchFails: m.report.queued.branchFails,
	})
	return err
}

// mergeFinal merges patches as they are to be on the branch.
func (m *queuedMerge) mergeFinal(ctx context.Context, ids []string) error {
	req := m.work.request
	all, err := m.patches(m.work.chosen, m.work)
	if err != nil {
		return err
	}
	for _, id := range ids {
		at := slices.IndexFunc(all, func(p merge.Patch) bool { return p.ID == id })
		req.Patches = append(req.Patches, all[at])
	}
	req.Squash = m.work.style.Squashed(m.run.ID, len(ids))
	m.report.outcome, err = merge.Merge(ctx, m.work.quarantine, req)
	return err
}

// refusal is a refused patch as the journal has it.
func (m *queuedMerge) refusal(r queue.Refusal, gate *landing.Gate) event.Refusal {
	out := event.Refusal{Agent: task.ID(r.ID), Kind: string(r.Kind), Command: m.verify, On: taskIDs(r.On), Needs: taskIDs(r.Needs)}
	if a := m.report.view.Agent(out.Agent); a != nil && a.Copy > 0 {
		out.Copy = copyName(a.ID, a.Copy)
	}
	for _, v := range gate.Verifications() {
		if len(r.Failed) > 0 && slices.Equal(v.Set, r.Failed[0].Set) {
			out.Tree = string(v.Tree)
			if !slices.Contains(out.Outputs, v.Output) {
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
	m.have = []git.Hash{m.move.onto, git.Hash(m.move.base.Commit)}
	paths := map[string][]string{}
	for _, a := range m.work.chosen {
		paths[string(a.ID)] = patchOf(a).Paths
	}
	return landing.NewGate(landing.GateRequest{
		Quarantine: m.work.quarantine, Onto: m.move.onto, Patches: patches, Paths: paths,
		Committer: m.work.request.Committer, Known: m.known, Check: m.check, Report: m.progress,
	}), nil
}

// known returns the verdicts on a tree that the journal holds and that still count.
func (m *queuedMerge) known(tree git.Hash) []landing.Verdict {
	var found []landing.Verdict
	for _, e := range m.report.view.VerdictsOn(string(tree), m.verify, string(m.move.onto)) {
		found = append(found, journaledVerdict(e))
	}
	return found
}

func journaledVerdict(e store.Verdict) landing.Verdict {
	return landing.Verdict{
		Passed: e.Passed, Code: e.Code, Output: e.Output, Elapsed: time.Duration(e.MS) * time.Millisecond,
		Earlier: e.Earlier, Text: func() string { return checkOutput(e.Output) },
	}
}

// check runs the command in a workspace of its own and journals the verdict.
func (m *queuedMerge) check(ctx context.Context, c landing.Candidate) (landing.Verdict, error) {
	name, err := m.publish(ctx, c)
	if err != nil {
		return landing.Verdict{}, err
	}
	out := filepath.Join(verificationsOf(m.run), name, "verify")
	exit, took, err := m.runMergeCheck(ctx, mergeCheck{
		quarantine: m.work.quarantine, name: name, command: m.verify, tip: m.move.onto, commit: c.Commit,
		dir: filepath.Dir(out), out: out,
	})
	if err == nil && exit.Reason != proc.Exited && exit.Reason != proc.OutputLimit {
		err = fmt.Errorf("merge: the check gave no verdict: %s", exitWords(exit))
	}
	if err != nil {
		return landing.Verdict{}, err
	}
	e := &event.Verified{
		Ref: m.report.ref, Tip: string(m.move.onto), Tree: string(c.Tree), Command: m.verify, Agents: taskIDs(c.Set),
		Passed: exit.Reason == proc.Exited && exit.Code == 0, Code: exit.Code, Output: out + ".out", MS: took.Milliseconds(),
	}
	_, err = m.owner.Append(e)
	return journaledVerdict(store.Verdict{Verified: e}), err
}

// publish brings a candidate into the repository, where workspaces find it, under
// a ref of its own. The name is not taken by another verification of this run.
func (m *queuedMerge) publish(ctx context.Context, c landing.Candidate) (name string, err error) {
	m.publishing.Lock()
	defer m.publishing.Unlock()
	m.made++
	name = fmt.Sprintf("%s.%d.%d", c.Tree.Short(), time.Now().UnixNano(), m.made)
	if slices.Contains(m.have, c.Commit) {
		return name, nil
	}
	err = m.work.quarantine.Publish(ctx, git.PublishRequest{
		Refs: []git.RefUpdate{{Ref: landing.CandidateRefs(m.run.ID) + c.Commit.Short(), New: c.Commit, Any: true}}, Have: m.have,
		Message: "swarm merge " + m.run.ID,
	})
	m.have = append(m.have, c.Commit)
	return name, err
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
