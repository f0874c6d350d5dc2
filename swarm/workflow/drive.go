package workflow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"agentswarm/roles"
	"agentswarm/swarm/agent"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/event"
	"agentswarm/swarm/script"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// Request is a script to be run.
type Request struct {
	Engine *engine.Engine  // required
	Tools  Tools           // required
	Script *event.Scripted // required
	Config Config          // required
	Prior  *store.View     // the state that earlier owners of the run left; nil for none
	// Machine runs the script against a host; it ends when its context does.
	Machine func(context.Context, script.Start, script.Host) (script.Outcome, error) // required
	// Nested finds the text of a workflow that the script calls.
	Nested func(context.Context, *script.Nested) (*script.Source, error) // required
}

// Config is the configuration of a script's calls.
type Config struct {
	// Agent carries out calls that name none.
	Agent string
	// Options are the defaults for agents whose call sets none.
	Options task.Options
	// Agents are all that calls may name.
	Agents []string
	// Base and BaseTree are the commit and the tree of the run's base.
	Base, BaseTree string
	// MaxAgents is how many calls the script may make.
	MaxAgents int
	// Form is that of the script.
	Form script.Form
	// Walled says that commands run in a sandbox, so that a script may have
	// commands of its own.
	Walled bool
	// Checks are the names of the configured checks; nil where that is not known.
	Checks []string
	// Types are the named prompts that calls may use, by name.
	Types map[string]Type
	// BudgetTokens is the total that the script sees; 0 is none.
	BudgetTokens int64
	// Can returns the abilities of an agent by its name. Nil: nothing is known.
	Can func(name string) agent.Abilities
	// Assign gives a call the model of its role, over the models of its type
	// and the run, and returns the resolved role. Nil: types name models, and
	// roles are names only.
	Assign func(engine.AssignRequest) (*roles.Resolved, error)
	// Fit maps the lists of tools of a call to its agent. Nil: they stay as they are.
	Fit FitFunc
	// Warned are warnings that were given already.
	Warned []string
	// Check refuses a call that could not be carried out as it was asked for.
	Check func(*task.Call) error
}

// ErrHalted ends a script whose run was stopped or has failed.
var ErrHalted = errors.New("the run was stopped")

// Drive runs a script to its end, and ends the agents that it left running. It
// returns an error of the run, not of the script: the run was stopped, or swarm
// failed.
func Drive(ctx context.Context, r Request) (*script.Outcome, error) {
	d := newDriver(r)
	if err := r.Engine.Note(r.Script); err != nil {
		return nil, err
	}
	r.Engine.Hold(r.Prior != nil)
	outcome, err := d.run(ctx)
	if err == nil {
		err = d.end(ctx, outcome)
	}
	if err != nil {
		r.Engine.Hold(false)
		return nil, err
	}
	return outcome, nil
}

// driver is the host of a script. All but enter and fail, and the state they
// use, belongs to the goroutine that runs the machine.
type driver struct {
	Request
	ctx  context.Context // of the timers and the workers
	work sync.WaitGroup  // workers
	bad  chan error      // swarm's own failures
	mu   sync.Mutex      // held while a timer fires, and when the script ends

	calls   int              // made so far
	open    map[task.ID]bool // agents whose end was not heard of
	called  map[task.ID]bool // agents that a call asked for
	labels  map[task.ID]*task.Call
	bounds  map[*task.Call]roles.Limits // of their roles
	patches map[string]Patch            // the patches that the script has seen, by commit
	ends    map[task.ID]task.Result
	places  map[string]place     // the meanings of names, by name
	seen    map[string]int       // occurrences of requests
	posted  map[string]int       // numbers of requests without an answer, by key
	timers  map[int]*time.Timer  // by number
	keys    map[int]string       // of timers, by number
	replay  replay               // the values that earlier owners left
	fresh   []script.Delivery    // the values of events since
	refused []script.Delivery    // refusals that enter at once, without records
	warned  map[string]bool      // the warnings that were given
	logged  map[event.Logged]int // lines of earlier owners, not said again yet
	phased  map[string]bool      // phases that are on record
	lines   int                  // kept of this owner
}

