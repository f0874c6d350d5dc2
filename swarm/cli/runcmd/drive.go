package runcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/captureref"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/enter"
	"agentswarm/swarm/cli/follow"
	"agentswarm/swarm/cli/plan"
	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/cli/view"
	"agentswarm/swarm/control"
	"agentswarm/swarm/diskwatch"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/event"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/landing/lander"
	"agentswarm/swarm/mcp"
	"agentswarm/swarm/reviewer"
	"agentswarm/swarm/script"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/swarm/workflow/library"
	"agentswarm/worktree/git"
)

// driveRequest is the remaining work of a run.
type driveRequest struct {
	calls   []*task.Call
	script  *library.Script       // makes the calls; nil: calls are all there are
	base    store.Base            // required with a script
	retry   []engine.RetryRequest // agents to be tried again
	config  engine.Config         // required
	prior   *store.View           // the run by its earlier owners; nil for a new run
	timeout time.Duration         // of the whole run; 0 is none
	anyway  bool                  // start agents of a script that are expected to fail
	merge   *lander.MergeRequest  // at the end of the run; nil: none
	checks  *checksAhead          // for it; nil: none
}

// ended is how this owner's part of a run ended.
type ended struct {
	status store.Status
	reason string
	codes  []exit.Code
	began  time.Time
	thrown *script.Error // by the script
}

// errRunTimeout is the cause of a run that took too long.
var errRunTimeout = errors.New("--run-timeout")

// driveCalls makes the calls and waits until all are settled or the run is
// stopped. Everything that happens is in the journal when it returns, and the
// run is closed.
func driveCalls(ctx context.Context, b *session.Session, r driveRequest) (*ended, error) {
	began := time.Now()
	err := diskwatch.Release(b.Run.Dir) // of an owner that died
	var end *ended
	if err == nil {
		end, err = driveOwned(ctx, b, r)
	}
	if err == nil {
		err = diskwatch.Release(b.Run.Dir)
	}
	if err != nil {
		return nil, giveUp(b.Run.Dir, b.Owner, err)
	}
	end.began = began
	return end, nil
}

// giveUp ends the ownership of a run for an error. It gives the reserve back
// first: once the owner is closed, the reserve is that of the next owner.
func giveUp(dir string, owner io.Closer, err error) error {
	return errors.Join(err, diskwatch.Release(dir), owner.Close())
}

// driveOwned is drive without the reserve's end. The owner stays open.
func driveOwned(ctx context.Context, b *session.Session, r driveRequest) (*ended, error) {
	b.Trees.MaxFile = r.config.MaxFile
	if err := takeOver(ctx, b, &r); err != nil {
		return nil, err
	}
	if _, err := b.Owner.Append(opened(b, r)); err != nil {
		return nil, err
	}
	printSandbox(b)
	if err := diskwatch.Reserve(b.Run.Dir); err != nil {
		return nil, err
	}
	if err := b.PrintGrants(ctx); err != nil {
		return nil, err
	}
	b.Deps.Questions = plan.AskingPolicy(&b.Place, b.Contact)
	plan.SayQuestions(&b.Place, r.config, b.Deps.Questions)
	desk := follow.NewOpenQuestions(b.Owner, b.Run.ID, r.prior)
	b.Deps.Journal = desk
	if r.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, r.timeout, errRunTimeout)
		defer cancel()
	}
	watchers, err := newHooks(b)
	if err != nil {
		return nil, err
	}
	b.Deps.Hooks, b.Deps.Attendant, b.Deps.Subjects = watchers, runHooks(b, r.config).Attendant(), newSubjects(b, r.config)
	cool, err := fillCaches(ctx, b, r)
	if err != nil {
		return nil, err
	}
	ungovern := govern(b, r.config)
	since := time.Now()
	e := engine.Open(ctx, b.Deps, r.config, r.prior)
	face := &enter.Controls{Engine: e, Owner: b.Owner, Snapshots: &b.Snapshots}
	server, err := control.Listen(ctx, b.Owner, face, b.Env.Getenv)
	if err != nil {
		return nil, errors.Join(err, e.Close(), ungovern(), cool())
	}
	watching, stopWatching := context.WithCancel(context.WithoutCancel(ctx))
	var watch sync.WaitGroup
	watch.Go(func() {
		follow.ShowAt(watching, &b.Place, b.Run, &follow.PromptConsole{Questions: desk, Give: face.Carry, Notices: b.Notices}, since)
	})
	watch.Go(func() { notifyQuestions(watching, b, desk) })
	watch.Go(func() { notifyQuota(watching, b, desk) })
	unwatch := watchDisk(watching, b, r.config, e)
	if r.script != nil {
		err = carryOutScript(ctx, b, e, r)
	} else {
		r.checks = startChecks(ctx, b, r.merge)
		err = carryOut(ctx, b, e, r)
		r.checks.end()
	}
	unwatch()
	err = errors.Join(err, e.Close(), server.Close(), watchers.close(), b.Trees.Close(), ungovern(), cool(), os.RemoveAll(filepath.Join(b.Run.Dir, reviewer.SubjectStage)))
	desk.Close()
	end, closeErr := closeRun(ctx, b, err)
	if end == nil {
		stopWatching()
	}
	// It ends by itself at the end of the journal, unless an agent wrote text
	// that hides that end.
	patience := time.AfterFunc(showTime, stopWatching)
	watch.Wait()
	patience.Stop()
	stopWatching()
	if err = errors.Join(err, closeErr); err != nil {
		return nil, err
	}
	return end, nil
}

