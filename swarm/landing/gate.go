package landing

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"agentswarm/merge"
	"agentswarm/swarm/landing/queue"
	"agentswarm/worktree/git"
)

// Candidate is a set of patches, merged onto a branch in memory, whose tree is to
// be verified.
type Candidate struct {
	Set    []string // ids of patches in the order of the merge; empty: the branch
	Commit git.Hash // in the quarantine of the gate
	Tree   git.Hash
	Screen bool // verified by the quick check, which only sorts
}

// trial is the subject of a verdict.
type trial struct {
	tree   git.Hash
	screen bool
}

func (c Candidate) trial() trial { return trial{c.Tree, c.Screen} }

// Verdict is a run of the check on a tree that came to its end.
type Verdict struct {
	Passed  bool
	Hung    bool          // it failed by the time limit, or was killed as for want of memory
	Ended   bool          // it was ended, since the check fails on the branch itself
	Code    int           // exit code of the check
	Output  string        // file with its stdout; stderr is beside it
	Elapsed time.Duration // how long it ran
	Load    Load          // the resources of the run; zero: not known
	// Earlier is set on a pass from a landing that has ended. It is enough to land
	// the tree, and not enough to refuse a patch on it.
	Earlier bool
	// Ahead is set on a verdict that was made while agents worked. A failure then
	// confirms no refusal.
	Ahead bool
	// Text returns the end of its output, for the search of suspects. Nil: none.
	Text func() string
}

// Verification is a trial of the landing with its verdict.
type Verification struct {
	Candidate
	Verdict
	Run    int  // 1, or 2 or 3 for a later run on the tree
	Reused bool // the verdict is from an earlier run; no check ran
}

// GateRequest names the patches to merge, and how they are verified.
type GateRequest struct {
	Quarantine *git.Quarantine // required
	Onto       git.Hash        // required; the tip of the branch
	Patches    []merge.Patch   // required
	// Paths are the files that each patch changes, by id.
	Paths     map[string][]string
	Committer git.Person
	// Known returns the verdicts on the tree of a candidate, by the same check, that
	// were made before this gate and still count, the oldest first.
	Known func(context.Context, Candidate) ([]Verdict, error) // required
	// Check runs the check. It is called for several candidates at the same time.
	// An error means that there is no verdict, and ends the landing.
	Check func(context.Context, Candidate) (Verdict, error) // required
	// Report is called with each verification in turn. It may be nil.
	Report func(Verification)
	// Overdue returns a channel that is closed once the check of a candidate needs the
	// time on the branch itself, as [Limits.Overdue]. Nil: no time is needed.
	Overdue func(Candidate) <-chan struct{}
	// Slow is called with each candidate whose check is overdue, and with the
	// time when that began. It may be nil.
	Slow func(Candidate, time.Time)
	// Alone is set if two checks may not run at the same time.
	Alone bool
}

// Gate merges sets of patches with package merge and has their trees verified. It
// is the [queue.Gate] of a landing.
type Gate struct {
	GateRequest
	byID     map[string]merge.Patch
	merged   map[string]*merge.Outcome // by the ids of the set, in order
	verdicts map[trial][]Verdict       // of this landing and of earlier ones
	done     []Verification

	mu sync.Mutex // guards the maps while checks run, and is held while a check is reported
	// timing holds a value while the branch is verified, by whether it is the screen.
	timing map[bool]chan struct{}
}

// NewGate makes the gate of a landing.
func NewGate(r GateRequest) *Gate {
	g := &Gate{
		GateRequest: r, byID: map[string]merge.Patch{}, merged: map[string]*merge.Outcome{},
		verdicts: map[trial][]Verdict{}, timing: map[bool]chan struct{}{false: make(chan struct{}, 1), true: make(chan struct{}, 1)},
	}
	for _, p := range r.Patches {
		g.byID[p.ID] = p
	}
	return g
}

// Verifications returns all trials so far, in the order in which they ended.
func (g *Gate) Verifications() []Verification { return g.done }

// Merge merges a set of patches onto the branch, in this order.
func (g *Gate) Merge(ctx context.Context, set []string) (*merge.Outcome, error) {
	key := strings.Join(set, "\x00")
	if out := g.merged[key]; out != nil {
		return out, nil
	}
	req := merge.Request{Onto: g.Onto, Committer: g.Committer}
	for _, id := range set {
		p, known := g.byID[id]
		if !known {
			return nil, fmt.Errorf("landing: no patch %q", id)
		}
		req.Patches = append(req.Patches, p)
	}
	out, err := merge.Merge(ctx, g.Quarantine, req)
	if err == nil {
		g.merged[key] = out
	}
	return out, err
}

