package workflow

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"agentswarm/roles"
	"agentswarm/swarm/agent"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/event"
	"agentswarm/swarm/nearest"
	"agentswarm/swarm/script"
	"agentswarm/swarm/task"
	"agentswarm/swarm/toolset"
)

// optionf is an error of an argument that is not valid.
func optionf(format string, args ...any) *script.Error {
	return &script.Error{Name: "TypeError", Code: script.CodeOption, Message: fmt.Sprintf(format, args...)}
}

// unknownf returns an error for an unknown name, with the nearest known name.
func unknownf(known []string, name, format string, args ...any) *script.Error {
	message := fmt.Sprintf(format, args...)
	if near := nearest.Word(name, known); near != "" {
		message += fmt.Sprintf("; did you mean %q?", near)
	} else if len(known) > 0 {
		message += "; known: " + strings.Join(known, ", ")
	}
	return &script.Error{Name: "Error", Code: script.CodeUnknown, Message: message}
}

// typed is the type of a call; nil where it names none.
func (c *Config) typed(r *script.Call) (*Type, error) {
	if r.AgentType == "" {
		return nil, nil
	}
	t, ok := c.Types[r.AgentType]
	if !ok {
		return nil, mistyped(slices.Sorted(maps.Keys(c.Types)), r.AgentType, "agentType: there is no type %q", r.AgentType)
	}
	if t.Refused != "" {
		return nil, optionf("agentType: type %q: %s", t.Name, t.Refused)
	}
	return &t, nil
}

// input returns the prompt of a call's agent, and the options that it uses.
func (d *driver) input(r *script.Call) (task.AgentInput, task.Options, error) {
	options := task.Options{Model: r.Model, Effort: r.Effort, ReadOnly: r.ReadOnly, MaxThinking: r.Thinking}
	for _, list := range []struct {
		key   string
		given []string
		to    *[]string
	}{{"tools", r.Tools, &options.Tools}, {"disallowedTools", r.Without, &options.Without}} {
		var err error
		if *list.to, err = toolset.Canonical(list.given); err != nil {
			return nil, options, optionf("%s: %v", list.key, err)
		}
	}
	if r.Fork != "" {
		// A conversation goes on with the agent and model it began with.
		parent := d.labels[task.ID(r.Fork)]
		if parent == nil {
			return nil, options, optionf("fork: there is no agent %q", r.Fork)
		}
		return &task.ForkAgentInput{Parent: task.ID(r.Fork), Prompt: r.Prompt}, agent.Lay(options, parent.Options), nil
	}
	t, err := d.Config.typed(r)
	if err != nil {
		return nil, options, err
	}
	input := &task.TypedAgentInput{Role: r.Role, Prompt: r.Prompt}
	if t != nil {
		own := t.Options()
		if d.Config.Assign != nil {
			own.Model = "" // which is told apart from the call's
		}
		options = agent.Lay(options, own)
		input.Type, input.Prompt = t.Name, strings.TrimSpace(t.Prompt)+"\n\n"+r.Prompt
	}
	return input, agent.Lay(options, d.Config.Options), nil
}

// assign gives a call the model and the limits of its role. A fork has the
// limits of the role that its conversation began with.
func (d *driver) assign(r *script.Call, call *task.Call) error {
	if d.Config.Assign == nil {
		return nil
	}
	request := engine.AssignRequest{Call: call, Named: r.Agent != ""}
	if r.Fork != "" {
		limits := d.bounds[d.labels[task.ID(r.Fork)]]
		request.Fork = &engine.Fork{Own: task.Choice{Model: r.Model, Effort: r.Effort}, Limits: limits}
		d.bounds[call] = limits
	}
	if t := d.Config.Types[r.AgentType]; r.AgentType != "" {
		request.TypeModel, request.TypeRole = t.Model, t.Role
	}
	found, err := d.Config.Assign(request)
	if unknown, ok := errors.AsType[*roles.UnknownError](err); ok {
		return mistyped(unknown.Known, unknown.Name, "role: %v", unknown)
	}
	if err != nil {
		return optionf("%v", err)
	}
	if found != nil {
		d.bounds[call] = found.Limits
	}
	return nil
}