// opened is the journal's record of this owner.
func opened(b *session.Session, r driveRequest) *event.Opened {
	opened := &event.Opened{
		Pid: os.Getpid(), Version: cmdline.BuildVersion().Version,
		Resumed: r.prior != nil, Walls: b.Sandbox.Word(), Backend: string(b.Sandbox.Backend), Budget: r.budgetFact(),
		MaxTurns: r.turnsFact(),
	}
	for _, err := range b.Sandbox.PassedOver {
		opened.PassedOver = append(opened.PassedOver, termtext.ErrorLine(err))
	}
	if b.Env.Keeper != nil {
		opened.Keeper, opened.KeeperStart = b.Env.Keeper.Started()
	}
	return opened
}

// showTime is how long after its end a run is still shown.
const showTime = 2 * time.Second

// takeOver puts the state of earlier owners in order. A workspace that could
// not be captured then may be captured now.
func takeOver(ctx context.Context, b *session.Session, r *driveRequest) error {
	if r.prior == nil {
		return nil
	}
	if err := pinAgain(ctx, b, r.prior.Identity); err != nil {
		return err
	}
	progress := session.StartRecovery(&b.Place, b.Run, r.prior)
	defer progress.Close()
	b.Deps.Recovered = progress.Recovered
	if err := engine.Recover(ctx, b.Deps, r.config, r.prior); err != nil {
		return fmt.Errorf("put run %s in order: %w", b.Run.ID, err)
	}
	r.prior = b.Owner.View()
	return b.BringAlong(ctx)
}

// pinAgain makes the ref that holds the base, if the run's first owner died
// before it did.
func pinAgain(ctx context.Context, b *session.Session, id store.Identity) error {
	ref := captureref.Base(id.Run)
	at, err := b.Repo.Ref(ctx, ref)
	if err != nil || at != "" {
		return err
	}
	return b.Repo.UpdateRefs(ctx, "swarm resume "+id.Run, git.RefUpdate{
		Ref: ref, New: git.Hash(id.Base.Commit),
	})
}

// carryOut hands the calls, or the wish for another attempt, to the engine
// and waits until all there is to do is done.
func carryOut(ctx context.Context, b *session.Session, e *engine.Engine, r driveRequest) (err error) {
	seen, err := newReviews(b, e, r)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, seen.Close()) }()
	ids, err := e.StartAll(r.calls)
	seen.Began(ids, r.calls)
	for _, again := range r.retry {
		if err == nil {
			err = e.Retry(again)
		}
	}
	if err != nil {
		// Some may be at work, and nothing would wait for them.
		return errors.Join(err, e.Stop(&engine.Halt{Cause: task.CauseStopped, Reason: err.Error()}))
	}
	done := ctx.Done()
	for !e.Finished() {
		select {
		case news := <-e.News():
			if err := seen.Take(ctx, news); err != nil {
				return errors.Join(err, e.Stop(&engine.Halt{Cause: task.CauseStopped, Reason: err.Error()}))
			}
			r.checks.agentEnded()
		case <-done:
			done = nil
			if err := e.Stop(HaltFor(ctx)); err != nil {
				return err
			}
		case <-e.Halted():
			return nil
		}
	}
	return nil
}

