package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sync/semaphore"

	"agentswarm/swarm/event"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree"
	"agentswarm/worktree/git"
)

// shared is the workspace in which all shared calls of the run work together.
//
// The first call that needs it makes it, from the run's base and the captures
// of earlier owners; it is released when the engine closes. After each attempt
// the whole workspace is captured as a change of the capture before. So the
// patches, applied in order, give its tree.
type shared struct {
	base string // of all shared calls; owned by the loop; empty before the first

	// turn is held to make, enter, capture, leave or release it.
	turn *semaphore.Weighted
	// turn guards the fields below.
	space  *worktree.Workspace // nil where there is none
	tip    git.Hash            // holds it as it was captured last; empty: the base does
	last   *worktree.Capture   // nil where this owner captured nothing yet
	inside []task.ID           // whose edits may be in it that no capture holds
	// owing are the attempts in it that could not be captured.
	owing map[task.ID][]int
}

// begin takes over the state that earlier owners left, after [Recover]. It has
// a workspace only if that could not be captured.
func (s *shared) begin(prior *store.View) {
	s.turn, s.owing = semaphore.NewWeighted(1), map[task.ID][]int{}
	if prior == nil {
		return
	}
	s.tip = git.Hash(prior.Tip)
	for _, a := range prior.Agents {
		if a.Call.Shared {
			s.base = a.Call.Base
		}
		for _, l := range a.Within() {
			s.owing[a.ID] = append(s.owing[a.ID], l.Attempt)
		}
	}
	if l := prior.Shared; l != nil && l.Admin != "" && len(s.owing) > 0 {
		w := WorkspaceOf(l)
		s.space = &w
	}
}

// checkShared refuses shared calls that cannot be in the same workspace.
func (e *Engine) checkShared(calls []*task.Call) error {
	base := e.share.base
	for _, call := range calls {
		switch {
		case !call.Shared:
		case len(call.DependsOn)+len(call.After) > 0:
			return fmt.Errorf("%q cannot start from the work of others: it shares the workspace of the run", call.Label)
		case base != "" && base != call.Base:
			return fmt.Errorf("%q starts from %s, and the workspace it shares from %s", call.Label, call.Base, base)
		default:
			base = call.Base
		}
	}
	e.share.base = base
	return nil
}

// mayHaveChanged reports whether an attempt counts as having changed something.
// In the shared workspace the edits of agents cannot be told apart.
func mayHaveChanged(call *task.Call, p *task.Patch) bool { return p != nil || call.Shared }

// shared is a whole attempt in the shared workspace.
func (t *attempt) shared(ctx context.Context) ending {
	t.work = t.before()
	if err := t.prepare(); err != nil {
		return *t.notStarted(ctx, err)
	}
	if end := t.enter(ctx); end != nil {
		return *end
	}
	outcome, end := t.live(ctx)
	if end != nil && t.rounds.n <= 1 {
		return *end // it never ran, and there is nothing of it to capture
	}
	if err := t.capturePart(ctx); err != nil {
		failed := t.captureFailed(err)
		t.space = nil
		return failed
	}
	t.space = nil
	if end != nil {
		if end.err == nil {
			applyWork(end.result, t.work)
		}
		return *end
	}
	return t.judge(ctx, outcome)
}

// enter brings the attempt into the shared workspace, which it makes where
// there is none.
func (t *attempt) enter(ctx context.Context) *ending {
	s := &t.engine.share
	if err := s.turn.Acquire(ctx, 1); err != nil {
		return t.notStarted(ctx, err)
	}
	defer s.turn.Release(1)
	if err := t.clearGone(ctx); err != nil {
		return t.notStarted(ctx, err)
	}
	if s.space == nil {
		if end := t.makeShared(ctx); end != nil {
			return end
		}
	} else if err := t.journal(t.entered(s.space)); err != nil {
		return t.notStarted(ctx, err)
	}
	t.space, t.start, t.within = s.space, s.space.Base, true
	s.inside = append(s.inside, t.id)
	return nil
}

// entered is the record of the attempt's being in a shared workspace.
func (t *attempt) entered(w *worktree.Workspace) *event.Leased {
	l := leased(t.id, t.n, w)
	l.Shared = true
	return l
}