// carrier is the agent that carries out a call.
func (d *driver) carrier(r *script.Call) (string, error) {
	c := d.Config
	name := c.Agent
	if r.Fork != "" {
		name = d.labels[task.ID(r.Fork)].Agent
		if r.Agent != "" && r.Agent != name {
			return "", optionf("fork: %s is an agent %q, and its conversation is no agent %q's; drop agent", r.Fork, name, r.Agent)
		}
	}
	if r.Agent != "" {
		if !slices.Contains(c.Agents, r.Agent) {
			return "", mistyped(c.Agents, r.Agent, "agent: there is no agent %q", r.Agent)
		}
		name = r.Agent
	}
	if name == "" {
		return "", mistyped(c.Agents, "", "agent: no agent is named, and there is no default; name one with --agent")
	}
	return name, nil
}

// mistyped is unknownf for a name that stands in the script: no replay and no
// other answer of an agent makes it right, so that no combinator makes a null
// of it.
func mistyped(known []string, name, format string, args ...any) *script.Error {
	e := unknownf(known, name, format, args...)
	e.Name, e.Code = "TypeError", script.CodeOption
	return e
}

// allows refuses a check that cannot be run, at once.
func (c Config) allows(r *script.Check) error {
	switch {
	case len(r.Argv) > 0 && c.Walled:
	case len(r.Argv) > 0:
		return &script.Error{Name: "Error", Code: script.CodePolicy, Message: "check: a command of a script runs " +
			"only in a sandbox, and there is none here; put it under [checks] in the configuration, and give its name"}
	case c.Checks != nil && !slices.Contains(c.Checks, r.Name):
		return unknownf(c.Checks, r.Name, "check: there is no check %q under [checks]", r.Name)
	}
	return nil
}

// fit maps the lists of tools of a call, and the effort of its type, to the
// agent that carries it out. A line of the run reports the omitted parts, once.
func (d *driver) fit(r *script.Call, call *task.Call) error {
	if d.Config.Fit == nil {
		return nil
	}
	t := d.Config.Types[r.AgentType]
	fitted, warning, err := d.Config.Fit(call.Agent, call.Options, r.Effort == "" && t.Effort != "" && t.Effort == call.Effort)
	if err != nil {
		return optionf("%v", err)
	}
	call.Options = fitted
	line := t.warned(warning)
	// A warning of a call has its place in the script in front.
	given := func(earlier string) bool { return strings.HasSuffix(earlier, line) }
	if line == "" || d.warned[line] || slices.ContainsFunc(d.Config.Warned, given) {
		return nil
	}
	d.warned[line] = true
	return d.log(event.Logged{Text: "warning: " + line})
}

// narrow turns the request of a script into a call.
func (d *driver) narrow(ctx context.Context, r *script.Call) (*task.Call, error) {
	c := d.Config
	call := &task.Call{
		Script: true, Label: r.Label, Phase: r.Phase,
		Base: c.Base, BaseTree: c.BaseTree, Paths: r.Paths,
		Timeout: time.Duration(r.Limits.MS) * time.Millisecond,
		Limits: task.Limits{
			Turns: r.Limits.Turns, Tokens: r.Limits.Tokens, USD: r.Limits.USD,
			Idle: time.Duration(r.Limits.IdleMS) * time.Millisecond,
		},
		Schema: r.Schema, StopWhen: r.StopWhen, OnTool: r.OnTool, Allow: r.Allow, Retries: r.Retries,
		Identity: r.Identifier, Uncached: r.Cache != nil && !*r.Cache, Stage: r.Stage,
	}
	var err error
	if call.Input, call.Options, err = d.input(r); err != nil {
		return nil, err
	}
	if in, typed := call.Input.(*task.TypedAgentInput); typed && in.Type != "" {
		// All agents of the type begin with the same prompt.
		call.Title = in.Type + ": " + task.FirstLine(r.Prompt)
	}
	if call.Agent, err = d.carrier(r); err != nil {
		return nil, err
	}
	if s := call.Stage; s != nil && s.Reads && c.Can != nil && c.Can(call.Agent).ReadOnly {
		// Changes of any other agent are left out of the run's work.
		call.Options = agent.Lay(task.Options{ReadOnly: true}, call.Options)
	}
	if err := d.fit(r, call); err != nil {
		return nil, err
	}
	call.Shared = r.Isolation == "shared"
	if r.Base != "" {
		if call.Shared {
			return nil, optionf("base: an agent in the shared workspace starts from what is there")
		}
		at, err := d.resolve(ctx, r.Base)
		if err != nil {
			return nil, err
		}
		call.Base, call.BaseTree = at.Commit, at.Tree
	}
	if err := d.assign(r, call); err != nil {
		return nil, err
	}
	if c.Check == nil {
		return call, nil
	}
	if err := c.Check(call); err != nil {
		var already *script.Error
		if errors.As(err, &already) {
			return nil, already
		}
		return nil, optionf("%v", err)
	}
	return call, nil
}