// HaltFor says why the whole run is stopped.
func HaltFor(ctx context.Context) *engine.Halt {
	cause := context.Cause(ctx)
	h := &engine.Halt{Cause: task.CauseStopped, Reason: cause.Error(), Abandoned: errors.Is(cause, mcp.ErrClientLeft)}
	if errors.Is(cause, errRunTimeout) {
		h.Reason = "the run took longer than --run-timeout allows"
	}
	return h
}

// closeRun journals how the run ended. A failure of swarm's own leaves it open:
// the next command puts it in order.
func closeRun(ctx context.Context, b *session.Session, failed error) (*ended, error) {
	if failed != nil {
		return nil, nil
	}
	v := b.Owner.View()
	end := &ended{}
	end.status, end.codes = outcomeOf(v)
	if v.Returned != nil && v.Returned.Error != nil {
		end.thrown, end.reason = view.ThrownBy(v.Returned.Error), "the script threw: "+v.Returned.Error.Message
	}
	var sig *exit.SignalError
	cause := context.Cause(ctx)
	switch stopped := v.Stop != nil; {
	case stopped && errors.As(cause, &sig):
		end.status, end.reason = store.RunStopped, sig.Error()
		end.codes = append(end.codes, exit.Code(sig.ExitCode()))
	case stopped && errors.Is(cause, errRunTimeout):
		end.status, end.reason = store.RunStopped, v.Stop.Reason
		end.codes = append(end.codes, exit.Timeout)
	case stopped:
		end.status, end.reason = store.RunStopped, v.Stop.Reason
		end.codes = append(end.codes, exit.Terminated)
	case v.Pause != nil:
		end.status, end.reason = store.RunPaused, v.Pause.Reason
		end.codes = append(end.codes, exit.Paused)
	}
	_, err := b.Owner.Append(&event.Closed{
		Status: string(end.status), Reason: end.reason, Code: int(exit.First(end.codes...)),
	})
	return end, err
}

// outcomeOf sums up agents that have ended: the status of their run, and the
// exit codes that apply.
func outcomeOf(v *store.View) (store.Status, []exit.Code) {
	var completed, failed, open, unpaid, wrong, byName int
	var codes []exit.Code
	review := session.ReviewOf(v)
	for _, a := range counted(v) {
		if a.Call.SubjectOf != "" {
			continue // its commit has a subject without it
		}
		if a.Appraisal != nil && !a.Appraisal.Pass && !a.Accepted() {
			wrong++
		}
		if v.Script == nil && errors.Is(landing.Landable(review, a), landing.ErrUnreviewed) {
			wrong++ // a script reports itself which results it lacks
		}
		switch s := a.Status.(type) {
		case *task.Completed:
			completed++
			if s.Verified != nil && !*s.Verified {
				codes = append(codes, exit.Verify)
			}
		case *task.Failed:
			failed++
		case *task.Cancelled:
			switch {
			case a.ByName():
				byName++ // no failure beside agents that completed
			case s.Cause == task.CauseBudget:
				unpaid++
			default:
				failed++
			}
		case *task.Running:
			open++
		}
	}
	if failed+wrong > 0 {
		codes = append(codes, exit.Degraded)
	}
	if unpaid > 0 {
		codes = append(codes, exit.Paused)
	}
	if len(view.Denials(v)) > 0 {
		codes = append(codes, exit.Approval)
	}
	if v.Script != nil {
		return scriptOutcome(v, scriptSum{completed, failed, wrong}, codes)
	}
	switch {
	case unpaid > 0:
		return store.RunPaused, codes
	case open > 0:
		return store.RunStopped, codes
	case failed > 0 && completed == 0:
		return store.RunFailed, codes
	case byName > 0 && completed == 0:
		return store.RunFailed, append(codes, exit.Degraded) // the run has no result at all
	case failed+wrong > 0:
		return store.RunDegraded, codes
	default:
		return store.RunCompleted, codes
	}
}
