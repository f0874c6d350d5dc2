package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"agentswarm/swarm/engine"
	"agentswarm/swarm/event"
	"agentswarm/swarm/manifest"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree/git"
)

// reviewAuto is the mode of --review in which each patch is reviewed.
const reviewAuto = "auto"

// reviewStage is what the stage of such a reviewer is called, and reviewRole
// its role.
const (
	reviewStage = "review"
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
	dir    string
	store  *git.Quarantine // nothing is made in it
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
	dir := filepath.Join(b.run.Dir, "review")
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o700)); err != nil {
		return nil, err
	}
	q, err := b.frozen.Quarantine(filepath.Join(dir, "objects"))
	if err != nil {
		return nil, err
	}
	v := &reviews{
		bench: b, engine: e, config: r.config, prior: r.prior, dir: dir, store: q,
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
	return os.RemoveAll(v.dir)
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
		config: v.config, result: done, store: v.store, from: git.Hash(done.Patch.Base), to: git.Hash(done.Patch.Commit),
	})
	if err != nil {
		return err
	}
	call := v.call(id, done, manifest.Prompt(task.Prompt(v.calls[id].Input), shown))
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
func (v *reviews) call(id task.ID, done *task.Completed, prompt string) *task.Call {
	work := v.calls[id]
	call := &task.Call{
		Input: &task.TypedAgentInput{Role: reviewRole, Prompt: prompt}, Agent: work.Agent,
		Label: fmt.Sprintf("review of %s", engine.Title(id, work)), Phase: reviewStage, Schema: manifest.Schema(),
		Base:  done.Patch.Commit,
		Stage: &task.Stage{Name: reviewStage, Roster: []string{reviewStage}, Words: manifest.Reviewer, Reads: true},
	}
	kinds := v.bench.env.kinds().ByName()
	routed := *call
	if _, err := engine.Assign(v.config, kinds, engine.AssignRequest{Call: &routed}); err == nil {
		call = &routed // else its agent cannot be told that model, and goes by its own
	}
	call.ReadOnly = can(kinds, v.config)(call.Agent).ReadOnly
	return call
}

// keep journals what a reviewer found, unless that is on record.
func (v *reviews) keep(of tried, by task.ID, done *task.Completed) error {
	_, answer, err := engine.WholeAnswer(done)
	if err != nil {
		return fmt.Errorf("read the review of %s: %w", of.id, err)
	}
	verdict, err := manifest.Read(answer)
	if err != nil {
		return fmt.Errorf("review of %s by %s: %w", of.id, by, err)
	}
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

// workers are the agents that the workflow asked for, without the reviewers of
// their work.
func workers(v *store.View) []*store.Agent {
	var all []*store.Agent
	for _, a := range v.Agents {
		if a.Call.Stage == nil || a.Call.Stage.Name != reviewStage {
			all = append(all, a)
		}
	}
	return all
}

// unreviewed reports whether a work waits for a review that was not begun.
func unreviewed(c engine.Config, v *store.View) bool {
	if c.Review != reviewAuto {
		return false
	}
	for _, a := range workers(v) {
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
