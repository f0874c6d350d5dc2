package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/event"
	"agentswarm/swarm/proc"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree"
)

// Recover puts a run in order whose owner died: it kills the processes that
// still live, captures and releases every workspace, settles every agent, and
// closes the run as stopped. For a closed run it makes the captures that failed
// then.
//
// It starts no agent and no command of the user. It may be killed at any point
// and run again.
func Recover(ctx context.Context, d Deps, c Config, v *store.View) error {
	awaitKeeper(ctx, v.Opened)
	for _, a := range v.Agents {
		for _, s := range a.Supervisors {
			if _, err := proc.KillOrphan(ctx, s.Pid, s.Start); err != nil {
				return fmt.Errorf("end the processes of %s: %w", a.ID, err)
			}
		}
	}
	if _, err := proc.Sweep(ctx, v.Identity.Run); err != nil {
		return fmt.Errorf("end the processes of run %s: %w", v.Identity.Run, err)
	}
	for _, a := range v.Agents {
		if err := keepLeft(d, c, a); err != nil {
			return err
		}
	}
	clearBoxes(d)
	if d.Unlock != nil {
		if err := d.Unlock(); err != nil {
			return err
		}
	}
	shared, err := recoverShared(ctx, d, v)
	if err != nil {
		return err
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(d.parallel())
	for _, a := range v.Agents {
		group.Go(func() error {
			err := recoverAgent(groupCtx, recovery{d, c, v, shared}, a)
			if err == nil && d.Recovered != nil {
				d.Recovered()
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	if err := shared.release(ctx, d, v); err != nil {
		return err
	}
	if err := trashStrays(ctx, d, v); err != nil {
		return err
	}
	if v.Status != store.RunStopped || !v.Died {
		return nil
	}
	end := &event.Closed{Status: string(store.RunStopped), Reason: v.Reason, Code: 1}
	if v.Pause != nil && v.Stop == nil {
		end = &event.Closed{Status: string(store.RunPaused), Reason: v.Pause.Reason, Code: pausedCode}
	}
	_, err = d.Journal.Append(end)
	return err
}

// pausedCode is the exit code of a command whose run was paused.
const pausedCode = 6

// recovery holds the dependencies for recovering the agents of a run.
type recovery struct {
	deps   Deps
	config Config
	view   *store.View
	shared *sharedRemains
}

// awaitKeeper waits until the keeper of a dead owner has ended its gits: their
// locks and half-removed files must not be met. The wait is bounded by
// [keeperTime].
func awaitKeeper(ctx context.Context, owner *event.Opened) {
	if owner == nil || owner.Keeper == 0 {
		return
	}
	for end := time.Now().Add(keeperTime); proc.Alive(owner.Keeper, owner.KeeperStart) && time.Now().Before(end); {
		select {
		case <-ctx.Done():
			return
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// keeperTime is more than the two seconds that a keeper gives.
const keeperTime = 5 * time.Second

// remains are a workspace that an earlier owner left.
type remains struct {
	attempt int
	space   worktree.Workspace
	kept    *worktree.Capture // nil where it goes into the trash
}

// recoverAgent captures the work that the attempts of an agent left, settles
// the agent, and only then releases the workspaces.
func recoverAgent(ctx context.Context, r recovery, a *store.Agent) error {
	d, captured := r.deps, a.Captured
	if part := r.shared.captured[a.ID]; part != nil {
		captured = part
	}
	var left []remains
	var failed task.Result
	if missed := r.shared.failed[a.ID]; missed != nil {
		failed = missed
	}
	for _, l := range a.Leases {
		if l.Shared {
			continue // others were in it too
		}
		w := WorkspaceOf(l)
		current := l.Attempt == a.Attempt
		switch {
		case l.Admin == "", OnlyChecks(l.Dir):
			// It was journaled before it was made, or only a check ran in it:
			// no agent has seen it.
			if err := dropEmpty(ctx, d, a, l, w); err != nil {
				return err
			}
			continue
		case current && a.From() != nil && !a.Entered:
			// The earlier work may be in it in part, and nothing else is.
			if err := dropEmpty(ctx, d, a, l, w); err != nil {
				return err
			}
			continue
		case current && a.Captured != nil:
			// Later changes were made by its check, and are no work of its own.
			left = append(left, remains{attempt: l.Attempt, space: w})
			continue
		}
		if err := takeBrief(a.Call, w); err != nil {
			return err
		}
		kept, err := d.Workspaces.Capture(ctx, captureRequest(d, a.ID, l.Attempt, a.Call, w))
		if err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx) // that says nothing of the workspace
			}
			if current {
				failed = notCaptured(err, w.Dir)
			}
			if gone := (*worktree.GoneError)(nil); errors.As(err, &gone) {
				left = append(left, remains{attempt: l.Attempt, space: w})
				continue
			}
			d.Warn(fmt.Sprintf("%s: its files in %s could not be captured: %v", a.ID, w.Dir, err))
			continue
		}
		record := capturedEvent(a.ID, l.Attempt, w, kept)
		holdToScope(record.Patch, a.Call, kept)
		if _, err := d.Journal.Append(record); err != nil {
			return err
		}
		if current {
			captured = record
		}
		left = append(left, remains{attempt: l.Attempt, space: w, kept: kept})
	}
	if err := settleLost(d, r.config, r.view, a, captured, failed); err != nil {
		return err
	}
	r.forgetLeft(a) // only now: when its output was last written is the last sign of it
	for _, one := range left {
		gone, err := d.Workspaces.Release(ctx, one.space, one.kept)
		if err != nil {
			return fmt.Errorf("release %s: %w", one.space.Name, err)
		}
		released := &event.Released{Agent: a.ID, Attempt: one.attempt, Trash: gone.Trashed}
		if _, err := d.Journal.Append(released); err != nil {
			return err
		}
	}
	return nil
}

// dropEmpty removes the remains of a workspace that holds no work.
func dropEmpty(ctx context.Context, d Deps, a *store.Agent, l *event.Leased, w worktree.Workspace) error {
	if err := d.Workspaces.Drop(ctx, w); err != nil {
		return err
	}
	_, err := d.Journal.Append(&event.Released{Agent: a.ID, Attempt: l.Attempt})
	return err
}

// trashStrays takes away the workspaces that no record of an agent names, as
// those are in which a merged result was checked.
func trashStrays(ctx context.Context, d Deps, v *store.View) error {
	var known []string
	if v.Shared != nil {
		known = append(known, filepath.Base(v.Shared.Dir))
	}
	for _, a := range v.Agents {
		for _, l := range a.Leases {
			known = append(known, filepath.Base(l.Dir))
		}
	}
	strays, err := d.Workspaces.Strays(known)
	if err != nil {
		return err
	}
	for _, w := range strays {
		if _, err := d.Workspaces.Release(ctx, w, nil); err != nil {
			return fmt.Errorf("take away %s: %w", w.Name, err)
		}
	}
	return nil
}

// settleLost settles an unsettled agent, with the given result or by its
// records. An agent that never began stays queued. An agent that had failed for
// want of a capture or a check settles anew if that is there now.
func settleLost(d Deps, c Config, v *store.View, a *store.Agent, kept *event.Captured, r task.Result) error {
	if a.Attempt == 0 || a.Pending() || a.Parked != "" || a.Result() != nil && !late(a, kept) {
		return nil
	}
	// No owner saw an end that a recovery put on record, either.
	unseen := a.Exit == nil || a.Exit.Lingered && a.Exit.Error == task.Lost
	if err := endAnswered(d, c, a); err != nil {
		return err
	}
	if r == nil {
		r = lostResult(d, c, v, a, kept)
	}
	if work := r.Done(); a.Exit == nil || work.Usage == (task.Usage{}) {
		lostWork(d, c, a, work)
	}
	finishWork(d, a, r.Done(), kept)
	if f, ok := r.(*task.Failed); ok && f.Kind == task.CaptureFailed {
		f.SessionAttempt = 0 // it speaks of changes that are gone
	}
	if _, ok := r.(*task.Completed); ok && a.Exit.Lingered {
		r.Done().Notes = append(slices.Clone(r.Done().Notes), lingered)
	}
	if unseen {
		r.Done().Ended = lastSign(d, v, a)
	}
	_, err := d.Journal.Append(&event.Settled{Agent: a.ID, Attempt: a.Attempt, Result: r})
	a.Status = r
	return err
}

// endAnswered records the end of an agent that had answered and only had to end
// when its owner died. Its answer stands, so that it is not paid for twice.
func endAnswered(d Deps, c Config, a *store.Agent) error {
	size, ok := answered(d, c, a)
	if !ok {
		return nil
	}
	a.Exit = &event.Ended{
		Agent: a.ID, Attempt: a.Attempt, Code: -1, Error: task.Lost, Reason: "swarm ended while it ran",
		Stdout: size, Lingered: true,
	}
	_, err := d.Journal.Append(a.Exit)
	return err
}

// answered reports whether an agent had answered and only had to end when its
// owner died, and how much it had printed.
func answered(d Deps, c Config, a *store.Agent) (size int64, ok bool) {
	if a.Exit != nil || a.ByName() {
		return 0, false
	}
	spec, file := SpecThen(c, a), outputFile(d, a)
	adapter := d.Kinds[spec.Kind].Adapter
	info, err := os.Stat(file)
	if err != nil || adapter == nil || !agent.Answered(adapter, spec, file, info.Size()) {
		return 0, false // it printed nothing, or is not done
	}
	return info.Size(), true
}

// late reports whether more is known of an agent than when it settled.
func late(a *store.Agent, kept *event.Captured) bool {
	switch r := a.Result().(type) {
	case *task.Failed:
		return a.Checked != nil || r.Kind == task.CaptureFailed && a.Captured == nil && kept != nil
	case *task.Cancelled:
		return a.Checked != nil && !a.ByName()
	default:
		return false
	}
}

// finishWork fills in the recorded facts that each attempt's work has.
func finishWork(d Deps, a *store.Agent, work *task.Work, kept *event.Captured) {
	work.Attempts, work.Started, work.Ended = a.Attempt, a.Began, a.Exited
	if a.Exited.IsZero() {
		work.Ended = d.Now()
	}
	work.OutputFile = outputFile(d, a)
	if kept != nil {
		applyCapture(work, kept)
	} else if a.Call.Shared {
		work.Patch = a.Part
	} else if from := a.From(); from != nil {
		work.Patch = from
	}
	if a.Checked == nil {
		return
	}
	work.Check, work.CheckCode = a.Checked.Output, a.Checked.Code
	if !a.Checked.OK {
		note := a.Checked.Note
		if note == "" { // of an older journal; the sandbox, which knows its paths, is gone
			note = checkNote(proc.Exit{Code: a.Checked.Code}, strings.TrimSuffix(work.Check, ".out"), nil)
		}
		work.Notes = append(slices.Clone(work.Notes), note)
	}
}
