package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sync/semaphore"

	"agentswarm/swarm/event"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// Engine carries out the calls of one run.
type Engine struct {
	deps   Deps
	config Config

	inbox   chan func(context.Context) // to the goroutine that owns the state
	stopped chan struct{}              // closed when that goroutine is gone
	quit    chan struct{}              // closed to end it
	settled chan Settled
	halted  chan struct{} // closed once nothing new starts

	end   context.CancelCauseFunc // of the life of all attempts
	work  sync.WaitGroup          // attempts, releases and delayed retries
	live  supervisors
	cores *semaphore.Weighted

	// Owned by the loop.
	agents  map[task.ID]*agentState
	order   []task.ID
	queue   []task.ID
	running int
	started int // attempts in the life of the run
	jobs    int
	out     []Settled
	prior   map[string][]task.ID // calls of earlier owners, by key, unused
	seen    map[string]int       // occurrences by key
	broken  error                // swarm's own failure
	ending  bool                 // nothing new starts
}

// Settled is an agent that has ended, as its workflow hears of it.
type Settled struct {
	Agent  task.ID
	Result task.Result
	// Replayed is set where an earlier owner of the run settled it.
	Replayed bool
}

// agentState is what the loop knows of one agent.
type agentState struct {
	id      task.ID
	call    *task.Call
	attempt int // the current or last one
	tries   int // starts of this owner that failed in a way that may pass
	cancel  context.CancelCauseFunc
	result  task.Result // nil until settled
	byName  bool        // cancelled by name
	// owed is set on an agent that ended well under an earlier owner, which
	// did not come to check its work.
	owed *task.Completed
	// held is set where all that is missing is a capture that failed again.
	held bool
}

// Open starts an engine. prior is the state earlier owners left, after
// [Recover]; it is empty for a new run. ctx lends its values only: an engine
// ends by Stop and Close.
func Open(ctx context.Context, deps Deps, config Config, prior *store.View) *Engine {
	e := &Engine{
		deps: deps, config: config,
		inbox: make(chan func(context.Context)), stopped: make(chan struct{}),
		quit: make(chan struct{}), settled: make(chan Settled),
		halted: make(chan struct{}),
		cores:  semaphore.NewWeighted(int64(max(1, deps.Cores))),
		agents: map[task.ID]*agentState{},
		jobs:   config.Jobs,
		prior:  map[string][]task.ID{}, seen: map[string]int{},
	}
	life, end := context.WithCancelCause(context.WithoutCancel(ctx))
	e.end = end
	e.remember(prior)
	go e.loop(life)
	return e
}

// remember takes over the agents of earlier owners. They are not queued: a
// workflow asks for them again.
func (e *Engine) remember(prior *store.View) {
	if prior == nil {
		return
	}
	for _, a := range prior.Agents {
		s := &agentState{id: a.ID, call: a.Call, attempt: a.Attempt, byName: a.ByName()}
		if r, ok := a.Status.(task.Result); ok {
			s.result = r
			s.owed, s.held = owed(e.deps, e.config, a), held(e.deps, e.config, a)
		}
		e.agents[a.ID] = s
		e.order = append(e.order, a.ID)
		e.prior[a.Call.Key] = append(e.prior[a.Call.Key], a.ID)
		e.started += a.Attempt
	}
}

// loop is the goroutine that owns the state. life is the context of every
// attempt; functions sent here are given it.
func (e *Engine) loop(life context.Context) {
	defer close(e.stopped)
	for {
		var out chan<- Settled
		var next Settled
		if len(e.out) > 0 {
			out, next = e.settled, e.out[0]
		}
		select {
		case f := <-e.inbox:
			f(life)
			e.dispatch(life)
		case out <- next:
			e.out = e.out[1:]
		case <-e.quit:
			return
		}
	}
}

// do runs f on the loop and waits for it. It reports false when the loop is
// gone.
func (e *Engine) do(f func(life context.Context)) bool {
	done := make(chan struct{})
	select {
	case e.inbox <- func(life context.Context) { defer close(done); f(life) }:
		<-done
		return true
	case <-e.stopped:
		return false
	}
}

// ErrClosed answers calls to an engine that was closed or has failed.
var ErrClosed = errors.New("the engine takes no more calls")

// Start takes a call: journals it, queues it and returns its id. A call that
// an earlier owner of the run completed is settled at once with its result
// and starts nothing.
func (e *Engine) Start(call *task.Call) (id task.ID, err error) {
	ok := e.do(func(context.Context) {
		if e.broken != nil {
			err = e.broken
			return
		}
		id, err = e.take(call)
	})
	if !ok {
		return "", ErrClosed
	}
	return id, err
}

