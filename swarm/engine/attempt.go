package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/event"
	"agentswarm/swarm/proc"
	"agentswarm/swarm/quota"
	"agentswarm/swarm/task"
	"agentswarm/worktree"
	"agentswarm/worktree/git"
)

// attempt is one try of one agent. Its own goroutine owns it.
type attempt struct {
	engine *Engine
	id     task.ID
	n      int
	call   *task.Call
	began  time.Time
	whole  bool // its workspace is a whole checkout, whatever others have
	last   bool // no try follows a failed start
	// owed is the result of an agent that ended well under an earlier owner
	// and whose check is all that is missing; nil for any other attempt.
	owed *task.Completed
	// prompt is the prompt of the call, with later remarks.
	prompt  string
	notes   []string // of hooks, for its work
	gotRun  *ranWith // the start parameters of its latest program; nil: no program started
	acted   bool     // the agent used a tool
	words   string   // of ours, which come before it
	unheard []string // messages that earlier attempts received while they worked
	parent  *Parent  // the agent whose conversation it continues; nil: a new conversation
	// continued is the agent's own conversation that it continues; nil: none.
	continued *event.Continued
	// from is the work of an earlier attempt that this attempt starts from.
	from *task.Patch
	// onto is the commit that it starts from in place of its call's base;
	// empty: the base.
	onto git.Hash
	// join are the patches its base is made of, joined whose they are.
	join   []task.Patch
	joined []task.ID
	spent  task.Usage // by earlier attempts
	// unpriced counts its tokens with an unknown cost. The reader of its events
	// owns the field.
	unpriced int64

	dir        string // of its files
	spec       *agent.Spec
	rounds     rounds
	guard      *guard
	space      *worktree.Workspace
	captured   *worktree.Capture
	snapping   sync.Mutex // held while the workspace is captured before an action
	snapshots  int        // that were begun; guarded by snapping
	askAddress string     // the socket that its hooks ask on; empty: none
	start      git.Hash   // the base, for commands in the workspace
	around     Enclosure  // the sandbox of its latest program
	gone       bool       // the agent removed its own workspace
	unseen     bool       // no agent has been in the workspace
	survived   bool       // a process may still be there that could write to the workspace
	broke      error      // the journal could not be written
	freed      func()     // the disk its workspace was admitted for
	within     bool       // it is in the shared workspace
	part       int64      // the record that captured its part of that
	pids       []int      // of its supervisors
	stay       stay
	lane       string         // of the governor; empty: none
	probes     bool           // it probes a quota window
	refusal    *event.Retry   // the last request that was refused, as the agent tells it
	quota      *quota.Refusal // by which its latest process ended; nil: none
	lead       func()         // lets the waiters for its first answer go; nil: there are none
	work       task.Work
}

// ending is the end of an attempt, for the loop.
type ending struct {
	result task.Result
	retry  bool  // it could not be started, and may be next time
	held   bool  // the run was paused before its agent started
	err    error // swarm's own failure
	// retryAfter is the wait that the agent was told.
	retryAfter time.Duration
	// quota is the window that refused the attempt; nil: none did.
	quota *quota.Refusal
	// stalled is set where a stream of its model sent nothing for too long.
	stalled bool
	// unfit is set where its program would not start in another attempt either.
	unfit bool
	// stumbled is set where another backend may do.
	stumbled bool
	part     int64  // the record that captured its part of the shared workspace
	at       string // where its workspace was mounted; empty: nowhere
}

// run is the attempt's life up to its result. The workspace is still there
// when it returns.
func (t *attempt) run(ctx context.Context) (end ending) {
	t.freed = func() {}
	switch {
	case t.owed != nil:
		end = t.recheck(ctx)
	default:
		if refused := t.admitted(ctx); refused != nil {
			end = *refused
			break
		}
		if t.call.Shared {
			end = t.shared(ctx)
		} else {
			end = t.fresh(ctx)
		}
		t.noteHeld(&end)
		t.dismissed(ctx, &end)
	}
	end.part = t.part
	if t.space != nil {
		end.at = t.space.At
	}
	if t.broke != nil {
		// Whatever else went wrong, nothing may be said that is not on disk.
		return ending{err: fmt.Errorf("agent %s, attempt %d: %w", t.id, t.n, t.broke)}
	}
	return end
}

