package handback

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"agentswarm/internal/termtext"
	"agentswarm/merge"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/event"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/landing/lander"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree/git"
)

// ErrNotStarted says that a runner started no attempt: a person did not allow it, or the
// budget of the run is spent. The runner has told why.
var ErrNotStarted = errors.New("no patch is handed back")

// Runner runs attempts of agents.
type Runner interface {
	// Run makes the attempts and waits until all have ended. A budget that is used up
	// meanwhile ends it early and is no error. The error is [ErrNotStarted] if none began.
	Run(ctx context.Context, wishes []engine.RetryRequest) error
}

// Request is a merge whose refused patches are handed back.
type Request struct {
	Lander *lander.Lander      // of the run; required
	Merge  lander.MergeRequest // required; no dry run
	Runner Runner              // required
	Review string              // the review mode of the run
	// Slow returns the model of the role slow for an agent; nil: the agent keeps its own.
	Slow func(*store.Agent) *task.Choice
}

// Merge merges, hands back refused patches, and merges the results, until no patch is
// left or only a person can continue. It returns the report of all merges together; nil
// if there is nothing to merge. It returns the error of [lander.Lander.Merge] or of the
// runner.
func Merge(ctx context.Context, r Request) (*lander.Report, error) {
	report, err := r.Lander.Merge(ctx, r.Merge)
	if nothing := (*lander.NothingError)(nil); err != nil && !errors.As(err, &nothing) {
		return report, err
	}
	m := &merging{Request: r, report: report}
	if m.ref, err = m.target(ctx, err); err != nil {
		return report, err
	}
	for round := 0; round < rounds && !m.branchFails(); round++ {
		backs, err := m.next(ctx, round == 0)
		if err != nil || len(backs) == 0 {
			return m.end(err)
		}
		if more, err := m.handBack(ctx, backs); err != nil || !more {
			return m.end(err)
		}
	}
	return m.end(nil)
}

// rounds bounds how often patches are handed back in a merge. They go to the author,
// to the neutral agent, and once more to each for patches that fail on later
// landings.
const rounds = 4

// merging is a merge that hands patches back.
type merging struct {
	Request
	ref      string
	report   *lander.Report // of all merges so far; nil: no patch could be merged
	returned []lander.Returned
}

// target is the branch. nothing is the error of a merge without any patch: it stands
// unless an attempt was interrupted.
func (m *merging) target(ctx context.Context, nothing error) (string, error) {
	if m.report != nil {
		return m.report.Ref, nil
	}
	ref, err := lander.TargetRef(ctx, m.Lander.Repo, m.Merge.Into)
	if err == nil && len(interrupted(m.view(), ref)) == 0 {
		err = nothing
	}
	return ref, err
}

func (m *merging) view() *store.View { return m.Lander.Owner.View() }

func (m *merging) branchFails() bool {
	return m.report != nil && m.report.Queue != nil && m.report.Queue.BranchFails
}

// back is a patch that is handed back.
type back struct {
	refused
	to     string
	failed string // how the last attempt ended, if it left no patch to merge
}

// next are the patches to hand back: those that were left out, and those of which an
// attempt ended without a result. Attempts of an earlier process go on in the first round.
func (m *merging) next(_ context.Context, first bool) (all []back, err error) {
	v := m.view()
	for _, left := range leftOut(m.report) {
		a := v.Agent(left.agent)
		if a == nil || len(m.Merge.Works) > 0 && !m.named(left.agent) {
			continue
		}
		if to := receiver(a, left.kind); to != "" {
			all = append(all, back{refused: left, to: to})
		}
	}
	for _, a := range v.Agents {
		b := handedBack(a)
		if b == nil || b.Ref != m.ref || a.Landed() || slices.ContainsFunc(all, func(o back) bool { return o.agent == a.ID }) {
			continue
		}
		again := back{refused: refused{agent: a.ID, kind: b.Kind, with: b.With}}
		switch {
		case first && slices.ContainsFunc(interrupted(v, m.ref), func(o *store.Agent) bool { return o.ID == a.ID }):
			again.to, again.failed = b.To, "was interrupted"
		case m.attempted(a.ID) && !mergeable(m.Review, a):
			again.to, again.failed = receiver(a, b.Kind), ended(a, m.Review)
		}
		if again.to != "" {
			all = append(all, again)
		}
	}
	return all, nil
}

func (m *merging) named(id task.ID) bool {
	return slices.ContainsFunc(m.Merge.Works, func(a *store.Agent) bool { return a.ID == id })
}

// attempted reports whether this merge handed the patch of an agent back.
func (m *merging) attempted(id task.ID) bool {
	return slices.ContainsFunc(m.returned, func(r lander.Returned) bool { return r.Agent == id })
}

// ended says how an attempt ended that left nothing to merge.
func ended(a *store.Agent, review string) string {
	switch r := a.Result().(type) {
	case *task.Failed:
		return "failed: " + r.Kind.Explain(r.Reason)
	case *task.Cancelled:
		return "was cancelled: " + r.Cause.Explain(r.Reason)
	}
	if err := landing.Landable(review, a); err != nil {
		return err.Error()
	}
	return "left nothing to merge"
}

