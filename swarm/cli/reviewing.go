package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/event"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/manifest"
	told "agentswarm/swarm/stage"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree/git"
)

// reviewAuto is the mode of --review in which each patch is reviewed.
const reviewAuto = landing.ReviewAuto

// reviewStage is what the stage of such a reviewer is called, and reviewRole
// its role.
const (
	reviewStage = landing.ReviewStage
	reviewRole  = "smol"
)

// reviews has each patch of a run reviewed by an agent that only reads, and
// keeps what it found. A nil one reviews nothing.
type reviews struct {
	bench  *bench
	engine *engine.Engine
	config engine.Config
	calls  map[task.ID]*task.Call
	works  map[task.ID]tried // what a reviewer looks at
	prior  *store.View       // what earlier owners left; nil for none
	store  *git.Quarantine   // nothing is made in it
}

// tried is an attempt of a work.
type tried struct {
	id      task.ID
	attempt int
}

// newReviews is nil where the run has none.
func (b *bench) newReviews(e *engine.Engine, r driveRequest) (*reviews, error) {
	if r.config.Review != reviewAuto {
		return nil, nil //nolint:nilnil // no review is no error
	}
	q, err := b.reader(reviewStage)
	if err != nil {
		return nil, err
	}
	v := &reviews{
		bench: b, engine: e, config: r.config, prior: r.prior, store: q,
		calls: map[task.ID]*task.Call{}, works: map[task.ID]tried{},
	}
	if r.prior != nil {
		for _, a := range r.prior.Agents {
			v.calls[a.ID] = a.Call
		}
	}
	return v, nil
}

// close removes what only this owner needed.
func (v *reviews) close() error {
	if v == nil {
		return nil
	}
	return os.RemoveAll(filepath.Join(v.bench.run.Dir, reviewStage))
}

// began notes the calls that the workflow has made.
func (v *reviews) began(ids []task.ID, calls []*task.Call) {
	if v == nil {
		return
	}
	for i, id := range ids {
		v.calls[id] = calls[i]
	}
}

// take begins the review of a work that is done, or keeps what one has found.
func (v *reviews) take(ctx context.Context, news engine.News) error {
	end, ok := news.(*engine.Settled)
	if v == nil || !ok {
		return nil
	}
	done, ok := end.Result.(*task.Completed)
	if !ok {
		return nil // it has failed, and says so
	}
	if of, ok := v.works[end.Agent]; ok {
		return v.keep(of, end.Agent, done)
	}
	call := v.calls[end.Agent]
	if call == nil || call.Stage != nil || done.Patch == nil {
		return nil
	}
	if err := v.begin(ctx, end.Agent, done); err != nil && !errors.Is(err, engine.ErrClosed) {
		// One patch that cannot be shown to anybody is no reason to stop all others.
		v.bench.deps.Warn(fmt.Sprintf("%s is not reviewed: %v", end.Agent, err))
	}
	return nil // of a run that was stopped a resume begins it
}

// begin starts the review of a work, unless its check speaks against it
// already: nobody is paid to say that again.
func (v *reviews) begin(ctx context.Context, id task.ID, done *task.Completed) error {
	if done.Verified != nil && !*done.Verified {
		return nil
	}
	shown, err := evidence(ctx, evidenceRequest{
		config: v.config, result: done, store: v.store, place: &v.bench.place, modules: done.Patch.Modules, from: git.Hash(done.Patch.Base), to: git.Hash(done.Patch.Commit),
	})
	if err != nil {
		return err
	}
	call := v.call(id, done, shown)
	at, err := v.bench.repo.TreeOf(ctx, git.Hash(call.Base))
	if err != nil {
		return err
	}
	call.BaseTree = string(at)
	reviewer, err := v.engine.Start(call)
	if err != nil {
		return err
	}
	v.calls[reviewer], v.works[reviewer] = call, tried{id, done.Attempts}
	return nil
}

