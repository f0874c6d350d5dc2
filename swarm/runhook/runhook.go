package runhook

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"agentswarm/internal/statefile"
	"agentswarm/swarm/box"
	"agentswarm/swarm/config"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/hook"
	"agentswarm/swarm/proc"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// Commands returns the commands of a configuration in the form that a run records.
func Commands(h config.Hooks) engine.HookCommands {
	return engine.HookCommands{
		RunStart: h.RunStart.Argv(), AgentStart: h.AgentStart.Argv(), AgentEnd: h.AgentEnd.Argv(), RunEnd: h.RunEnd.Argv(),
		Timeout: h.Timeout, Timeouts: h.Timeouts(),
	}
}

// lateTime bounds a hook of an end once the run was stopped.
const lateTime = 5 * time.Second

// Hooks runs the hooks of a run.
type Hooks struct {
	Config   engine.Config  // of the run; has the commands
	Run      *store.Run     // required
	Base     string         // commit of the run
	Dir      string         // working folder; required
	Launcher *proc.Launcher // starts supervisors without a sandbox; required
	Environ  []string
	// Repository names the repository for people.
	Repository string
	// Complaint returns the end of a command's standard error for a message, with ": "
	// before it; "" if the file is empty.
	Complaint func(file string) string // required
}

// StartRun asks the hook whether the run may begin. note is a text of the hook for
// people. The error is an [*Error], or the cause of the end of ctx.
func (h *Hooks) StartRun(ctx context.Context) (note string, err error) {
	if h.Config.Hooks.RunStart == nil {
		return "", nil
	}
	answer, err := h.ask(ctx, event{Event: hook.RunStart})
	var refused error
	switch answer := answer.(type) {
	case *hook.Note:
		note = answer.Text
	case *hook.Veto:
		refused = &Error{Event: hook.RunStart, Reason: answer.Reason, Veto: true}
	case *hook.Proceed, nil:
	default:
		panic(fmt.Sprintf("unhandled %T", answer))
	}
	switch {
	case ctx.Err() != nil:
		refused = context.Cause(ctx)
	case err != nil:
		refused = &Error{Event: hook.RunStart, Reason: err.Error()}
	}
	return note, refused
}

// EndRun tells the hook that the run has ended. note is a text of the hook for people.
// The error says why the command failed.
func (h *Hooks) EndRun(ctx context.Context, v *store.View) (note string, err error) {
	if h.Config.Hooks.RunEnd == nil {
		return "", nil
	}
	ctx, done := late(ctx)
	defer done()
	return h.run(ctx, event{Event: hook.RunEnd, Status: string(v.Status), Code: &v.Code})
}

// late gives a hook of an end some time if the run was stopped.
func late(ctx context.Context) (context.Context, context.CancelFunc) {
	if ctx.Err() == nil {
		return ctx, func() {}
	}
	return context.WithTimeout(context.WithoutCancel(ctx), lateTime)
}

// run runs a hook that cannot refuse.
func (h *Hooks) run(ctx context.Context, e event) (note string, err error) {
	answer, err := h.ask(ctx, e)
	if said, ok := answer.(*hook.Note); ok {
		note = said.Text
	}
	return note, err
}

// Attendant returns the hooks of attempts; nil if there are none.
func (h *Hooks) Attendant() engine.Attendant {
	if h.Config.Hooks.AgentStart == nil && h.Config.Hooks.AgentEnd == nil {
		return nil
	}
	return &attendant{h}
}

// attendant implements [engine.Attendant] by hooks.
type attendant struct{ *Hooks }

// about describes an attempt for a hook.
func (a *attendant) about(of engine.Attended) *agentObject {
	spec := engine.SpecOf(a.Config, of.Call)
	o := &agentObject{
		ID: string(of.Agent), Attempt: of.Attempt, Label: engine.Title(of.Agent, of.Call), Item: of.Call.Item,
		Name: of.Call.Agent, Kind: spec.Kind, Model: spec.Model, Phase: of.Call.Phase, Prompt: of.Prompt,
	}
	if in, ok := of.Call.Input.(*task.TypedAgentInput); ok {
		o.Role = in.Role
	}
	if of.Call.Stage != nil {
		o.Stage = of.Call.Stage.Name
	}
	return o
}