// clearGone gives up a shared workspace whose folder an agent has removed. The
// next workspace holds all that was captured.
func (t *attempt) clearGone(ctx context.Context) error {
	e, s := t.engine, &t.engine.share
	if s.space == nil {
		return nil
	}
	if at, err := os.Lstat(s.space.Dir); err == nil && at.IsDir() {
		return nil
	}
	left, err := e.deps.Workspaces.Release(ctx, *s.space, nil)
	if err != nil {
		return err
	}
	s.space, s.last = nil, nil
	return t.journal(&event.Released{Shared: true, Trash: left.Trashed})
}

// makeShared makes the shared workspace: the base, the captured work so far,
// and the setup. Until all of that is in it, its record names no git folder. By
// this a recovery knows that no agent was in it.
func (t *attempt) makeShared(ctx context.Context) *ending {
	e, s := t.engine, &t.engine.share
	r := worktree.LeaseRequest{
		Name: "shared." + task.AttemptName(t.id, t.n), Base: git.Hash(t.call.Base),
		Saved: filepath.Join(t.dir, "index"),
	}
	filled, err := t.admit(ctx, r)
	if err != nil {
		return t.notStarted(ctx, err)
	}
	intended := t.entered(&worktree.Workspace{
		Base: r.Base, Index: r.Saved,
		Dir: filepath.Join(e.deps.Run.State().Trees(e.deps.Run.ID), r.Name),
	})
	var end *ending
	if err = t.journal(intended); err == nil {
		end, err = t.fillShared(ctx, r)
	}
	filled()
	// It stays to the end of the run: no agent may wait for the room it takes.
	t.freed()
	if err != nil {
		end = t.notStarted(ctx, err)
	}
	if end != nil {
		// Files that could not be removed are strays, which [Recover] finds.
		_ = t.journal(&event.Released{Agent: t.id, Attempt: t.n})
		_ = t.journal(&event.Released{Shared: true})
		return end
	}
	s.space, s.last = t.space, nil
	return nil
}

// fillShared makes the workspace, and takes it away again where it does not
// come to be whole.
func (t *attempt) fillShared(ctx context.Context, r worktree.LeaseRequest) (end *ending, err error) {
	e := t.engine
	t.space, err = e.deps.Workspaces.Lease(ctx, r)
	if err != nil {
		return nil, err
	}
	t.start = r.Base
	if tip := e.share.tip; tip != "" && tip != r.Base {
		err = e.deps.Workspaces.Restore(ctx, *t.space, tip)
	}
	if err == nil {
		end = t.setup(ctx)
	}
	if err == nil && end == nil {
		err = t.journal(t.entered(t.space))
	}
	if err == nil && end == nil || t.broke != nil {
		return end, err // the next owner looks after an unrecorded workspace
	}
	dropping, cancel := context.WithTimeout(context.WithoutCancel(ctx), captureTime)
	defer cancel()
	err = errors.Join(err, e.deps.Workspaces.Drop(dropping, *t.space))
	t.space = nil
	return end, err
}

// capturePart captures the shared workspace once the attempt has ended, and
// takes the attempt out of it. It also runs for a cancelled attempt.
func (t *attempt) capturePart(ctx context.Context) error {
	e, s := t.engine, &t.engine.share
	ctx = context.WithoutCancel(ctx)
	if err := s.turn.Acquire(ctx, 1); err != nil {
		return err
	}
	defer s.turn.Release(1)
	ctx, cancel := context.WithTimeout(ctx, captureTime)
	defer cancel()
	t.out()
	if s.space != t.space {
		t.gone = true // another workspace took its place
		return errors.Join(&worktree.GoneError{Dir: t.space.Dir}, t.journal(t.released()))
	}
	kept, err := e.deps.Workspaces.Capture(ctx, partRequest(e.deps, partOf{
		id: t.id, attempt: t.n, call: t.call, space: *t.space,
		tip: s.tip, from: t.from, live: len(s.inside) > 0,
	}))
	if err != nil {
		var gone *worktree.GoneError
		if t.gone = errors.As(err, &gone); t.gone {
			return errors.Join(err, t.journal(t.released()))
		}
		s.owing[t.id] = append(s.owing[t.id], t.n)
		return err
	}
	t.captured = kept
	record := partEvent(kept, capturedEvent(t.id, t.n, *t.space, kept), s.tip, t.from)
	if kept.Changed {
		holdToScope(record.Patch, t.call, kept)
		if len(s.inside) > 0 {
			record.Notes = append(record.Notes, sharedNote(s.inside))
		}
	}
	applyCapture(&t.work, record)
	kr, err := e.deps.Journal.Append(record)
	if err != nil {
		t.broke = errors.Join(t.broke, fmt.Errorf("journal %s: %w", event.Kind(record), err))
		return err
	}
	if kept.Changed {
		t.part = kr.N
	}
	s.tip, s.last = git.Hash(record.Tip), kept
	// This capture also has the work of its earlier attempts.
	for _, n := range s.owing[t.id] {
		_ = t.journal(&event.Released{Agent: t.id, Attempt: n})
	}
	delete(s.owing, t.id)
	return t.journal(t.released())
}