// call asks for the review of a work, in a workspace that holds it.
func (v *reviews) call(id task.ID, done *task.Completed, shown *manifest.Manifest) *task.Call {
	work := v.calls[id]
	ask := told.Review{Task: task.Prompt(work.Input), Change: shown.Text()}
	for _, f := range shown.Files {
		ask.Paths = append(ask.Paths, f.Path)
	}
	prompt, brief := ask.Ask()
	call := aside(asideRequest{
		of: id, work: work, role: reviewRole, stage: reviewStage, words: told.Reviewing, prompt: prompt, schema: told.Verdict(),
	})
	call.Base, call.Stage.Brief = done.Patch.Commit, brief
	kinds := v.bench.env.kinds().ByName()
	call = routedReview(v.config, kinds, call)
	call.ReadOnly = can(kinds, v.config)(call.Agent).ReadOnly
	return call
}

// routedReview is a review as its role has it. An agent that cannot be told the
// model of that goes by its own.
func routedReview(c engine.Config, kinds map[string]agent.Kind, call *task.Call) *task.Call {
	routed := *call
	if _, err := engine.Assign(c, kinds, engine.AssignRequest{Call: &routed}); err != nil {
		return call
	}
	return &routed
}

// reviewsOf are the reviews that the patches of calls may bring about, as far as
// it matters who is asked for them.
func reviewsOf(c engine.Config, kinds map[string]agent.Kind, calls []*task.Call) (all []*task.Call) {
	if c.Review != reviewAuto {
		return nil
	}
	for _, work := range calls {
		if work.Stage == nil && !engine.SpecOf(c, work).ReadOnly {
			all = append(all, routedReview(c, kinds, aside(asideRequest{work: work, role: reviewRole, stage: reviewStage})))
		}
	}
	return all
}

// keep journals what a reviewer found, unless that is on record.
func (v *reviews) keep(of tried, by task.ID, done *task.Completed) error {
	verdict := verdictOf(done)
	found := &event.Appraised{Agent: of.id, Attempt: of.attempt, Pass: verdict.Pass, By: by}
	for _, p := range verdict.Problems {
		found.Problems = append(found.Problems, p.String())
	}
	if v.prior != nil {
		if a := v.prior.Agent(of.id); a != nil && a.Appraisal != nil && a.Appraisal.By == by && a.Appraisal.Attempt == found.Attempt {
			return nil
		}
	}
	return v.engine.Note(found)
}

// verdictOf is what a reviewer answered. What cannot be read lets no work pass,
// and is no reason to stop all other agents.
func verdictOf(done *task.Completed) manifest.Verdict {
	_, answer, err := engine.WholeAnswer(done)
	if err == nil {
		var verdict manifest.Verdict
		if verdict, err = manifest.Read(answer); err == nil {
			return verdict
		}
	}
	return manifest.Verdict{Problems: []manifest.Problem{{Problem: "the verdict of its reviewer cannot be read: " + err.Error()}}}
}

// unreviewed reports whether a work waits for a review that was not begun.
func unreviewed(c engine.Config, v *store.View) bool {
	if c.Review != reviewAuto {
		return false
	}
	for _, a := range landing.Workers(v) {
		done, ok := a.Status.(*task.Completed)
		if ok && done.Patch != nil && a.Appraisal == nil && (done.Verified == nil || *done.Verified) {
			return true
		}
	}
	return false
}

// takeReview reads --review.
func (pl *plan) takeReview(mode string) error {
	switch {
	case mode == "" || mode == "off":
		return nil
	case mode != reviewAuto:
		return usagef("run: --review %q: want auto or off", mode)
	case len(pl.workflow.Command) > 0:
		return usagef("run: --review is for agents that take a prompt, not for a command after --")
	case pl.script != nil:
		return usagef("run: --review is for a prompt, --each or a list of tasks; a script reviews by std.stages or by agents of its own")
	}
	pl.config.Review = reviewAuto
	return nil
}