// Starts asks the hook whether an attempt may begin.
func (a *attendant) Starts(ctx context.Context, of engine.Attended) (note string, err error) {
	if a.Config.Hooks.AgentStart == nil {
		return "", nil
	}
	answer, err := a.ask(ctx, event{Event: hook.AgentStart, Agent: a.about(of)})
	if err != nil {
		return "", &Error{Event: hook.AgentStart, Reason: err.Error()}
	}
	switch answer := answer.(type) {
	case *hook.Veto:
		return "", &engine.VetoError{Reason: answer.Reason}
	case *hook.Note:
		return answer.Text, nil
	case *hook.Proceed:
		return "", nil
	default:
		panic(fmt.Sprintf("unhandled %T", answer))
	}
}

// Ends tells the hook how an attempt ended, also if it was stopped.
func (a *attendant) Ends(ctx context.Context, of engine.Attended, result task.Result) (note string, err error) {
	if a.Config.Hooks.AgentEnd == nil {
		return "", nil
	}
	ctx, done := late(ctx)
	defer done()
	e := event{Event: hook.AgentEnd, Agent: a.about(of), Status: task.Word(result)}
	e.Agent.Prompt = ""
	work := result.Done()
	changed := work.Patch != nil
	e.Changed, e.Usage = &changed, &work.Usage
	switch r := result.(type) {
	case *task.Completed:
		e.Verified = r.Verified
	case *task.Failed:
		e.Error = &errorObject{Kind: string(r.Kind), Message: r.Reason}
	case *task.Cancelled:
		e.Error = &errorObject{Kind: string(r.Cause), Message: r.Reason}
	default:
		panic(fmt.Sprintf("unhandled %T", r))
	}
	return a.run(ctx, e)
}

// commandOf returns the command for an event; nil: there is none.
func commandOf(h engine.HookCommands, e hook.Event) []string {
	switch e {
	case hook.RunStart:
		return h.RunStart
	case hook.AgentStart:
		return h.AgentStart
	case hook.AgentEnd:
		return h.AgentEnd
	case hook.RunEnd:
		return h.RunEnd
	case hook.BeforeTool, hook.Elsewhere:
		return nil
	default:
		panic("unhandled event " + string(e))
	}
}

// maxOutput bounds the output of a hook, in bytes. It is more than an answer can have.
const maxOutput = 1 << 20

// ask runs the command of an event and reads its answer. The command is the user's. It
// has their environment and no sandbox.
func (h *Hooks) ask(ctx context.Context, e event) (_ hook.Answer, err error) {
	commands := h.Config.Hooks
	most := cmp.Or(commands.Timeouts[e.Event], commands.Timeout, config.DefaultHookTimeout)
	ctx, cancel := context.WithTimeoutCause(ctx, most, fmt.Errorf("it took longer than %s", most))
	defer cancel()
	e.Schema, e.Run, e.Repository, e.Base = "swarm.hook/1", h.Run.ID, h.Repository, h.Base
	text, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(h.Run.Dir, "hook-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	input, out := filepath.Join(dir, "event.json"), filepath.Join(dir, "hook")
	if err := os.WriteFile(input, append(text, '\n'), 0o600); err != nil {
		return nil, err
	}
	sandbox, err := json.Marshal(box.Sandbox{})
	if err != nil {
		return nil, err
	}
	exit, err := engine.Shell(ctx, engine.ShellRequest{
		Launcher: h.Launcher, Sandbox: sandbox, Run: "hook",
		Argv: commandOf(commands, e.Event), Dir: h.Dir, Env: h.Environ, Stdin: input, Out: out, OutputLimit: maxOutput,
	})
	switch {
	case err != nil:
		return nil, err
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case exit.Reason == proc.OutputLimit:
		return nil, fmt.Errorf("it printed more than %d bytes", maxOutput)
	case exit.Reason == proc.StartFailed:
		return nil, fmt.Errorf("it could not be started: %s", exit.Text)
	case exit.Signal != "":
		return nil, fmt.Errorf("it was ended by %s%s", exit.Signal, h.Complaint(out+".err"))
	case exit.Reason != proc.Exited || exit.Code != 0:
		return nil, fmt.Errorf("it ended with %d%s", exit.Code, h.Complaint(out+".err"))
	}
	said, err := readOutput(out + ".out")
	if err != nil {
		return nil, err
	}
	return hook.ReadAnswer(e.Event, said)
}

// readOutput reads the output of a hook up to the bound of an answer and a byte more,
// which makes a longer one an error.
func readOutput(path string) (_ []byte, err error) {
	f, err := statefile.OpenOutput(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return io.ReadAll(io.LimitReader(f, hook.MaxInput+1))
}