// fresh is a whole attempt, from a new workspace to a result.
func (t *attempt) fresh(ctx context.Context) ending {
	// Until the attempt has work of its own, it keeps the earlier work: if it
	// does not begin, the next attempt finds that work.
	t.work = t.before()
	if err := t.prepare(); err != nil {
		return *t.notStarted(ctx, err)
	}
	base, end := t.base(ctx)
	if end != nil {
		return *end
	}
	if end := t.lease(ctx, worktree.LeaseRequest{
		Name: task.AttemptName(t.id, t.n), Base: base,
		Saved: filepath.Join(t.dir, "index"), Backend: t.backend(),
	}); end != nil {
		return *end
	}
	t.start = base
	if t.from != nil {
		if err := t.engine.deps.Workspaces.Restore(ctx, *t.space, git.Hash(t.from.Commit)); err != nil {
			t.unseen = true
			return *t.notStarted(ctx, err)
		}
	}
	if end := t.setup(ctx); end != nil {
		return t.captureAfter(ctx, *end)
	}
	outcome, end := t.live(ctx)
	if end != nil {
		return t.captureAfter(ctx, *end)
	}
	if err := t.capture(ctx); err != nil {
		return t.captureFailed(err)
	}
	return t.judge(ctx, outcome)
}

// before is the work of the attempt as long as its agent has not begun.
func (t *attempt) before() task.Work {
	work := task.Work{Attempts: t.n, Started: t.began, Usage: t.spent, Patch: t.from}
	carry(&work, t.continued)
	return work
}

// base is the commit that the workspace starts from: the base of earlier work,
// the call's base, or the call's base with the patches of its dependencies.
func (t *attempt) base(ctx context.Context) (git.Hash, *ending) {
	switch {
	case t.from != nil:
		return git.Hash(t.from.Base), nil
	case t.onto != "":
		return t.onto, nil
	case len(t.join) == 0:
		return git.Hash(t.call.Base), nil
	}
	base, err := t.engine.deps.Joiner.Join(ctx, JoinRequest{
		Agent: t.id, Attempt: t.n, Base: git.Hash(t.call.Base), Patches: t.join, From: t.joined,
	})
	var conflict *JoinError
	if errors.As(err, &conflict) {
		t.work.Ended = t.engine.deps.Now()
		return "", &ending{result: &task.Cancelled{
			Work: t.work, Cause: task.CauseDependency, Reason: conflict.Error(),
		}}
	}
	if err != nil {
		return "", t.notStarted(ctx, err)
	}
	return base, nil
}

// prepare makes the attempt's folder and finds its agent.
func (t *attempt) prepare() error {
	t.dir = t.engine.deps.Run.Attempt(t.id, t.n)
	for _, dir := range []string{filepath.Join(t.dir, "artifacts"), filepath.Dir(t.engine.deps.Run.Door(t.id, t.n))} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	if name := t.call.Agent; name != "" && t.engine.config.Agents[name] == nil {
		return fmt.Errorf("agent %q is not recorded with the run", name)
	}
	if t.continued != nil {
		if err := t.journal(t.continued); err != nil {
			return err
		}
	}
	t.spec = specAfter(t.engine.config, t.call, t.parent.used())
	t.suit()
	t.work.OutputFile = filepath.Join(t.dir, "stdout")
	t.mentionUnseen()
	if err := t.askForSchema(); err != nil {
		return err
	}
	return t.engine.deps.Run.WriteFile(filepath.Join(t.dir, "prompt"), []byte(t.prompt))
}

// lease makes the workspace. The intention is journaled first, so that a crash
// in between leaves no unknown workspace.
func (t *attempt) lease(ctx context.Context, r worktree.LeaseRequest) *ending {
	e := t.engine
	filled, err := t.admit(ctx, r)
	if err != nil {
		return t.notStarted(ctx, err)
	}
	defer filled()
	intended := leased(t.id, t.n, &worktree.Workspace{
		Base: r.Base, Index: r.Saved, Backend: r.Backend,
		Dir: filepath.Join(e.deps.Run.State().Trees(e.deps.Run.ID), r.Name),
	})
	if err := t.journal(intended); err != nil {
		return t.notStarted(ctx, err)
	}
	space, err := e.deps.Workspaces.Lease(ctx, r)
	if err != nil {
		// Only files that could not be removed are left. The intention names
		// them for [Recover].
		if _, at := os.Lstat(intended.Dir); errors.Is(at, fs.ErrNotExist) {
			_ = t.journal(&event.Released{Agent: t.id, Attempt: t.n})
		}
		return t.notStarted(ctx, err)
	}
	t.space = space
	if err := t.journal(leased(t.id, t.n, space)); err != nil {
		return t.notStarted(ctx, err)
	}
	return nil
}

