package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"agentswarm/merge"
	"agentswarm/swarm/event"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/landing/queue"
	"agentswarm/swarm/limit"
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
	on    bool // the landing queue is used
	slots int  // how many checks run at the same time; 0: as many as the machine has room for
	order string
	// joins moves the branch after each set of patches that has passed.
	joins bool
	// screen is a quick check that sorts patches; empty: there is none.
	screen string
	// least and setup are bounds as in [landing.Limits]; 0: the usual ones.
	least, setup time.Duration
}

// queueFlags are the flags of a merge that has a check.
func queueFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "as-they-pass", Usage: "with --verify: move the branch each time patches have passed together"},
		&cli.BoolFlag{Name: "all-or-nothing", Usage: "with --verify: land all patches or none"},
		&cli.StringFlag{Name: "screen", Usage: "with --verify: sort patches by the quick check `CMD` first"},
		&cli.IntFlag{Name: "slots", Usage: "with --verify: run `N` checks at once (default: by measure)"},
		&cli.StringFlag{Name: "order", Value: orderFewest, Usage: "with --verify: `RULE` for which conflicting patch lands first: fewest (conflicts) or plan"},
	}
}

func queueFlagNames() []string {
	return []string{"all-or-nothing", "as-they-pass", "screen", "slots", "order"}
}

// queueOf reads these flags. They say nothing without a check.
func queueOf(c *cli.Context) (queueOptions, error) {
	o := queueOptions{on: true, slots: c.Int("slots"), order: c.String("order"), joins: c.Bool("as-they-pass"), screen: c.String("screen")}
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
	case o.joins && c.Bool("squash"):
		return o, usagef("merge: --as-they-pass and --squash exclude each other: one commit moves the branch once")
	case c.IsSet("screen") && o.screen != "" && strings.TrimSpace(o.screen) == "":
		return o, usagef("merge: --screen has only spaces: give a command, or '' for none")
	case c.IsSet("slots") && o.slots < 1:
		return o, usagef("merge: --slots is %d; want at least 1", o.slots)
	case o.order != orderFewest && o.order != orderPlan:
		return o, usagef("merge: --order %q; want %s or %s", o.order, orderFewest, orderPlan)
	case c.String("verify") == "" || c.Bool("all-or-nothing"):
		return queueOptions{}, nil
	}
	return o, nil
}

// screened takes the screen of the user's configuration, unless a flag says another.
func (p *place) screened(c *cli.Context, o queueOptions) (queueOptions, error) {
	if !o.on || c.IsSet("screen") {
		return o, nil
	}
	own, err := p.ownConfig()
	if err == nil {
		o.screen = own.Screen
	}
	return o, err
}

// queuedMerge is a merge whose patches are verified by a landing queue.
type queuedMerge struct {
	*bench
	work   mergeWork
	move   *branchMove
	verify string
	report *mergeReport
	joins  *landing.Joins // nil: the branch moves once, at the end
	screen string         // text of the quick check; empty: there is none
	limits landing.Limits
	slots  landing.Slots
	alone  bool // no two checks run at the same time

	publishing sync.Mutex // guards made and have, and is held while objects are published
	made       int
	have       []git.Hash // commits that the repository has
}

// mergeQueued finds the patches that pass the check together and merges these.
func (b *bench) mergeQueued(ctx context.Context, l *branchMove, work mergeWork, r mergeRequest, report *mergeReport) error {
	m := &queuedMerge{bench: b, work: work, move: l, verify: r.verify, screen: r.queue.screen, report: report, alone: r.queue.slots == 1}
	m.limits.Least, m.limits.Setup = r.queue.least, r.queue.setup
	m.resume()
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
	request := queue.Request{Patches: patches, Slots: r.queue.slots, Gate: gate, Screen: m.screen != ""}
	if r.queue.slots == 0 {
		m.slots.Machine = landing.Machine{Processors: runtime.GOMAXPROCS(0), Memory: limit.MemAvailable()}
		request.Slots, request.Resize = 1, m.slots.Count
	}
	if r.queue.joins {
		request.Joined = m.join(gate)
	}
	out, err := queue.Land(ctx, request)
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
	if m.joins != nil {
		return m.endJoins(ctx, set[len(out.Landed):])
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
	var err error
	if req.Patches, err = m.patchesOf(ids); err != nil {
		return err
	}
	req.Squash = m.work.style.Squashed(m.run.ID, len(ids))
	m.report.outcome, err = merge.Merge(ctx, m.work.quarantine, req)
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
	if a := m.report.view.Agent(out.Agent); a != nil && a.Copy > 0 {
		out.Copy = copyName(a.ID, a.Copy)
	} else if now := m.owner.View().Agent(out.Agent); a != nil && now != nil && now.Attempt != a.Attempt {
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
		paths[string(a.ID)] = patchOf(a).Paths
	}
	return landing.NewGate(landing.GateRequest{
		Quarantine: m.work.quarantine, Onto: m.move.onto, Patches: patches, Paths: paths,
		Committer: m.work.request.Committer, Known: m.known, Check: m.check, Report: m.progress,
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