func (e *Engine) take(call *task.Call) (task.ID, error) {
	c := *call
	c.Key = c.Sum()
	c.Occurrence = e.seen[c.Key]
	e.seen[c.Key]++
	if known := e.prior[c.Key]; len(known) > 0 {
		e.prior[c.Key] = known[1:]
		e.again(e.agents[known[0]])
		return known[0], nil
	}
	a := &agentState{id: task.AgentID(len(e.order) + 1), call: &c}
	if err := e.append(&event.Called{Agent: a.id, Call: &c}); err != nil {
		return "", err
	}
	e.agents[a.id] = a
	e.order = append(e.order, a.id)
	e.queue = append(e.queue, a.id)
	return a.id, nil
}

// again answers a call with an agent of an earlier owner: with its result if
// it completed, was cancelled by name or is held, else with another attempt.
func (e *Engine) again(a *agentState) {
	_, completed := a.result.(*task.Completed)
	if completed || a.held || a.byName && a.result != nil {
		e.out = append(e.out, Settled{Agent: a.id, Result: a.result, Replayed: true})
		return
	}
	a.result = nil
	e.queue = append(e.queue, a.id)
}

// Settled delivers agents as they end, each once, in the order they end.
func (e *Engine) Settled() <-chan Settled { return e.settled }

// SetJobs changes how many agents run at once. Running ones go on.
func (e *Engine) SetJobs(n int) { e.do(func(context.Context) { e.jobs = n }) }

// Cancel ends agents by name: queued ones settle at once, running ones are
// stopped and captured. Agents that have ended stay as they are.
func (e *Engine) Cancel(ids []task.ID, h *Halt) (err error) {
	ok := e.do(func(context.Context) {
		for _, id := range ids {
			if e.agents[id] == nil {
				err = fmt.Errorf("no agent %s in this run", id)
				return
			}
		}
		err = e.append(&event.CancelAsked{Agents: ids, Cause: h.Cause, Reason: h.Reason})
		if err != nil {
			return
		}
		for _, id := range ids {
			e.cancelOne(e.agents[id], h)
		}
	})
	if !ok {
		return ErrClosed
	}
	return err
}

func (e *Engine) cancelOne(a *agentState, h *Halt) {
	switch {
	case a.result != nil:
	case a.cancel != nil:
		a.byName = true
		a.cancel(h)
	default:
		a.byName = true
		for i, id := range e.queue {
			if id == a.id {
				e.queue = append(e.queue[:i:i], e.queue[i+1:]...)
				break
			}
		}
		e.settle(a, &task.Cancelled{
			Cause: h.Cause, Reason: h.Reason, Work: task.Work{Attempts: a.attempt},
		})
	}
}

// Stop ends the run: nothing new starts, running agents get TERM, the grace,
// KILL, and are captured. Queued ones are left for a resume.
func (e *Engine) Stop(h *Halt) error {
	var err error
	e.do(func(context.Context) {
		if !e.ending {
			err = e.append(&event.CancelAsked{Cause: h.Cause, Reason: h.Reason})
			e.halt(h)
		}
	})
	return err
}

// Close waits until all attempts are over and ends the engine. What is
// settled by then and was not received is dropped. It returns swarm's own
// failure, if there was one.
func (e *Engine) Close() error {
	e.work.Wait()
	var err error
	e.do(func(context.Context) { err = e.broken })
	close(e.quit)
	<-e.stopped
	return err
}

// Halted is closed once nothing new starts: after Stop, or after a failure
// of swarm's own, which Close returns.
func (e *Engine) Halted() <-chan struct{} { return e.halted }

// Supervises tells whether a process is a supervisor of this run.
func (e *Engine) Supervises(pid int) bool { return e.live.has(pid) }

// append journals a fact of the loop's own. A journal that cannot be written
// ends the run: nothing may happen that is not on disk first.
func (e *Engine) append(ev event.Event) error {
	if _, err := e.deps.Journal.Append(ev); err != nil {
		err = fmt.Errorf("journal %s: %w", event.Kind(ev), err)
		e.fail(err)
		return err
	}
	return nil
}

// fail stops the run for a fault of swarm's own. It may be called from the
// loop only.
func (e *Engine) fail(err error) {
	if e.broken == nil {
		e.broken = err
		e.halt(&Halt{Cause: task.CauseStopped, Reason: err.Error()})
	}
}

// halt ends the life of all attempts. It may be called from the loop only.
func (e *Engine) halt(h *Halt) {
	if !e.ending {
		e.ending = true
		close(e.halted)
	}
	e.end(h)
}
