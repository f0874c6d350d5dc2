package engine

import (
	"context"
	"errors"

	"agentswarm/swarm/task"
)

// Attendant is told of agents before anything of an attempt is paid for, and
// once it has ended.
type Attendant interface {
	// Starts may refuse an attempt with a [*VetoError]. Any other error means
	// that the hook failed, and refuses it too. Note is for people.
	Starts(ctx context.Context, a Attended) (note string, err error)
	// Ends is told how it went. Its error is only told.
	Ends(ctx context.Context, a Attended, result task.Result) (note string, err error)
}

// Attended is the attempt that it is about.
type Attended struct {
	Agent   task.ID
	Attempt int
	Call    *task.Call
	Prompt  string // the prompt of the agent
}

// VetoError refuses an attempt.
type VetoError struct{ Reason string }

func (e *VetoError) Error() string { return e.Reason }

func (t *attempt) attended() Attended {
	return Attended{Agent: t.id, Attempt: t.n, Call: t.call, Prompt: t.prompt}
}

// admitted runs the start hook and returns an ending if the attempt may not
// begin. A hook that fails refuses the attempt, because its author relies on
// it.
func (t *attempt) admitted(ctx context.Context) *ending {
	who := t.engine.deps.Attendant
	if who == nil {
		return nil
	}
	t.work = t.before()
	note, err := who.Starts(ctx, t.attended())
	switch veto := (*VetoError)(nil); {
	case err == nil:
		if note != "" {
			t.notes = append(t.notes, "on_agent_start: "+note)
		}
		return nil
	case ctx.Err() != nil:
		return t.notStarted(ctx, err)
	case errors.As(err, &veto):
		err = errors.New("on_agent_start: " + veto.Reason)
	}
	t.work.Ended = t.engine.deps.Now()
	return &ending{result: &task.Failed{Work: t.work, Kind: task.Refused, Reason: err.Error()}}
}

// dismissed tells how the attempt ended.
func (t *attempt) dismissed(ctx context.Context, end *ending) {
	who := t.engine.deps.Attendant
	if end.result == nil {
		return
	}
	work := end.result.Done()
	work.Notes = append(work.Notes, t.notes...)
	if who == nil || end.retry || end.held {
		return
	}
	note, err := who.Ends(ctx, t.attended(), end.result)
	if err != nil {
		note = err.Error()
	}
	if note != "" {
		work.Notes = append(work.Notes, "on_agent_end: "+note)
	}
}
