package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"agentswarm/swarm/box"
	"agentswarm/swarm/config"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/hook"
	"agentswarm/swarm/proc"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// hookObject is swarm.hook/1, described in docs/stages.md: what a command of
// [hooks] gets on its standard input.
type hookObject struct {
	Schema     string     `json:"schema"`
	Event      hook.Event `json:"event"`
	Run        string     `json:"run"`
	Repository string     `json:"repository"`
	Base       string     `json:"base"`
	// Agent is absent of an event of the run.
	Agent *hookedAgent `json:"agent,omitempty"`
	// Status and what follows are of events of an end.
	Status   string       `json:"status,omitempty"`
	Code     *int         `json:"code,omitempty"` // of a run
	Error    *errorObject `json:"error,omitempty"`
	Changed  *bool        `json:"changed,omitempty"`
	Verified *bool        `json:"verified,omitempty"`
	Usage    *task.Usage  `json:"usage,omitempty"`
}

// hookedAgent is the attempt that a hook is told of.
type hookedAgent struct {
	ID      string `json:"id"`
	Attempt int    `json:"attempt"`
	Label   string `json:"label,omitempty"`
	Item    string `json:"item,omitempty"`
	Name    string `json:"agent,omitempty"` // as it is configured
	Kind    string `json:"kind"`
	Model   string `json:"model,omitempty"`
	Role    string `json:"role,omitempty"`
	Phase   string `json:"phase,omitempty"`
	Stage   string `json:"stage,omitempty"`
	Prompt  string `json:"prompt,omitempty"`
}

// HookError is a run that a hook has forbidden, or a hook that could not be
// asked.
type HookError struct {
	Event  hook.Event
	Reason string
	Veto   bool
}

func (e *HookError) Error() string {
	if e.Veto {
		return fmt.Sprintf("%s does not allow this: %s", e.Event, e.Reason)
	}
	return fmt.Sprintf("%s could not be asked: %s", e.Event, e.Reason)
}

// ExitCode is that of an approval that nobody gave.
func (e *HookError) ExitCode() int { return int(CodeApproval) }

// hookCommands are the commands of a configuration as a run records them.
func hookCommands(h config.Hooks) engine.HookCommands {
	return engine.HookCommands{
		RunStart: h.RunStart.Argv(), AgentStart: h.AgentStart.Argv(), AgentEnd: h.AgentEnd.Argv(), RunEnd: h.RunEnd.Argv(),
		Timeout: h.Timeout, Timeouts: h.Timeouts(),
	}
}

// startHook asks whether the run may begin. fresh is set of one that has not
// begun before: nothing of it is left where it may not.
func (b *bench) startHook(ctx context.Context, c engine.Config, fresh bool) error {
	if c.Hooks.RunStart == nil {
		return nil
	}
	answer, err := b.askHook(ctx, c.Hooks, hookObject{Event: hook.RunStart})
	var refused error
	switch answer := answer.(type) {
	case *hook.Note:
		b.deps.Warn(string(hook.RunStart) + ": " + Printable(answer.Text))
	case *hook.Veto:
		refused = &HookError{Event: hook.RunStart, Reason: Printable(answer.Reason), Veto: true}
	case *hook.Proceed, nil:
	default:
		panic(fmt.Sprintf("unhandled %T", answer))
	}
	switch {
	case ctx.Err() != nil:
		refused = context.Cause(ctx)
	case err != nil:
		refused = &HookError{Event: hook.RunStart, Reason: err.Error()}
	}
	if refused == nil {
		return nil
	}
	err = errors.Join(b.trees.Close(), b.owner.Close())
	if fresh {
		_, removing := b.run.Remove(context.WithoutCancel(ctx))
		err = errors.Join(err, removing)
		// It holds nothing yet.
		_ = os.Remove(b.run.State().Trees(b.run.ID))
	}
	return errors.Join(refused, err)
}

// endHook tells that the run has ended. What goes wrong is a warning: the run
// is what it is.
func (b *bench) endHook(ctx context.Context, c engine.Config, v *store.View) {
	if c.Hooks.RunEnd == nil {
		return
	}
	if ctx.Err() != nil {
		var done context.CancelFunc
		ctx, done = context.WithTimeout(context.WithoutCancel(ctx), hastyNotice)
		defer done()
	}
	answer, err := b.askHook(ctx, c.Hooks, hookObject{Event: hook.RunEnd, Status: string(v.Status), Code: &v.Code})
	note, isNote := answer.(*hook.Note)
	switch {
	case err != nil:
		b.deps.Warn(fmt.Sprintf("%s: %v", hook.RunEnd, err))
	case isNote:
		b.deps.Warn(string(hook.RunEnd) + ": " + Printable(note.Text))
	}
}

// attendant tells the hooks of a run of its agents. It is nil where there are
// none.
func (b *bench) attendant(c engine.Config) engine.Attendant {
	if c.Hooks.AgentStart == nil && c.Hooks.AgentEnd == nil {
		return nil
	}
	return &attendant{bench: b, config: c}
}