// admit waits until the disk has room for a workspace. The caller calls filled
// once the workspace is filled or given up.
func (t *attempt) admit(ctx context.Context, r worktree.LeaseRequest) (filled func(), err error) {
	size, err := t.engine.deps.Workspaces.Room(ctx, r)
	if err != nil {
		return nil, err
	}
	filled, t.freed, err = t.engine.deps.Disk.Admit(ctx, size, t.waits)
	if err != nil {
		t.freed = func() {}
	}
	return filled, err
}

func leased(id task.ID, n int, w *worktree.Workspace) *event.Leased {
	return &event.Leased{
		Agent: id, Attempt: n, Backend: string(cmp.Or(w.Backend, worktree.Linked)), Base: string(w.Base),
		Dir: w.Dir, Admin: w.Admin, Index: w.Index, At: w.At, Lower: w.Lower, Under: w.Under, Along: w.Along, Shell: w.Shell,
	}
}

// notStarted is the end of an attempt whose agent never ran: it was
// cancelled, or something was missing that may be there next time.
func (t *attempt) notStarted(ctx context.Context, err error) *ending {
	t.work.Ended = t.engine.deps.Now()
	if ctx.Err() != nil {
		h := haltOf(ctx)
		return &ending{result: &task.Cancelled{Work: t.work, Cause: h.Cause, Reason: h.Reason}}
	}
	end := ending{result: &task.Failed{Work: t.work, Kind: task.StartFailed, Reason: err.Error()}}
	var start *proc.StartError
	if errors.As(err, &start) && start.Temporary && !t.last && t.rounds.n <= 1 {
		end.retry = true
		// An error of the journal ends the run, in run.
		_ = t.journal(&event.Retried{
			Agent: t.id, Attempt: t.n, Error: task.StartFailed, Reason: err.Error(),
		})
	}
	return &end
}

// started journals a supervisor's identity before anything is done with it.
func (t *attempt) started(step string) func(int, uint64) error {
	return func(pid int, start uint64) error {
		t.engine.live.add(pid)
		t.pids = append(t.pids, pid)
		t.engine.writers.begin(t, t.engine.deps.Now())
		begun := &event.Started{Agent: t.id, Attempt: t.n, Step: step, Pid: pid, Start: start}
		if step == "agent" {
			t.rounds.mark(begun)
			if t.stay.tenant != nil {
				t.stay.tenant.Runs(pid)
			}
			return t.begins(begun)
		}
		return t.journal(begun)
	}
}

// judge turns an outcome and its captured work into a result.
func (t *attempt) judge(ctx context.Context, o *agent.Outcome) ending {
	result, err := t.verdict(o).result()
	if err != nil {
		return ending{err: fmt.Errorf("agent %s, attempt %d: %w", t.id, t.n, err)}
	}
	t.work = *result.Done() // the check adds to it
	done, ok := result.(*task.Completed)
	if !ok {
		unfit := false
		if failed, ok := result.(*task.Failed); ok {
			unfit = t.explain(ctx, failed, o)
		}
		end := ending{result: result, quota: t.quota, unfit: unfit, stumbled: t.stumbled(result), stalled: o.Stalled > 0}
		if o.Error != nil && o.Stopped == nil {
			end.retryAfter = milliseconds(o.Error.RetryAfterMS)
		}
		return end
	}
	if t.work.Patch != nil && t.engine.config.Verify != "" && t.call.SubjectOf == "" {
		if t.call.Shared {
			return t.checkApart(ctx, done)
		}
		return t.check(ctx, done)
	}
	return ending{result: done}
}

// because adds the last line of an agent's stderr, which is a file, to an exit
// status. Warnings of runtimes are not the cause. For outside see [lastLine].
func because(stderr string, kind task.ErrorKind, reason string, outside func(string) string) string {
	if kind != task.Other {
		return reason
	}
	if line := lastLine(stderr, stray, outside); line != "" {
		return reason + ": " + line
	}
	return reason
}

// journal appends a fact of the attempt to the journal. A failed append breaks
// the attempt, and with it the run.
func (t *attempt) journal(ev event.Event) error {
	_, err := t.engine.deps.Journal.Append(ev)
	if err != nil {
		err = fmt.Errorf("journal %s: %w", event.Kind(ev), err)
		t.broke = errors.Join(t.broke, err)
	}
	return err
}
