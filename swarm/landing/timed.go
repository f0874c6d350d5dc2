package landing

import (
	"context"
	"errors"
	"time"

	"agentswarm/swarm/landing/queue"
)

// errUntimed ends a check so that the branch itself is verified first.
var errUntimed = errors.New("the time on the branch itself is not known")

// checked is the end of a check.
type checked struct {
	verdict Verdict
	err     error
}

// timed runs the check of a candidate. If it is overdue, the branch itself is verified:
// its time bounds the check then. That happens at the same time, or if checks run alone,
// instead of the check, which begins again afterwards.
func (g *Gate) timed(ctx context.Context, c Candidate) (Verdict, error) {
	if g.Overdue == nil {
		return g.Check(ctx, c)
	}
	began := time.Now()
	running, end := context.WithCancelCause(ctx)
	defer end(nil)
	ended := make(chan checked, 1)
	go func() {
		v, err := g.Check(running, c)
		ended <- checked{v, err}
	}()
	select {
	case r := <-ended:
		return r.verdict, r.err
	case <-g.Overdue(c):
	}
	g.slow(c, began)
	switch {
	case len(c.Set) == 0:
		r := <-ended
		return r.verdict, r.err
	case g.Alone:
		end(errUntimed)
		r := <-ended
		if r.err == nil || ctx.Err() != nil {
			return r.verdict, r.err // it had just ended
		}
		if passed, err := g.time(ctx, c.Screen); err != nil || !passed {
			return Verdict{Ended: true}, err
		}
		return g.Check(ctx, c)
	}
	return g.beside(ctx, c.Screen, ended, end)
}

// beside verifies the branch itself while a check runs. A pass of the check needs no time
// of the branch any more.
func (g *Gate) beside(ctx context.Context, screen bool, ended <-chan checked, end context.CancelCauseFunc) (Verdict, error) {
	timing, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	type timed struct {
		passed bool
		err    error
	}
	branch := make(chan timed, 1)
	go func() {
		passed, err := g.time(timing, screen)
		branch <- timed{passed, err}
	}()
	select {
	case r := <-ended:
		if r.err != nil || r.verdict.Passed {
			stop(errUntimed)
		}
		if b := <-branch; r.err == nil && !r.verdict.Passed && b.err != nil {
			return Verdict{}, b.err
		}
		return r.verdict, r.err
	case b := <-branch:
		if b.err != nil || !b.passed {
			end(errUntimed)
		}
		r := <-ended
		switch {
		case b.err != nil:
			return Verdict{}, b.err
		case !b.passed && r.err != nil && ctx.Err() == nil:
			return Verdict{Ended: true}, nil
		}
		return r.verdict, r.err
	}
}

// time verifies the branch itself, unless its verdict is known, and once more after a
// failure. A single caller at a time does so for a check.
func (g *Gate) time(ctx context.Context, screen bool) (passed bool, err error) {
	select {
	case g.timing[screen] <- struct{}{}:
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
	defer func() { <-g.timing[screen] }()
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	g.mu.Lock()
	out, err := g.Merge(ctx, nil)
	g.mu.Unlock()
	if err != nil {
		return false, err
	}
	v := Verification{Candidate: Candidate{Commit: out.Commit, Tree: out.Tree, Screen: screen}}
	for v.Run = 1; v.Run <= 2; v.Run++ {
		g.mu.Lock()
		known, err := g.known(ctx, v.Candidate, queue.Trial{Run: v.Run, Fresh: true})
		g.mu.Unlock()
		if err != nil {
			return false, err
		}
		if known == nil {
			if v.Verdict, err = g.Check(ctx, v.Candidate); err != nil {
				return false, err
			}
			g.record(v)
			known = &v.Verdict
		}
		if known.Passed {
			return true, nil
		}
	}
	return false, nil
}

func (g *Gate) slow(c Candidate, began time.Time) {
	if g.Slow != nil {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.Slow(c, began)
	}
}
