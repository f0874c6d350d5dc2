package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/event"
	"agentswarm/swarm/proc"
	"agentswarm/swarm/task"
)

// round runs a single process of the agent. The cause of a stop is passed to
// stop.
func (t *attempt) round(ctx context.Context, stop context.CancelCauseFunc) (*agent.Outcome, *ending) {
	e := t.engine
	ear, deaf, err := t.listen(ctx)
	if err != nil {
		return nil, t.notStarted(ctx, err)
	}
	t.askAddress = ear
	defer func() {
		deaf()
		t.askAddress = "" // later steps belong to no agent
	}()
	life, err := t.life()
	if err != nil {
		return nil, t.notStarted(ctx, err)
	}
	life.Ask = func(asked *event.Asked) { e.ask(ctx, t, asked) }
	life.Observe = func(ev event.Event) {
		t.observe(ev)
		t.sawTool(ev)
		t.report(ev)
		t.noteQuota(ev)
		t.tellAgain(ev)
		if cause := t.guard.see(ctx, ev); cause != nil {
			stop(cause)
		}
		t.remind()
	}
	outcome, err := life.Live(ctx)
	e.lines.remove(t.id)
	e.do(func(context.Context) { e.endQuestions(t.id) })
	if errors.Is(err, errQuota) {
		t.survived = true
		return nil, t.heldUp(err)
	}
	if err != nil {
		t.survived = true
		return nil, t.notStarted(ctx, err)
	}
	t.survived = t.survived || !outcome.Exit.AllEnded()
	t.letStand(outcome)
	t.closeLane(outcome)
	t.ranWell(outcome)
	t.work.Ended = e.deps.Now()
	kind := e.deps.Kinds[t.spec.Kind]
	keepSession(e.deps, t.id, kind, t.dir)
	keptSession(kind, t.dir, outcome)
	if spent := addRecorded(kind, t.spec, t.dir, outcome); spent != nil {
		t.observe(spent)
	}
	t.work.Usage.Add(outcome.Usage)
	if outcome.Exit.Reason == proc.StartFailed {
		t.gotRun = nil
		err := &proc.StartError{Err: errors.New(outcome.Exit.Text), Temporary: outcome.Exit.Temporary}
		return nil, t.notStarted(ctx, err)
	}
	note(&t.work, t.spec, outcome) // however the attempt ends from here on
	if err := t.journal(endedEvent(t.id, t.n, outcome)); err != nil {
		return nil, t.notStarted(ctx, err)
	}
	// Only now: the output may be long, and until the end is on record a crash
	// loses the answer. After a crash the recovery does it.
	if err := forget(t.spec.Kind, t.file("stdout")); err != nil {
		e.deps.Warn(fmt.Sprintf("%s: %v", t.id, err))
	}
	return outcome, nil
}

// lingered notes that an agent did not end by itself.
const lingered = "it had answered and did not exit, so swarm ended it; its answer counts"

// letStand lets a good answer stand that was there when the run was stopped, or
// its budget was spent: the agent had only to end, and a resume would pay for it
// again. Who cancels an agent does not want its answer.
func (t *attempt) letStand(o *agent.Outcome) {
	if !o.Stands || t.spec.Success != agent.SuccessAnswer {
		return
	}
	stopped := o.Stopped
	if h := (*Halt)(nil); errors.As(stopped, &h) && (h.Cause == task.CauseStopped || h.Cause == task.CauseBudget) {
		o.Stopped = nil
	}
	if good, _, _ := o.Judge(t.spec, true); !good || t.unfit(o) != nil {
		o.Stopped = stopped
		return
	}
	switch {
	case o.Stopped != nil:
	case o.Lingered:
		t.notes = append(t.notes, lingered)
	default:
		t.notes = append(t.notes, "its provider refused the requests after its answer, which counts; "+
			"it may not have received the last message")
	}
}

// life builds the life of the agent: its request, its sandbox and its
// workspace.
func (t *attempt) life() (*agent.Life, error) {
	e := t.engine
	if err := t.contract(); err != nil {
		return nil, err
	}
	request, err := t.request()
	if err != nil {
		return nil, err
	}
	around, err := t.enclose(AgentStep, t.kind() != nil && t.spec.OnlyReads())
	if err != nil {
		return nil, err
	}
	t.around = around
	request.State = cmp.Or(around.State, request.State)
	request.Tmp = cmp.Or(around.Tmp, variable(e.deps.Environ, "TMPDIR"))
	kind, ok := e.deps.Kinds[t.spec.Kind]
	if !ok {
		return nil, fmt.Errorf("nothing here drives agents of kind %q", t.spec.Kind)
	}
	place := t.place(around)
	place.Needs, place.Settings = request.Login.Env, kind.Variables
	env, err := agent.Environ(e.deps.Environ, t.spec, place)
	if err != nil {
		return nil, err
	}
	t.gotRun = &ranWith{agent.Held(e.deps.Environ, t.spec, place), []string{t.work.OutputFile, t.file("stderr")}}
	return &agent.Life{
		Launcher: e.deps.Launcher, Adapter: kind.Adapter, Spec: t.timed(),
		Request: request, State: t.state(),
		Run: e.deps.Run.ID, Dir: t.space.Path(), Env: env,
		Sandbox: around.Sandbox, Door: t.door(), Stdout: t.work.OutputFile, Stderr: t.file("stderr"),
		Long:    &e.long,
		Linger:  kind.Lingers(t.spec),
		Stall:   t.stall(&kind),
		Started: t.started("agent"),
		Opened:  t.opened,
		Refuse:  t.refuse,
	}, nil
}