// Fit implements [queue.Gate].
func (g *Gate) Fit(ctx context.Context, set []string) ([]string, error) {
	out, err := g.Merge(ctx, set)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(set), func(id string) bool {
		return slices.ContainsFunc(out.Conflicts, func(c merge.Conflict) bool { return c.ID == id }) ||
			slices.ContainsFunc(out.Undoing, func(u merge.Undoing) bool { return u.ID == id })
	}), nil
}

// Verify implements [queue.Gate]. Trees whose verdict is known are not verified
// again.
func (g *Gate) Verify(ctx context.Context, trials []queue.Trial) ([]queue.Verdict, error) {
	all := make([]Verification, len(trials))
	first := map[trial]int{} // the trial that verifies a tree in this round
	for i, t := range trials {
		out, err := g.Merge(ctx, t.Set)
		if err != nil {
			return nil, err
		}
		all[i] = Verification{Candidate: Candidate{Set: t.Set, Commit: out.Commit, Tree: out.Tree, Screen: t.Screen}, Run: t.Run}
		known, err := g.known(ctx, all[i].Candidate, t)
		if err != nil {
			return nil, err
		}
		if known != nil {
			all[i].Verdict, all[i].Reused = *known, true
		} else if _, there := first[all[i].trial()]; !there {
			first[all[i].trial()] = i
		}
	}
	if err := g.check(ctx, all, slices.Sorted(maps.Values(first))); err != nil {
		return nil, err
	}
	verdicts := make([]queue.Verdict, len(trials))
	for i := range all {
		v := &all[i]
		if at, there := first[v.trial()]; !v.Reused && there && at != i {
			v.Verdict, v.Reused = all[at].Verdict, true
		}
		if v.Reused {
			g.report(*v)
		}
		verdicts[i] = queue.Verdict{Passed: v.Passed, Earlier: v.Earlier, Ahead: v.Ahead, Hung: v.Hung}
		g.done = append(g.done, *v)
	}
	return verdicts, nil
}

// check verifies some of the trials at the same time.
func (g *Gate) check(ctx context.Context, all []Verification, which []int) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	running, ctx := errgroup.WithContext(ctx)
	for _, i := range which {
		if v := all[i]; len(v.Set) == 0 {
			g.timing[v.Screen] <- struct{}{} // before the others begin
		}
	}
	for _, i := range which {
		v, done := &all[i], func() {}
		if len(v.Set) == 0 {
			done = func() { <-g.timing[v.Screen] }
		}
		running.Go(func() (err error) {
			defer done()
			if v.Verdict, err = g.timed(ctx, v.Candidate); err == nil {
				g.record(*v)
			} else {
				cancel(err) // before another takes the turn of the branch
			}
			return err
		})
	}
	return running.Wait()
}

// record keeps a verdict that was made now, and reports it.
func (g *Gate) record(v Verification) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !v.Ended {
		g.verdicts[v.trial()] = append(g.verdicts[v.trial()], v.Verdict)
	}
	g.report(v)
}

func (g *Gate) report(v Verification) {
	if g.Report != nil {
		g.Report(v)
	}
}

// known returns the verdict that stands for a trial of a tree; nil if the check has
// to run. A tree that passed once in this landing has passed. An earlier pass
// stands for a tree without a verdict of this landing, unless the trial is fresh.
func (g *Gate) known(ctx context.Context, c Candidate, t queue.Trial) (*Verdict, error) {
	have, looked := g.verdicts[c.trial()]
	if !looked {
		var err error
		if have, err = g.Known(ctx, c); err != nil {
			return nil, err
		}
		g.verdicts[c.trial()] = have
	}
	var earlier *Verdict
	var present []*Verdict // of this landing
	for i := range have {
		switch v := &have[i]; {
		case v.Earlier:
			earlier = v
		case v.Passed:
			return v, nil
		case v.Ahead && t.Confirms:
		default:
			present = append(present, v)
		}
	}
	switch {
	case len(present) >= t.Run:
		return present[t.Run-1], nil
	case len(present) == 0 && !t.Fresh:
		return earlier, nil
	}
	return nil, nil
}

// Suspects implements [queue.Gate]: patches whose files or folders the output of
// a failed trial names, on lines that the branch itself does not print.
func (g *Gate) Suspects(failed queue.Trial) []string {
	paths := map[string][]string{}
	for _, id := range failed.Set {
		paths[id] = g.Paths[id]
	}
	return Suspects(g.text(failed, false), g.text(queue.Trial{Screen: failed.Screen}, true), paths)
}

// text is the output of a verdict on the set of a trial, by the same check.
func (g *Gate) text(t queue.Trial, passed bool) string {
	for _, v := range g.done {
		if v.Passed == passed && v.Screen == t.Screen && slices.Equal(v.Set, t.Set) && v.Text != nil {
			return v.Text()
		}
	}
	return ""
}