func newDriver(r Request) *driver {
	d := &driver{
		Request: r, bad: make(chan error, 1),
		ends: map[task.ID]task.Result{}, open: map[task.ID]bool{}, called: map[task.ID]bool{},
		labels: map[task.ID]*task.Call{}, bounds: map[*task.Call]roles.Limits{},
		patches: map[string]Patch{}, places: map[string]place{}, seen: map[string]int{}, posted: map[string]int{},
		timers: map[int]*time.Timer{}, keys: map[int]string{},
		warned: map[string]bool{}, logged: map[event.Logged]int{}, phased: map[string]bool{},
		replay: newReplay(r.Prior),
	}
	if r.Prior != nil {
		for _, line := range r.Prior.Logs {
			d.logged[line.Logged]++
		}
		for _, title := range r.Prior.Phases {
			d.phased[title] = true
		}
	}
	return d
}

// run lets the machine run the script.
func (d *driver) run(ctx context.Context) (*script.Outcome, error) {
	working, cancel := context.WithCancelCause(ctx)
	d.ctx = working
	outcome, err := d.Machine(ctx, d.start(), d)
	// Later timers are not waited for, and those that have fired have
	// come to their end.
	d.mu.Lock()
	cancel(ErrHalted)
	d.mu.Unlock()
	for _, t := range d.timers {
		t.Stop()
	}
	d.work.Wait()
	select {
	case bad := <-d.bad: // that swarm failed is said before that it was stopped
		return nil, bad
	default:
	}
	switch {
	case d.halted() != nil:
		return nil, ErrHalted
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, fmt.Errorf("run the script: %w", err)
	}
	return &outcome, nil
}

func (d *driver) start() script.Start {
	s := script.Start{
		Source: script.Source{Name: d.Script.Name, Text: d.Script.Text, Form: d.Config.Form},
		Args:   d.Script.Args, BudgetTokens: d.Config.BudgetTokens,
	}
	for _, f := range d.Script.Lib {
		s.Lib = append(s.Lib, script.Source{Name: f.Name, Text: f.Text})
	}
	return s
}

// end journals how the script ended, and ends the agents it did not wait for.
func (d *driver) end(ctx context.Context, outcome *script.Outcome) error {
	returned := &event.Returned{Value: outcome.Value, Unasked: d.unasked()}
	if e := outcome.Error; e != nil {
		returned.Error = &event.ScriptError{
			Name: e.Name, Code: string(e.Code), Message: e.Message, Where: e.Where, Line: e.Line,
		}
	}
	if err := d.Engine.Note(returned); err != nil {
		return err
	}
	d.sort(d.Engine.Drain())
	left := slices.SortedFunc(maps.Keys(d.open), func(a, b task.ID) int { return a.Number() - b.Number() })
	switch e := outcome.Error; {
	case e == nil:
		if err := d.Engine.CancelByScript(left, "the script ended without waiting for it"); err != nil {
			return err
		}
	case e.Code == script.CodeBudget:
		// Running agents are paid for, and go on to their end.
		if err := d.Engine.Pause(e.Message); err != nil {
			return err
		}
	case len(left) > 0:
		// A resume with the script mended starts them again.
		h := &engine.Halt{Cause: task.CauseStopped, Reason: "the script threw"}
		if err := d.Engine.Cancel(left, h); err != nil {
			return err
		}
	}
	// Only now: an abandoned call does not begin.
	d.Engine.Hold(false)
	done := ctx.Done()
	for !d.Engine.Finished() {
		select {
		case <-d.Engine.News():
		case <-done:
			return context.Cause(ctx)
		case <-d.Engine.Halted():
			if outcome.Error != nil && outcome.Error.Code == script.CodeBudget {
				return nil
			}
			return ErrHalted
		}
	}
	return nil
}

// unasked are the agents of earlier owners that no call asked for.
func (d *driver) unasked() []task.ID {
	var ids []task.ID
	if d.Prior == nil {
		return nil
	}
	for _, a := range d.Prior.Agents {
		if !d.called[a.ID] {
			ids = append(ids, a.ID)
		}
	}
	return ids
}

// fail ends the script for a fault of swarm's own. Any goroutine may call it.
func (d *driver) fail(err error) {
	select {
	case d.bad <- err:
	default: // the first error is reported
	}
}

