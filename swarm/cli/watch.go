package cli

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"agentswarm/swarm/engine"
	"agentswarm/swarm/event"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// show follows a run on stderr until ctx ends or the run is over. It reads
// the run's folder as any other process would.
func (p *place) show(ctx context.Context, run *store.Run) {
	id, err := run.Identity()
	if err != nil {
		return
	}
	w := &watcher{
		view: store.Fold(id, nil), began: time.Now(),
		progress: newProgress(p.env.Stderr, detect(p.env.Stderr, p.env.Getenv)),
	}
	defer w.progress.Close()
	ticking, stop := context.WithCancel(ctx)
	var ticks sync.WaitGroup
	ticks.Go(func() { w.tick(ticking) })
	defer ticks.Wait()
	defer stop()
	for r, err := range run.Follow(ctx, 0) {
		if err != nil {
			return
		}
		w.see(r)
		if _, over := r.Event.(*event.Closed); over && r.Time.After(w.began) {
			return
		}
	}
}

// watcher turns records into progress.
type watcher struct {
	began    time.Time
	progress *Progress

	mu   sync.Mutex // guards view
	view *store.View
}

// see takes one record. Changes of an earlier owner's time are not told
// again.
func (w *watcher) see(r event.Record) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.view.Apply(r)
	if r.Time.Before(w.began) {
		return
	}
	switch e := r.Event.(type) {
	case *event.Started:
		if e.Step != "setup" {
			w.line(e.Agent, e.Step, 0, "")
		}
	case *event.Retried:
		w.line(e.Agent, "retried", 0, e.Reason)
	case *event.Settled:
		work := e.Result.Done()
		took := work.Ended.Sub(work.Started)
		w.line(e.Agent, task.Word(e.Result), max(took, 0), causeOf(e.Result))
	}
	w.progress.Show(w.frame(r.Time))
}

func (w *watcher) line(id task.ID, state string, took time.Duration, note string) {
	a := w.view.Agent(id)
	if a == nil {
		return
	}
	word := map[string]string{"agent": "running", "verify": "verifying"}
	w.progress.Line(Change{
		ID: string(id), Label: engine.Title(id, a.Call), For: took, Note: note,
		State: cmp.Or(word[state], state),
	})
}

// tick redraws the clock.
func (w *watcher) tick(ctx context.Context) {
	t := time.NewTicker(200 * time.Millisecond)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-t.C:
			w.mu.Lock()
			w.progress.Show(w.frame(now))
			w.mu.Unlock()
		}
	}
}

// frame sums the view up. The caller holds mu.
func (w *watcher) frame(now time.Time) Frame {
	f := Frame{Elapsed: now.Sub(w.began), Total: len(w.view.Agents), Counts: countAgents(w.view)}
	for _, a := range w.view.Agents {
		s, ok := a.Status.(*task.Running)
		if !ok || s.State == task.Queued {
			continue
		}
		f.Slowest = append(f.Slowest, Slow{
			ID: string(a.ID), Label: engine.Title(a.ID, a.Call),
			State: string(s.State), For: now.Sub(s.Since),
		})
	}
	slices.SortStableFunc(f.Slowest, func(a, b Slow) int { return cmp.Compare(b.For, a.For) })
	return f
}

// causeOf is why an agent did not complete; empty for one that did.
func causeOf(r task.Result) string {
	switch r := r.(type) {
	case *task.Completed:
		if r.Verified != nil && !*r.Verified {
			return "not verified"
		}
		return ""
	case *task.Failed:
		return string(r.Kind) + ": " + r.Reason
	case *task.Cancelled:
		if r.Reason == "" {
			return string(r.Cause)
		}
		return string(r.Cause) + ": " + r.Reason
	default:
		panic("unhandled result")
	}
}

// firstLine is the first line of an error's text.
func firstLine(err error) string {
	if err == nil {
		return ""
	}
	text := err.Error()
	for i, r := range text {
		if r == '\n' {
			return text[:i]
		}
	}
	return text
}
