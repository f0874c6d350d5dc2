package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Patch is a patch that is to land.
type Patch struct {
	ID string // required, unique in a request
	// Odds is the probability that the patch fails the check; 0: [DefaultOdds]. It
	// changes the order of the trials and not the result.
	Odds float64
	// Needs are ids of patches that this patch builds on. It is tried after they have
	// landed or were left out. Ids that are not in the request count for nothing.
	Needs []string
}

// Trial is a run of the check.
type Trial struct {
	// Set are the ids of the patches in the tree, in the order in which they are
	// merged onto the branch. Empty: the branch itself.
	Set []string
	// Run is 1, or 2 or 3 for a later run on the same tree.
	Run int
	// Fresh demands a verdict of this landing. Without it a pass of an earlier
	// landing will do.
	Fresh bool
	// Confirms is set on the last trial before a refusal. A failure that was found ahead
	// of the landing is no verdict on it: the machine was busy then.
	Confirms bool
	// Screen asks for the quick check in place of the check. It sorts patches, and
	// decides about none.
	Screen bool
}

// Verdict is the result of a trial.
type Verdict struct {
	Passed bool
	// Earlier is set on a pass of an earlier landing. Patches may land on it. None is
	// refused on it.
	Earlier bool
	// Ahead is set on a verdict that was made ahead of the landing; see Request.Ahead.
	Ahead bool
	// Hung is set if the run failed by a time limit or for want of memory. Other runs
	// at the same time may be the cause.
	Hung bool
}

// Gate merges and verifies sets of patches.
type Gate interface {
	// Fit returns the patches of the set that merge in sequence, in this order,
	// without a conflict of text.
	Fit(ctx context.Context, set []string) ([]string, error)
	// Verify runs trials, at most as many as there are slots, and returns the verdict
	// of each. An error means that there is no verdict.
	Verify(ctx context.Context, trials []Trial) ([]Verdict, error)
	// Suspects returns ids of patches that the output of a failed trial names. It
	// may return none.
	Suspects(failed Trial) []string
}

// Request is a landing.
type Request struct {
	// Patches are in the order in which they are to land; see [Order]. A patch
	// that comes before a patch that it needs is moved behind it.
	Patches []Patch
	Slots   int // how many trials may run at the same time; at least 1
	// Resize returns the number of slots for the next rounds, after each round. Nil: it
	// stays.
	Resize func() int
	Gate   Gate // required
	// Screen is set if the gate has a quick check. Groups of patches are sorted
	// by it, and the patches that pass are verified together. It changes no
	// result.
	Screen bool
	// Joined is called with each set that has passed as a whole tree and is the
	// tip now. It begins with the set before. An error ends the landing. It may
	// be nil. With it no verdict of an earlier landing is used: a set that has
	// joined cannot be taken back if the machine turns out to be at fault.
	Joined func(ctx context.Context, set []string) error
	// Tried are sets whose verdicts the gate knows. They are tried again before others,
	// which takes no run. That changes no result.
	Tried []Tried
	// Ahead is set if the landing is for its verdicts only, while patches are still to
	// come: the branch itself is verified first, and no refusal is confirmed.
	Ahead bool
}

// Tried is a set that the check has run on.
type Tried struct {
	Set    []string
	Passed bool
}

// Kind says why a patch was left out.
type Kind string

// The kinds of refusals.
const (
	// Failed: the check passes on the branch, and fails with this patch alone on it.
	// On is empty then.
	Failed Kind = "failed"
	// Interaction: the check fails with this patch on those that landed before it,
	// and passes on them alone.
	Interaction Kind = "interaction"
	// Text: the patch does not merge onto those that landed.
	Text Kind = "text"
	// Dependency: the patch needs a patch that was refused for another reason than
	// text, and does not merge without it.
	Dependency Kind = "dependency"
)

// Refusal is a patch that was left out.
type Refusal struct {
	ID   string
	Kind Kind
	// On is the set that passed without the patch, in its order. For [Text] and
	// [Dependency] it is the final tip.
	On []string
	// Needs are the refused patches that the patch needs, for [Dependency].
	Needs []string
	// Failed are the two failed trials, and a third on all that landed, or again on the
	// same set. There are none for [Text] and [Dependency].
	Failed []Trial
}

