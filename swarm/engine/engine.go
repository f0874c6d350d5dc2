package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"agentswarm/swarm/cachework"
	"agentswarm/swarm/event"
	"agentswarm/swarm/inbox"
	"agentswarm/swarm/limit"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// Engine carries out the calls of a single run.
type Engine struct {
	deps   Deps
	config Config

	inbox   chan func(context.Context) // to the goroutine that owns the state
	stopped chan struct{}              // closed when that goroutine is gone
	quit    chan struct{}              // closed to end it
	news    chan News
	halted  chan struct{} // closed once nothing new starts, and after a pause nothing runs
	pausing chan struct{} // closed once the run is paused

	end  context.CancelCauseFunc // of the life of all attempts
	work sync.WaitGroup          // attempts, releases and delayed retries
	live supervisors
	// writers are the attempts that a watch of the disk looks at.
	writers writers
	lines   lines
	heard   heard
	cores   *semaphore.Weighted
	// heldReported are the notes about held back variables that a person was told.
	heldReported sync.Map
	// repeats compares the files that setups and checks leave in their private
	// HOME.
	repeats cachework.Tracker
	gaps    limit.Gaps // between starts of a kind
	waves   waves
	// unbounded are the models that no limit in dollars holds.
	unbounded unbounded
	named     subjects
	share     shared
	// schemas are those that answers are held to.
	schemas schemas
	long    sync.Mutex // held while a long line of an agent is in memory

	// Owned by the loop.
	agents    map[task.ID]*agentState
	order     []task.ID
	labels    map[string]*agentState // the first of each label
	queue     []task.ID
	running   int
	releasing int // attempts that have ended and release a workspace for the next
	started   int // attempts in the life of the run
	jobs      int
	out       []News
	prior     map[string][]task.ID // calls of earlier owners, by key, unused
	seen      map[string]int       // occurrences by key
	open      int                  // calls whose end has not been received yet
	box       *inbox.Box
	rulings   rulings // on open questions
	allowed   allowed // by people, and not begun yet
	broken    error   // swarm's own failure
	ending    bool    // nothing new starts, and running agents are ended
	paused    bool    // nothing new starts
	halting   bool    // halted is closed
	onHold    bool    // nothing new starts for now
	noSpace   string  // why nothing new starts: the disk is low; empty: it is not
	full      bool    // and no agent that ends is expected to make room
	begun     bool    // calls were taken
	over      bool    // nothing was left to do, and nothing new is taken
	account   account
	quotas    quotas
}

// News is an event of the engine for a workflow, in journal order: [*Settled],
// [*Entered] or [*Named].
//
//sumtype:decl
type News interface{ news() }

// Entered is a fact that [Engine.Enter] was given.
type Entered struct{ *event.Entered }

// Named reports that the search for the subject of a commit is over, with or
// without a subject. No workflow waits for it, but the end of the run may.
type Named struct{ Commit string }

func (*Settled) news() {}
func (*Named) news()   {}
func (*Entered) news() {}

// Settled is an agent that has ended.
type Settled struct {
	Agent  task.ID
	Result task.Result
	// Replayed is set where an earlier owner of the run settled it.
	Replayed bool
	// Refused is set where no attempt began because the budget is spent.
	Refused bool
}

// agentState is the state of an agent in the loop.
type agentState struct {
	id      task.ID
	call    *task.Call
	attempt int // the current or last attempt
	tries   int // starts of this owner that failed in a way that may pass
	cancel  context.CancelCauseFunc
	result  task.Result // nil until settled
	byName  bool        // cancelled by name
	blocked bool        // it waits for agents it depends on
	whole   bool        // its workspaces are whole checkouts from now on
	retried int         // attempts of this owner whose failure may pass
	stalled bool        // a stream of its model sent nothing for too long, once
	spent   task.Usage  // of the attempts before the current one
	// refusals counts its attempts that its provider refused, and waited is the
	// sum of the waits after them.
	refusals int
	waited   time.Duration
	// left is the work of the latest ended attempt. An agent that ends before
	// another attempt began keeps this work.
	left task.Work
	// wait is set while it waits for its next attempt after a failure that may
	// pass.
	wait *wait
	// at is the mount point of its latest workspace; empty: it was not mounted.
	at string
	// accepted is set where somebody accepted the work of its latest attempt
	// under an earlier owner.
	accepted bool
	retry    *event.RetryAsked
	remarks  []store.Remark
	words    []string // messages that it received while it worked, since then
	// owed is set on an agent that ended well under an earlier owner, which
	// did not come to check its work.
	owed *task.Completed
	// held is set where all that is missing is a capture that failed again.
	held bool
	// switched is the model that its attempts use in place of its call's, and
	// failures counts its tries that were not good enough.
	switched *event.Switched
	failures int
	// part is the number of the record that captured its part in the shared
	// workspace; 0 for none.
	part int64
}