func (t *attempt) released() *event.Released {
	return &event.Released{Agent: t.id, Attempt: t.n}
}

// out strikes the attempt off those that are in the workspace. The caller has
// the turn.
func (t *attempt) out() {
	s := &t.engine.share
	s.inside = slices.DeleteFunc(s.inside, func(id task.ID) bool { return id == t.id })
	t.within = false
}

// leave takes an attempt out of the shared workspace that never ran there.
func (t *attempt) leave(ctx context.Context) error {
	s := &t.engine.share
	if err := s.turn.Acquire(context.WithoutCancel(ctx), 1); err != nil {
		return err
	}
	defer s.turn.Release(1)
	t.out()
	return t.journal(t.released())
}

// partOf is an attempt whose part in the shared workspace is captured.
type partOf struct {
	id      task.ID
	attempt int
	call    *task.Call
	space   worktree.Workspace
	tip     git.Hash
	from    *task.Patch // the earlier changes of its agent there
	live    bool        // others are in there
}

// partRequest says where the capture of a part goes.
func partRequest(d Deps, p partOf) worktree.CaptureRequest {
	r := captureRequest(d, p.id, p.attempt, p.call, p.space)
	r.On, r.Live = p.tip, p.live
	if p.from != nil {
		r.With = &worktree.Span{Base: git.Hash(p.from.Base), Commit: git.Hash(p.from.Commit)}
	}
	return r
}

// partEvent makes the record of a capture that of a part.
func partEvent(kept *worktree.Capture, record *event.Captured, tip git.Hash, from *task.Patch) *event.Captured {
	switch {
	case kept.Changed:
		record.Tip = string(kept.Commit)
	case tip != "":
		record.Tip, record.Patch = string(tip), from
	default:
		record.Tip, record.Patch = string(kept.Base), from
	}
	return record
}

// sharedNote says whose edits may be in a patch besides an agent's own.
func sharedNote(others []task.ID) string {
	return fmt.Sprintf("%s in the shared workspace at the same time: this patch holds the changes up to then",
		areWas(others))
}

// areWas is "a1 was", or "a1, a2 and 3 more were".
func areWas(ids []task.ID) string {
	sorted := slices.SortedFunc(slices.Values(ids), func(a, b task.ID) int { return a.Number() - b.Number() })
	if len(sorted) == 1 {
		return string(sorted[0]) + " was"
	}
	var names []string
	for i, id := range sorted {
		if i == maxOthers {
			return fmt.Sprintf("%s and %d more were", strings.Join(names, ", "), len(sorted)-i)
		}
		names = append(names, string(id))
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last] + " were"
}

// maxOthers bounds the agents that a note names.
const maxOthers = 5

// checkApart checks the part of an agent that ended well, as it was captured:
// others go on with the workspace meanwhile.
func (t *attempt) checkApart(ctx context.Context, done *task.Completed) ending {
	t.start, t.last = git.Hash(t.work.Patch.Base), true
	end := t.leaseCheck(ctx)
	if end == nil {
		return t.check(ctx, done)
	}
	if failed, ok := end.result.(*task.Failed); ok {
		// A resume runs the check alone.
		failed.Kind, failed.Reason = task.Other, "its check could not be run: "+failed.Reason
	}
	return *end
}

// releaseShared releases the shared workspace, once no agent is in it any more.
// It returns swarm's own failure.
func (e *Engine) releaseShared(life context.Context) error {
	s := &e.share
	if s.space == nil || len(s.owing) > 0 {
		return nil // the next owner captures it
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(life), captureTime)
	defer cancel()
	left, err := e.deps.Workspaces.Release(ctx, *s.space, s.last)
	if err != nil {
		e.deps.Warn(fmt.Sprintf("the shared workspace stays until gc: %v", err))
		return nil
	}
	_, err = e.deps.Journal.Append(&event.Released{Shared: true, Trash: left.Trashed})
	return err
}
