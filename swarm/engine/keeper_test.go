package engine

import (
	"path/filepath"
	"testing"
	"time"

	"agentswarm/swarm/event"
	"agentswarm/swarm/proc"
)

// TestRecoveryAwaitsTheKeeper checks that a run is not recovered while gits of
// its dead owner may still run.
func TestRecoveryAwaitsTheKeeper(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p, err := r.deps.Launcher.Start(t.Context(), proc.Spec{
		Argv: []string{"sleep", "1000"}, Env: r.deps.Environ, Dir: r.dir,
		Stdout: filepath.Join(r.dir, "out"), Stderr: filepath.Join(r.dir, "err"),
	})
	if err != nil {
		t.Fatal(err)
	}
	pid, start := p.Started()
	owner := &event.Opened{Keeper: pid, KeeperStart: start}
	lives, began := make(chan bool, 1), time.Now()
	go func() {
		awaitKeeper(t.Context(), owner)
		// On a very slow machine the wait may end first, after keeperTime.
		lives <- proc.Alive(pid, start) && time.Since(began) < keeperTime
	}()
	time.AfterFunc(10*time.Millisecond, p.Kill) // the wait is under way or not: it must not end before
	if <-lives {
		t.Error("the wait ended, and the keeper lives")
	}
	p.Wait()
	awaitKeeper(t.Context(), nil)
	awaitKeeper(t.Context(), &event.Opened{})
}
