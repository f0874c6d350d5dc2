package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/gc"
	"agentswarm/swarm/store"
)

// View returns the state of a run. If its process died, a command that only reads reports
// that recovery is pending; any other performs it first, unless another process does. It
// returns an error if the journal cannot be read or the recovery fails.
func View(ctx context.Context, p *cmdline.Place, run *store.Run) (*store.View, error) {
	v, err := run.View()
	if err != nil || !v.Died {
		return v, err
	}
	if p.Reads {
		v.Interrupted()
		PrintPending(p, v)
		return v, nil
	}
	owner, err := run.Own(ctx)
	var busy *store.BusyError
	if errors.As(err, &busy) {
		return run.View()
	}
	if err != nil {
		return nil, err
	}
	err = errors.Join(Recover(ctx, p, run, owner), owner.Close())
	if err != nil {
		return nil, fmt.Errorf("put run %s in order: %w", run.ID, err)
	}
	return run.View()
}

// PrintPending prints once for each run that its recovery is pending.
func PrintPending(p *cmdline.Place, v *store.View) {
	id := v.Identity.Run
	if slices.Contains(*p.ToldPending, id) {
		return
	}
	*p.ToldPending = append(*p.ToldPending, id)
	left := ""
	if n := v.Uncaptured(); n > 0 {
		left = ": " + termtext.Count(n, "workspace is", "workspaces are") + " not captured"
	}
	fmt.Fprintf(p.Env.Stderr, "%s: run %s: its process died, and recovery is pending%s; `%s gc` recovers it, `%s resume %s` also continues it\n",
		cmdline.Program, id, left, p.Env.Calls, p.Env.Calls, id)
}

// PrintLatestPending prints that recovery of the latest run is pending, or performs it. It returns
// the errors of View.
func PrintLatestPending(ctx context.Context, p *cmdline.Place) error {
	entries, err := p.State.Runs()
	if err != nil || len(entries) == 0 {
		return err
	}
	latest := entries[len(entries)-1]
	if latest.Damage == nil && !latest.Run.Live() {
		_, err = View(ctx, p, latest.Run)
	}
	return err
}

// slowSettle is how long a recovery is silent.
const slowSettle = 2 * time.Second

// recoveryGap is the least time between two lines about a recovery.
const recoveryGap = time.Second

// recoveryProgress tells a person how far the recovery of a run is.
type recoveryProgress struct {
	say func(text string) // required

	mu    sync.Mutex // guards the fields below
	timer *time.Timer
	done  int
	total int
	slow  bool
	last  time.Time
}

// StartRecovery starts the progress lines of a recovery; the caller closes it.
func StartRecovery(p *cmdline.Place, run *store.Run, v *store.View) *recoveryProgress {
	r := &recoveryProgress{total: len(v.Agents), say: func(text string) {
		fmt.Fprintf(p.Env.Stderr, "%s: run %s: %s\n", cmdline.Program, run.ID, text)
	}}
	r.timer = time.AfterFunc(slowSettle, r.begin)
	return r
}

// begin tells that the recovery takes long, and how to interrupt it.
func (r *recoveryProgress) begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.slow, r.last = true, time.Now()
	r.say(fmt.Sprintf("its process died; capturing what its agents left, %d of %d done (ctrl-c interrupts; run the command again to go on)", r.done, r.total))
}

// Recovered counts an agent whose work is captured.
func (r *recoveryProgress) Recovered() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done++
	if r.slow && (time.Since(r.last) >= recoveryGap || r.done == r.total) {
		r.last = time.Now()
		r.say(fmt.Sprintf("captured what %d of %d agents left", r.done, r.total))
	}
}

func (r *recoveryProgress) Close() { r.timer.Stop() }

// Own takes the lock of a run for a command that changes its record. It returns a usage error if
// another process holds the lock, and an AgentError inside of an agent.
func Own(ctx context.Context, p *cmdline.Place, run *store.Run) (*store.Owner, error) {
	if err := p.Personal("changing a run"); err != nil {
		return nil, err
	}
	owner, err := run.Own(ctx)
	var busy *store.BusyError
	if errors.As(err, &busy) {
		return nil, inUse(p, run)
	}
	return owner, err
}

// inUse refuses a command because another process owns the run: the process that
// runs its agents or, when all of them have ended, a command such as a merge.
func inUse(p *cmdline.Place, run *store.Run) error {
	refused := &exit.UsageError{
		Text:   fmt.Sprintf("run %s is still running", run.ID),
		Advice: fmt.Sprintf("wait for it with `%s wait %s`", p.Env.Calls, run.ID),
	}
	if v, err := run.View(); err == nil && v.Status != store.RunRunning {
		refused.Text = fmt.Sprintf("another command of run %s is running", run.ID)
		refused.Advice = "try again when it has ended"
	}
	return refused
}

// Retrieve recovers a run as View does, and also captures work that could not be captured when
// the run was closed. It returns an error if that fails.
func Retrieve(ctx context.Context, p *cmdline.Place, run *store.Run) (*store.View, error) {
	v, err := View(ctx, p, run)
	if err != nil || v.Status == store.RunRunning || !gc.HasWorkspaces(v) && len(engine.Boxes(run)) == 0 {
		return v, err
	}
	owner, err := run.Own(ctx)
	var busy *store.BusyError
	if errors.As(err, &busy) {
		return v, nil // whoever has it sees to that
	}
	if err != nil {
		return nil, err
	}
	err = Recover(ctx, p, run, owner)
	if err = errors.Join(err, owner.Close()); err != nil {
		return nil, fmt.Errorf("put run %s in order: %w", run.ID, err)
	}
	return run.View()
}
