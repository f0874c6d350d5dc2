package workflow

import (
	"context"
	"encoding/json"
	"errors"

	"agentswarm/swarm/engine"
	"agentswarm/swarm/event"
	"agentswarm/swarm/script"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// PreviewRequest is a script to compare with the records of a run.
type PreviewRequest struct {
	Prior  *store.View    // required
	Recall *engine.Recall // required
	// Tools answer for the contents of the base, texts of patches and commits;
	// they do nothing. Required.
	Tools  Tools
	Script *event.Scripted // required
	Config Config          // required
	// Machine and Nested are those of [Request]; required.
	Machine func(context.Context, script.Start, script.Host) (script.Outcome, error)
	Nested  func(context.Context, *script.Nested) (*script.Source, error)
}

// Preview is the plan of a resume with a script.
type Preview struct {
	// Steps are the requests of the script, in order.
	Steps []Step
	// Dropped are the agents on record that no call asks for.
	Dropped []*store.Agent
	// Outcome is the end of the script. It is nil if the script waits for work
	// that is not done, because its later requests are then unknown.
	Outcome *script.Outcome
}

// Fate is the way in which a resume would handle a request of a script. The
// zero value is none.
type Fate string

// The fates of a step.
const (
	FateRecorded Fate = "recorded" // the recorded value enters the script
	FateCheck    Fate = "check"    // the work is on record, and would be checked
	FateAgain    Fate = "again"    // another attempt of an agent on record
	FateNew      Fate = "new"      // nothing is on record of it
)

// Step is something that a script asks for.
type Step struct {
	Fate    Fate
	Request script.Request // a call, check, merge, landing, question or word
	Call    *task.Call     // of a call; nil for any other
	Agent   task.ID        // that a call would become, or is
	// Earlier is the agent on record. For a new call it is the dropped agent of
	// the same label, if any: most likely the call was changed.
	Earlier *store.Agent
	// Cancelled is set where the script cancels it.
	Cancelled bool
}

// errUnknown ends a script that cannot go on without work that is not done.
var errUnknown = errors.New("what follows is not known")

// Foresee runs a script against the records of a run, until it waits only for
// unrecorded work. It starts nothing and writes nothing. It returns an error if
// the script cannot be run.
func Foresee(ctx context.Context, r PreviewRequest) (*Preview, error) {
	p := &preview{driver: newDriver(Request{
		Tools: r.Tools, Script: r.Script, Config: r.Config, Prior: r.Prior, Nested: r.Nested,
	}), recall: r.Recall, at: map[task.ID]int{}}
	p.ctx = ctx
	outcome, err := r.Machine(ctx, p.start(), p)
	select {
	case bad := <-p.bad:
		return nil, bad
	default:
	}
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case p.blocked:
	case err != nil:
		return nil, err
	default:
		p.Outcome = &outcome
	}
	p.drop()
	return &p.Preview, nil
}

// preview is the host of a script that is only looked at. Where the driver it
// stands upon would ask the engine, it asks the records.
type preview struct {
	*driver
	Preview
	recall  *engine.Recall
	at      map[task.ID]int // the steps of agents
	made    int             // agents of which nothing is on record
	blocked bool
}

// Do answers a request at once.
func (p *preview) Do(ctx context.Context, r script.Request) (json.RawMessage, error) {
	switch r := r.(type) {
	case *script.Call:
		return p.call(ctx, r)
	case *script.Merge:
		return p.merge(ctx, r)
	case *script.Nested:
		return p.nested(ctx, r)
	default:
		return p.driver.Do(ctx, r)
	}
}