// Next waits for the next value that enters the script. First come the values
// from earlier owners, in their order, as far as the script has asked for them.
// Then come the values of new events.
func (d *driver) Next(ctx context.Context) (script.Delivery, error) {
	for {
		d.sort(d.Engine.Drain())
		if len(d.refused) > 0 {
			// Before any record: none tells when it was refused.
			next := d.refused[0]
			d.refused = d.refused[1:]
			return next, nil
		}
		if next, ok := d.replay.take(); ok {
			return d.hand(next), nil
		}
		if len(d.fresh) > 0 {
			next := d.fresh[0]
			d.fresh = d.fresh[1:]
			return d.hand(next), nil
		}
		d.Engine.Hold(false)
		if len(d.open) == 0 && len(d.posted) == 0 {
			// No other event will come: the calls cancelled before are all there is.
			if next, ok := d.replay.takeHeld(); ok {
				return d.hand(next), nil
			}
		}
		select {
		case news := <-d.Engine.News():
			d.sort([]engine.News{news})
		case err := <-d.bad:
			return script.Delivery{}, err
		case <-ctx.Done():
			return script.Delivery{}, context.Cause(ctx)
		case <-d.Engine.Halted():
			return script.Delivery{}, ErrHalted
		}
	}
}

// hand lets a delivery enter the script.
func (d *driver) hand(next script.Delivery) script.Delivery {
	if r := next.Result; r != nil && r.Patch != nil {
		id := task.ID(r.ID)
		if p := d.replay.patchOf(id, r.Patch.ID); p != nil {
			d.patches[r.Patch.ID] = Patch{Agent: id, Patch: p}
		}
	}
	return next
}

// sort puts news where they wait for their turn.
func (d *driver) sort(news []engine.News) {
	for _, n := range news {
		switch n := n.(type) {
		case *engine.Settled:
			d.settled(n)
		case *engine.Entered:
			d.entered(n.Entered)
		case *engine.Named:
		default:
			panic(fmt.Sprintf("unhandled %T", n))
		}
	}
}

func (d *driver) settled(s *engine.Settled) {
	if !d.open[s.Agent] {
		return // somebody had it tried again; the script has its end
	}
	delete(d.open, s.Agent)
	d.ends[s.Agent] = s.Result
	result, err := resultOf(s.Agent, d.labels[s.Agent], s.Result)
	if err != nil {
		d.fail(err)
		return
	}
	if p := s.Result.Done().Patch; p != nil && p.Files > len(p.Paths) {
		// The record has the first of them only; a script decides by all.
		if result.Patch.Files, err = d.Tools.Paths(d.ctx, p); err != nil {
			d.fail(fmt.Errorf("list what %s changed: %w", s.Agent, err))
			return
		}
	}
	if can := d.Config.Can; can != nil && result.Status == "completed" && s.Result.Done().Session != "" {
		result.Forkable = can(d.labels[s.Agent].Agent).Fork
	}
	if s.Refused {
		result.Error.Refused = true
	}
	d.replay.note(s.Agent, s.Result.Done().Patch)
	next := script.Delivery{Result: result}
	if s.Replayed {
		d.replay.add(s.Agent, next)
		return
	}
	d.fresh = append(d.fresh, next)
}

func (d *driver) entered(e *event.Entered) {
	n, waits := d.posted[e.Key]
	if !waits {
		return // a timer that was given back
	}
	delete(d.posted, e.Key)
	d.fresh = append(d.fresh, deliveryOf(n, e))
}

// deliveryOf is a record as it enters the script as the answer to a request.
func deliveryOf(n int, e *event.Entered) script.Delivery {
	next := script.Delivery{N: n, Value: e.Value}
	if f := e.Error; f != nil {
		next.Error = &script.Error{Name: f.Name, Code: script.Code(f.Code), Message: f.Message}
	}
	return next
}

// key names a request by its content and by the number of equal requests before
// it.
func (d *driver) key(r script.Request, about any) (string, error) {
	text, err := json.Marshal(about)
	if err != nil {
		return "", fmt.Errorf("key of a %s: %w", script.Verb(r), err)
	}
	sum := sumOf(script.Verb(r), text)
	n := d.seen[sum]
	d.seen[sum]++
	return fmt.Sprintf("%s.%d", sum, n), nil
}