type attendant struct {
	bench  *bench
	config engine.Config
}

// about is what a hook is told of an attempt.
func (a *attendant) about(of engine.Attended) *hookedAgent {
	spec := engine.SpecOf(a.config, of.Call)
	h := &hookedAgent{
		ID: string(of.Agent), Attempt: of.Attempt, Label: engine.Title(of.Agent, of.Call), Item: of.Call.Item,
		Name: of.Call.Agent, Kind: spec.Kind, Model: spec.Model, Phase: of.Call.Phase, Prompt: of.Prompt,
	}
	if in, ok := of.Call.Input.(*task.TypedAgentInput); ok {
		h.Role = in.Role
	}
	if of.Call.Stage != nil {
		h.Stage = of.Call.Stage.Name
	}
	return h
}

// Starts asks the hook whether an attempt may begin.
func (a *attendant) Starts(ctx context.Context, of engine.Attended) (note string, err error) {
	if a.config.Hooks.AgentStart == nil {
		return "", nil
	}
	answer, err := a.bench.askHook(ctx, a.config.Hooks, hookObject{Event: hook.AgentStart, Agent: a.about(of)})
	if err != nil {
		return "", &HookError{Event: hook.AgentStart, Reason: err.Error()}
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

// Ends tells the hook how an attempt ended, also where it was stopped.
func (a *attendant) Ends(ctx context.Context, of engine.Attended, result task.Result) (note string, err error) {
	if a.config.Hooks.AgentEnd == nil {
		return "", nil
	}
	if ctx.Err() != nil {
		var done context.CancelFunc
		ctx, done = context.WithTimeout(context.WithoutCancel(ctx), hastyNotice)
		defer done()
	}
	told := hookObject{Event: hook.AgentEnd, Agent: a.about(of), Status: task.Word(result)}
	told.Agent.Prompt = ""
	work := result.Done()
	changed := work.Patch != nil
	told.Changed, told.Usage = &changed, &work.Usage
	switch r := result.(type) {
	case *task.Completed:
		told.Verified = r.Verified
	case *task.Failed:
		told.Error = &errorObject{Kind: string(r.Kind), Message: r.Reason}
	case *task.Cancelled:
		told.Error = &errorObject{Kind: string(r.Cause), Message: r.Reason}
	default:
		panic(fmt.Sprintf("unhandled %T", r))
	}
	answer, err := a.bench.askHook(ctx, a.config.Hooks, told)
	if said, ok := answer.(*hook.Note); ok {
		note = said.Text
	}
	return note, err
}

// hookCommand is what is run for an event; nil: nothing.
func hookCommand(h engine.HookCommands, e hook.Event) []string {
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

// maxHookOutput is how much a hook may print, in bytes: more than any answer,
// and nothing that fills a disk.
const maxHookOutput = 1 << 20

// askHook runs the command of an event and reads its answer. It is the user's
// own, as that of --notify is, and runs as that does: in their environment and
// without walls.
func (b *bench) askHook(ctx context.Context, h engine.HookCommands, told hookObject) (_ hook.Answer, err error) {
	most := cmp.Or(h.Timeouts[told.Event], h.Timeout, config.DefaultHookTimeout)
	ctx, cancel := context.WithTimeoutCause(ctx, most, fmt.Errorf("it took longer than %s", most))
	defer cancel()
	told.Schema, told.Run, told.Repository = "swarm.hook/1", b.run.ID, readable(b.rootDir())
	told.Base = b.owner.View().Identity.Base.Commit
	text, err := json.Marshal(told)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(b.run.Dir, "hook-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	input, out := filepath.Join(dir, "event.json"), filepath.Join(dir, "hook")
	if err := os.WriteFile(input, append(text, '\n'), 0o600); err != nil {
		return nil, err
	}
	walls, err := json.Marshal(box.Walls{})
	if err != nil {
		return nil, err
	}
	exit, err := engine.Shell(ctx, engine.ShellRequest{
		Launcher: launcher(b.deps.Launcher.Binary, box.None), Walls: walls, Run: "hook",
		Argv: hookCommand(h, told.Event), Dir: b.rootDir(), Env: ownEnviron(b.env.Environ), Stdin: input, Out: out,
		OutputLimit: maxHookOutput,
	})
	switch {
	case err != nil:
		return nil, err
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case exit.Reason == proc.OutputLimit:
		return nil, fmt.Errorf("it printed more than %d bytes", maxHookOutput)
	case exit.Reason == proc.StartFailed:
		return nil, fmt.Errorf("it could not be started: %s", exit.Text)
	case exit.Signal != "":
		return nil, fmt.Errorf("it was ended by %s%s", exit.Signal, lastWords(out+".err"))
	case exit.Reason != proc.Exited || exit.Code != 0:
		return nil, fmt.Errorf("it ended with %d%s", exit.Code, lastWords(out+".err"))
	}
	said, err := readText(out+".out", hook.MaxInput)
	if err != nil {
		return nil, err
	}
	return hook.ReadAnswer(told.Event, []byte(said))
}