// handBack has the attempts made and merges their results. more reports whether patches may
// be handed back after that.
func (m *merging) handBack(ctx context.Context, backs []back) (more bool, err error) {
	tip, err := m.tip(ctx)
	if err != nil {
		return false, err
	}
	var wishes []engine.RetryRequest
	var ids []task.ID
	for _, b := range backs {
		wish, err := m.wish(ctx, b, tip)
		if err != nil {
			return false, err
		}
		if wish == nil {
			continue
		}
		wishes, ids = append(wishes, *wish), append(ids, b.agent)
		a := m.view().Agent(b.agent)
		m.returned = append(m.returned, lander.Returned{Agent: b.agent, Attempt: a.Attempt + 1, HandedBack: *wish.HandedBack})
		why := b.kind
		if len(b.with) > 0 {
			why += " with " + termtext.List(texts(b.with), 5)
		}
		m.Lander.Report(&lander.GivenBack{Name: lander.Names([]*store.Agent{a}), To: b.to, Why: why})
	}
	if len(wishes) == 0 {
		return false, nil
	}
	if err := m.Runner.Run(ctx, wishes); err != nil {
		if errors.Is(err, ErrNotStarted) {
			m.returned, err = m.returned[:len(m.returned)-len(wishes)], nil
		}
		return false, err
	}
	v := m.view()
	more = v.Pause == nil && v.Stop == nil
	return more, m.mergeAgain(ctx, ids)
}

// tip is the commit of the branch now.
func (m *merging) tip(ctx context.Context) (git.Hash, error) {
	tip, err := m.Lander.Repo.Ref(ctx, m.ref)
	if err == nil && tip == "" {
		tip = lander.BaseOf(m.view().Identity.Base)
	}
	return tip, err
}

// mergeAgain merges the results of attempts, and the patches that wait for them.
func (m *merging) mergeAgain(ctx context.Context, ids []task.ID) error {
	v := m.view()
	var again []task.ID
	request := m.Merge
	request.Works = nil
	for _, id := range slices.Concat(ids, without(waiting(m.report), ids)) {
		if a := v.Agent(id); a != nil && mergeable(m.Review, a) {
			again, request.Works = append(again, id), append(request.Works, a)
		}
	}
	if len(again) == 0 {
		return nil
	}
	if m.report != nil {
		if l := v.LastLanding(); l != nil && len(m.report.Outcome.Landed) > 0 {
			request.Continues = l.ID
		}
	}
	next, err := m.Lander.Merge(ctx, request)
	if done := (*lander.NothingError)(nil); errors.As(err, &done) {
		err = nil
	}
	m.report = m.report.Followed(next, again)
	return err
}

// end is the report of all merges. The remaining patches need a person.
func (m *merging) end(err error) (*lander.Report, error) {
	r := m.report
	if r == nil {
		if err == nil {
			err = &lander.NothingError{Reason: "no attempt that was asked for left a patch"}
		}
		return nil, err
	}
	v := m.view()
	for i := range m.returned {
		back := &m.returned[i]
		a := v.Agent(back.Agent)
		back.Landed = a.Attempt >= back.Attempt && landing.LandedOn(v, a, m.ref) && !m.returnedAfter(i)
	}
	r.Returned = m.returned
	if r.Several {
		if l := v.LastLanding(); l != nil && git.Hash(l.New) == r.New {
			r.Undoes = texts(l.Agents)
		}
	}
	if r.Refused && !m.branchFails() && len(r.Returned) > 0 {
		r.Refused, r.LeftOut = false, true
	}
	if err != nil && r.Stopped == nil && r.Moved() {
		r.Stopped = err
	}
	return r, err
}

// returnedAfter reports whether a patch was handed back once more.
func (m *merging) returnedAfter(i int) bool {
	return slices.ContainsFunc(m.returned[i+1:], func(r lander.Returned) bool { return r.Agent == m.returned[i].Agent })
}

// wish is the attempt that a patch is handed back for; nil if the branch has all of it.
func (m *merging) wish(ctx context.Context, b back, tip git.Hash) (*engine.RetryRequest, error) {
	v := m.view()
	a := v.Agent(b.agent)
	work := subject(a)
	if work == nil || work.Patch() == nil {
		return nil, nil // there is nothing to go on with
	}
	branch := lander.BranchName(m.ref)
	marked, patch, err := m.Lander.Bring(ctx, lander.MarkRequest{Agent: work, Tip: tip, Labels: merge.Labels{
		Ours: branch + " " + tip.Short(), Base: "before both", Theirs: string(a.ID),
	}})
	if err != nil || patch == nil {
		return nil, err
	}
	h := &event.HandedBack{To: b.to, Kind: b.kind, Ref: m.ref, Patch: work.Patch()}
	if marked.Conflict != nil {
		h.Hunks = lander.Conflicts([]merge.Conflict{*marked.Conflict})[0].Hunks
	}
	brief, err := m.brief(ctx, b, marked, work)
	if err != nil {
		return nil, err
	}
	for _, o := range brief.Others {
		h.With = append(h.With, task.ID(o.ID))
	}
	wish := &engine.RetryRequest{
		Agents: []task.ID{a.ID}, Feedback: brief.Text(), Onto: tip, From: map[task.ID]*task.Patch{a.ID: patch},
		Markers: marked.Markers(), HandedBack: h,
	}
	if b.to == event.ToNeutral {
		wish.Fresh = true
		if m.Slow != nil {
			wish.Using = m.Slow(a)
		}
	}
	return wish, nil
}

// subject shows an agent with the work that is handed back: its own, or that before it was
// handed back the first time.
func subject(a *store.Agent) *store.Agent {
	want := first(a)
	if want == nil || a.Patch() != nil && a.Patch().Commit == want.Commit {
		return a
	}
	for _, c := range a.Earlier {
		if c.Patch.Commit == want.Commit {
			return a.At(c.Attempt)
		}
	}
	return nil
}

func texts(ids []task.ID) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = fmt.Sprint(id)
	}
	return out
}

// canMerge reports whether a merge takes a patch that [landing.Landable] gives a reason
// against: it tries these again.
func canMerge(reason error) bool {
	return reason == nil || errors.Is(reason, landing.ErrUndoes) || errors.Is(reason, landing.ErrRefused)
}