// Outcome is the fate of the patches: each has landed or was refused.
type Outcome struct {
	// Landed are the ids of the final tip in the order in which they merge. The tree
	// of this set passed the check.
	Landed  []string
	Refused []Refusal // in the order in which they would have landed
	// BranchFails are the two failed trials of the branch itself. No patch is to
	// blame then, and none has landed or was refused.
	BranchFails []Trial
	// ScreenFails is set if the quick check fails on the branch itself. It was not used
	// after that.
	ScreenFails bool
	// Flaky are failed trials of sets that passed another time, or of which all
	// patches landed.
	Flaky []Trial
	// Trials is how many verdicts were asked for, and Rounds how many times.
	Trials, Rounds int
}

// Land finds the patches that pass together. An error comes from the gate, or is
// about a request that is not valid.
func Land(ctx context.Context, r Request) (*Outcome, error) {
	if r.Slots < 1 {
		return nil, fmt.Errorf("landing queue: %d slots; want at least 1", r.Slots)
	}
	seen := map[string]bool{}
	for _, p := range r.Patches {
		if p.ID == "" || seen[p.ID] {
			return nil, errors.New("landing queue: ids must be unique and not empty")
		}
		seen[p.ID] = true
	}
	q := &queue{gate: r.Gate, slots: r.Slots, joined: r.Joined, fresh: r.Joined != nil, screens: r.Screen, resize: r.Resize, ahead: r.Ahead}
	q.remember(r.Tried)
	patches := afterNeeds(r.Patches)
	q.begin(patches)
	err := q.run(ctx)
	if err == nil && q.stale {
		q.begin(patches)
		q.fresh, q.stale = true, false
		err = q.run(ctx)
	}
	if err != nil {
		return nil, err
	}
	return q.outcome(), nil
}

// begin makes all patches pending and forgets verdicts. Failures stay, since they
// may turn out to be flakes.
func (q *queue) begin(patches []Patch) {
	q.members, q.pending = map[string]*member{}, nil
	for i, p := range patches {
		m := &member{Patch: p, place: i}
		q.members[p.ID] = m
		q.pending = append(q.pending, m)
	}
	q.tip, q.sure, q.refused, q.branch = nil, false, nil, nil
	q.verdicts, q.unread = map[string]Verdict{}, nil
	q.good, q.bad = 0, 0
}

// member is a patch in the queue.
type member struct {
	Patch
	place   int  // in the order in which patches are to land
	named   bool // by the output of a failed trial
	unnamed bool // in a failed trial whose output names others
	passed  bool // in a group, by the check and not only by the screen
	hung    bool // its own trial ran into a limit
}

// queue is a landing that is going on.
type queue struct {
	gate    Gate
	slots   int
	members map[string]*member // by id

	pending []*member // not settled yet, in the order in which they are to land
	tip     []string  // the set that passed
	green   []string  // the latest set that passed and joins; it begins with the tip
	told    int       // so many patches of it were told to joined
	sure    bool      // the tip has passed
	refused []Refusal
	branch  []Trial // failed trials of the branch itself

	joined func(ctx context.Context, set []string) error // as in the request
	resize func() int                                    // likewise
	ahead  bool                                          // likewise

	tried []Tried         // sets that passed, the largest first, and then single patches that failed
	known map[string]bool // all sets of the request that were tried, by key

	fresh bool // no verdict of an earlier landing is used
	stale bool // a refusal would rest on a pass of an earlier landing

	screens    bool // groups are sorted by the screen
	screenRuns int  // of the screen on the branch itself that failed; -1: it passed

	verdicts       map[string]Verdict // by key of the set; a pass stays
	failures       []Trial
	unread         []Trial // failures whose output was not looked at
	good, bad      int     // unnamed patches, by their results
	trials, rounds int
}

// run settles all patches. Refused ones that pass after all may be needed by others, which
// are tried again then.
func (q *queue) run(ctx context.Context) error {
	for q.ahead && !q.sure {
		if _, err := q.verify(ctx, []Trial{{Run: 1 + len(q.branch)}}); err != nil || q.branchFails() {
			return err
		}
	}
	if err := q.whole(ctx); err != nil {
		return err
	}
	for {
		if err := q.levels(ctx); err != nil || q.stale || q.branchFails() || q.ahead {
			return err
		}
		if grown, err := q.confirm(ctx); err != nil || !grown {
			return err
		}
	}
}

// levels settles all patches that merge. Each turn of the loop takes those that need none
// of the others which are left.
func (q *queue) levels(ctx context.Context) error {
	for len(q.pending) > 0 {
		next, err := q.next(ctx)
		if err != nil {
			return err
		}
		if len(next) == 0 {
			break // the rest does not merge onto the tip
		}
		before := len(q.pending)
		l := &level{queue: q, pool: next, base: slices.Clone(q.tip), again: slices.Clone(q.tried)}
		if err := l.run(ctx); err != nil {
			return err
		}
		if q.stale || q.branchFails() || len(q.pending) == before {
			break
		}
	}
	return nil
}