// Open starts an engine. prior is the state earlier owners left, after
// [Recover]; it is empty for a new run. ctx lends its values only: an engine
// ends by Stop and Close.
func Open(ctx context.Context, deps Deps, config Config, prior *store.View) *Engine {
	e := &Engine{
		deps: deps, config: config,
		inbox: make(chan func(context.Context)), stopped: make(chan struct{}),
		quit: make(chan struct{}), news: make(chan News),
		halted: make(chan struct{}), pausing: make(chan struct{}),
		account: newAccount(config.Budget, prior),
		cores:   semaphore.NewWeighted(int64(deps.parallel())),
		agents:  map[task.ID]*agentState{}, labels: map[string]*agentState{},
		jobs:  config.Jobs,
		prior: map[string][]task.ID{}, seen: map[string]int{}, named: newSubjects(),
		box: inbox.New(deps.Run.ID, deps.Questions, asked(prior)),
	}
	e.share.begin(prior)
	e.openQuotas(prior)
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
		e.know(recall(e.deps, e.config, a))
		e.prior[a.Call.Key] = append(e.prior[a.Call.Key], a.ID)
		if a.Call.SubjectOf == "" {
			e.started += a.Attempt - a.Waits
		}
		e.named.remember(a)
	}
}

// recall reads the state of an agent of an earlier owner from the records.
func recall(d Deps, c Config, a *store.Agent) *agentState {
	s := &agentState{
		id: a.ID, call: a.Call, attempt: a.Attempt, byName: a.ByName(),
		retry: a.Retry, remarks: a.Remarks, words: a.Words, spent: a.Spent, part: a.PartBy,
		switched: a.Switched, failures: a.Failures, at: a.Mounted,
	}
	if r, ok := a.Status.(task.Result); ok {
		s.result = r
		s.left = *r.Done()
		s.accepted = accepted(a)
		s.owed, s.held = owed(d, c, a), held(d, c, a)
	} else if a.Attempt > 0 {
		if a.Parked != "" && a.Exit != nil {
			s.left = *judgeAgain(d, c, a, true).Done() // the conversation that it continues
		}
		if a.Parked != "" && a.Exit == nil {
			carry(&s.left, a.Continued) // its agent did not start
		}
		finishWork(d, a, &s.left, a.Captured)
		s.left.Usage = a.Spent
	}
	return s
}

// loop is the goroutine that owns the state. life is the context of every
// attempt; functions sent here are given it.
func (e *Engine) loop(life context.Context) {
	defer close(e.stopped)
	for {
		var out chan<- News
		var next News
		if len(e.out) > 0 {
			out, next = e.news, e.out[0]
		}
		select {
		case f := <-e.inbox:
			f(life)
			e.dispatch(life)
		case out <- next:
			e.out = e.out[1:]
			if _, ended := next.(*Settled); ended {
				e.open--
			}
		case <-e.account.alarm.C:
			e.stopOverdrawn()
			e.takeStock()
		case <-e.quit:
			e.account.alarm.Stop()
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

// Finished reports whether every call has ended and was received. From then
// on the engine takes nothing more: a wish for another attempt is refused
// rather than lost.
func (e *Engine) Finished() bool {
	over := true
	e.do(func(context.Context) {
		e.over = e.over || e.open == 0
		over = e.over
	})
	return over
}

// News delivers the ended agents, each once, and the facts given to
// [Engine.Enter], in journal order.
func (e *Engine) News() <-chan News { return e.news }

// Enter journals a fact that enters the workflow and puts it among the
// [Engine.News], so that their order is that of the journal.
func (e *Engine) Enter(fact *event.Entered) error {
	err := ErrClosed
	e.do(func(context.Context) {
		if err = e.append(fact); err == nil {
			e.out = append(e.out, &Entered{fact})
		}
	})
	return err
}

// Announce puts a fact among the news without a record: a later owner does not get
// it again.
func (e *Engine) Announce(fact *event.Entered) {
	e.do(func(context.Context) { e.out = append(e.out, &Entered{fact}) })
}

// Note journals a fact of the workflow's own.
func (e *Engine) Note(fact event.Event) error {
	err := ErrClosed
	e.do(func(context.Context) { err = e.append(fact) })
	return err
}

// SetJobs changes how many agents run at once. Running ones go on.
func (e *Engine) SetJobs(n int) { e.do(func(context.Context) { e.jobs = n }) }

// Stop ends the run: nothing new starts, running agents get TERM, the grace,
// KILL, and are captured. Queued ones are left for a resume.
func (e *Engine) Stop(h *Halt) error {
	var err error
	e.do(func(context.Context) {
		if !e.ending {
			err = e.append(&event.CancelAsked{Cause: h.Cause, Reason: h.Reason, Abandoned: h.Abandoned})
			e.halt(h)
		}
	})
	return err
}

// Close waits until all attempts are over and ends the engine. It drops news
// that the caller has not received. It returns swarm's own failure, if there
// was any.
func (e *Engine) Close() error {
	e.do(func(context.Context) { e.endAlarms() })
	e.work.Wait()
	var err error
	var life context.Context
	e.do(func(l context.Context) { err, life = e.broken, l })
	if err == nil {
		err = e.releaseShared(life)
	}
	close(e.quit)
	<-e.stopped
	return err
}

// Halted is closed once there is nothing to wait for: after Stop, after a
// failure of swarm's own, which Close returns, and when the last agent of a
// paused run has ended.
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

// appendAll journals facts of the loop's own together.
func (e *Engine) appendAll(events []event.Event) error {
	if len(events) == 0 {
		return nil
	}
	if _, err := e.deps.Journal.AppendAll(events); err != nil {
		err = fmt.Errorf("journal %s: %w", event.Kind(events[0]), err)
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
	e.ending = true
	e.still()
	e.end(h)
}
