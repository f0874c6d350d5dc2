package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/store"
)

// readOnly declares that a command only reads. It leaves a run whose owner died
// as it is, and names the command that recovers it.
func readOnly(c *cli.Command) *cli.Command {
	c.Before = func(c *cli.Context) error {
		c.Context = context.WithValue(c.Context, cmdline.ReadsKey{}, true)
		return nil
	}
	return c
}

// recoveryObject says that recovery of a run is pending.
type recoveryObject struct {
	Workspaces int    `json:"workspaces"` // that are not captured yet
	Command    string `json:"command"`    // that captures them
}

func newRecoveryObject(v *store.View) *recoveryObject {
	if !v.Died {
		return nil
	}
	return &recoveryObject{Workspaces: v.Uncaptured(), Command: cmdline.Program + " gc"}
}

// settle returns the view of a run. If its owner died, a command that only
// reads reports that recovery is pending; any other performs it first, unless
// another process does.
func (p *place) settle(ctx context.Context, run *store.Run) (*store.View, error) {
	v, err := run.View()
	if err != nil || !v.Died {
		return v, err
	}
	if p.Reads {
		v.Interrupted()
		p.sayPending(v)
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
	err = errors.Join(p.settleOwned(ctx, run, owner), owner.Close())
	if err != nil {
		return nil, fmt.Errorf("put run %s in order: %w", run.ID, err)
	}
	return run.View()
}

// sayPending tells once of each run that its recovery is pending.
func (p *place) sayPending(v *store.View) {
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

// sayLatestPending tells if recovery of the latest run is pending.
func (p *place) sayLatestPending(ctx context.Context) error {
	entries, err := p.State.Runs()
	if err != nil || len(entries) == 0 {
		return err
	}
	latest := entries[len(entries)-1]
	if latest.Damage == nil && !latest.Run.Live() {
		_, err = p.settle(ctx, latest.Run)
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

	mu    sync.Mutex // guards what follows
	timer *time.Timer
	done  int
	total int
	slow  bool
	last  time.Time
}

// startRecovery begins to tell of the recovery of a run. Close it.
func (p *place) startRecovery(run *store.Run, v *store.View) *recoveryProgress {
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

// recovered counts an agent whose work is captured.
func (r *recoveryProgress) recovered() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done++
	if r.slow && (time.Since(r.last) >= recoveryGap || r.done == r.total) {
		r.last = time.Now()
		r.say(fmt.Sprintf("captured what %d of %d agents left", r.done, r.total))
	}
}

func (r *recoveryProgress) close() { r.timer.Stop() }