// whole tries all patches at once. If there is a slot more, the branch itself is
// tried at the same time.
func (q *queue) whole(ctx context.Context) error {
	fit, err := q.gate.Fit(ctx, ids(q.pending))
	if err != nil || len(fit) == 0 {
		return err
	}
	trials := []Trial{{Set: fit, Run: 1}}
	if q.slots > 1 {
		trials = append(trials, Trial{Run: 1})
	}
	verdicts, err := q.verify(ctx, trials)
	if err == nil && verdicts[0].Passed {
		q.advance(fit)
		err = q.report(ctx)
	}
	return err
}

// report tells the latest set that joined, once.
func (q *queue) report(ctx context.Context) error {
	if q.joined == nil || len(q.green) == q.told {
		return nil
	}
	q.told = len(q.green)
	return q.joined(ctx, slices.Clone(q.green))
}

// advance makes a set the tip that has passed.
func (q *queue) advance(set []string) {
	q.tip, q.sure, q.green = set, true, set
	q.settle(set...)
}

// settle takes patches out of those that are pending.
func (q *queue) settle(set ...string) {
	q.pending = slices.DeleteFunc(q.pending, func(m *member) bool { return slices.Contains(set, m.ID) })
}

// next returns the pending patches that need no other pending one and merge onto
// the tip together. A patch that does not merge holds back no other.
func (q *queue) next(ctx context.Context) ([]*member, error) {
	open := slices.Clone(q.pending)
	for len(open) > 0 {
		list := ready(open)
		fit, err := q.onto(ctx, q.tip, list)
		if err != nil || len(fit) > 0 {
			return fit, err
		}
		open = slices.DeleteFunc(open, func(m *member) bool { return slices.Contains(list, m) })
	}
	return nil, nil
}

// ready returns the patches that need none of the others. It returns all
// patches of a cycle: no order of these is better than another.
func ready(open []*member) []*member {
	var list []*member
	for _, m := range open {
		waits := slices.ContainsFunc(open, func(o *member) bool { return o != m && slices.Contains(m.Needs, o.ID) })
		if !waits {
			list = append(list, m)
		}
	}
	if len(list) == 0 {
		return open
	}
	return list
}

// onto returns those of the patches that merge onto a set together.
func (q *queue) onto(ctx context.Context, set []string, list []*member) ([]*member, error) {
	fit, err := q.gate.Fit(ctx, slices.Concat(set, ids(list)))
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(list), func(m *member) bool { return !slices.Contains(fit, m.ID) }), nil
}

func ids(members []*member) []string {
	out := make([]string, len(members))
	for i, m := range members {
		out[i] = m.ID
	}
	return out
}

// outcome is the result once all is settled.
func (q *queue) outcome() *Outcome {
	out := &Outcome{Trials: q.trials, Rounds: q.rounds, ScreenFails: q.screenRuns >= 2}
	if q.branchFails() {
		out.BranchFails = q.branch
		return out
	}
	out.Landed, out.Refused = q.tip, q.refused
	for _, m := range q.pending {
		r := Refusal{ID: m.ID, Kind: Text, On: q.tip, Needs: needed(m, out.Refused)}
		if len(r.Needs) > 0 {
			r.Kind = Dependency
		}
		out.Refused = append(out.Refused, r)
	}
	slices.SortFunc(out.Refused, func(a, b Refusal) int { return q.members[a.ID].place - q.members[b.ID].place })
	landed := func(id string) bool { return slices.Contains(q.tip, id) }
	for _, t := range q.failures {
		within := len(t.Set) > 0 && !slices.ContainsFunc(t.Set, func(id string) bool { return !landed(id) })
		told := slices.ContainsFunc(out.Flaky, func(o Trial) bool { return o.Run == t.Run && slices.Equal(o.Set, t.Set) })
		if v := q.verdicts[key(t.Set)]; !told && (within || v.Passed) {
			out.Flaky = append(out.Flaky, t)
		}
	}
	return out
}

// needed are the patches that a patch needs and that were refused, though they merge.
func needed(m *member, refused []Refusal) []string {
	var out []string
	for _, r := range refused {
		if r.Kind != Text && slices.Contains(m.Needs, r.ID) {
			out = append(out, r.ID)
		}
	}
	return out
}

// branchFails reports whether the branch itself fails the check.
func (q *queue) branchFails() bool { return len(q.branch) == 2 }