func (p *preview) call(ctx context.Context, r *script.Call) (json.RawMessage, error) {
	call, err := p.admit(ctx, r)
	if err != nil {
		return nil, err
	}
	step := Step{Fate: FateNew, Request: r, Call: call}
	earlier := p.recall.Take(call)
	switch {
	case earlier == nil:
		p.made++
		step.Agent = task.AgentID(len(p.Prior.Agents) + p.made)
	case earlier.Stands:
		step.Fate = FateRecorded
	case earlier.OnlyCheck:
		step.Fate = FateCheck
	default:
		step.Fate = FateAgain
	}
	if earlier != nil {
		step.Agent, step.Earlier = earlier.ID, earlier.Agent
	}
	p.at[step.Agent] = len(p.Steps)
	p.Steps = append(p.Steps, step)
	value, err := p.begun(step.Agent, call)
	if err == nil && step.Fate == FateRecorded {
		p.settled(&engine.Settled{Agent: step.Agent, Result: earlier.Result(), Replayed: true})
	}
	return value, err
}

func (p *preview) merge(ctx context.Context, r *script.Merge) (json.RawMessage, error) {
	_, key, err := p.mergeRequest(ctx, r)
	if err != nil {
		return nil, err
	}
	if earlier, ok := p.replay.entry(key); ok {
		p.Steps = append(p.Steps, Step{Fate: FateRecorded, Request: r})
		return earlier.Value, nil
	}
	p.Steps = append(p.Steps, Step{Fate: FateNew, Request: r})
	p.blocked = true
	return nil, errUnknown
}

func (p *preview) nested(ctx context.Context, r *script.Nested) (json.RawMessage, error) {
	key, err := p.key(r, r)
	if err != nil {
		return nil, err
	}
	if earlier, ok := p.replay.entry(key); ok {
		return earlier.Value, nil
	}
	source, err := p.Nested(ctx, r)
	return answer(source, err)
}

// Post takes a request that is answered later, or not at all.
func (p *preview) Post(n int, r script.Request) error {
	switch r := r.(type) {
	case *script.Cancel:
		p.cancel(r)
		return nil
	case *script.Log, *script.Phase, *script.Appraise, *script.Choose:
		return nil
	case *script.Timer:
		_, _, err := p.remembered(n, r)
		return err
	case *script.Check, *script.Land, *script.Question, *script.Send:
		_, done, err := p.remembered(n, r)
		step := Step{Fate: FateNew, Request: r}
		if done {
			step.Fate = FateRecorded
		}
		p.Steps = append(p.Steps, step)
		return err
	default:
		return p.driver.Post(n, r)
	}
}

// cancel ends an agent that would be running.
func (p *preview) cancel(r *script.Cancel) {
	id := task.ID(r.ID)
	if r.Settled || p.replay.asked(id) || !p.open[id] {
		return
	}
	delete(p.open, id)
	step := &p.Steps[p.at[id]]
	step.Cancelled = true
	p.fresh = append(p.fresh, script.Delivery{Result: &script.Result{
		ID: r.ID, Status: "cancelled", Label: step.Call.Label, Phase: step.Call.Phase,
		Error: &script.Failure{Kind: string(task.CauseCancelled), Message: r.Reason},
	}})
}

// Next returns the next recorded value that enters the script.
func (p *preview) Next(context.Context) (script.Delivery, error) {
	if next, ok := p.replay.take(); ok {
		return p.hand(next), nil
	}
	if fresh := p.fresh; len(fresh) > 0 {
		p.fresh = fresh[1:]
		return fresh[0], nil
	}
	if len(p.open) == 0 && len(p.posted) == 0 {
		if next, ok := p.replay.takeHeld(); ok {
			return p.hand(next), nil
		}
	}
	p.blocked = true
	return script.Delivery{}, errUnknown
}

// drop notes the agents that no call asked for.
func (p *preview) drop() {
	byLabel := map[string][]*store.Agent{}
	for _, a := range p.Prior.Agents {
		if p.called[a.ID] {
			continue
		}
		p.Dropped = append(p.Dropped, a)
		if a.Call.Label != "" {
			byLabel[a.Call.Label] = append(byLabel[a.Call.Label], a)
		}
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		if s.Fate != FateNew || s.Call == nil {
			continue
		}
		if same := byLabel[s.Call.Label]; len(same) > 0 {
			s.Earlier, byLabel[s.Call.Label] = same[0], same[1:]
		}
	}
}
