package engine

import (
	"cmp"
	"fmt"

	"agentswarm/roles"
	"agentswarm/swarm/agent"
	"agentswarm/swarm/task"
)

// AssignRequest asks for the model of a call.
type AssignRequest struct {
	Call *task.Call // required; Assign writes the choice into it
	// TypeModel and TypeRole are the model and the role of the call's type;
	// empty for a call without a type.
	TypeModel, TypeRole string
	// Named is set where somebody gave the agent of the call by its name, and no
	// role changes it.
	Named bool
	// Fork describes the conversation that the call continues; nil: the call
	// continues none.
	Fork *Fork
}

// Fork holds the choice of a forking call and the limits of the role under
// which the conversation began.
type Fork struct {
	Own    task.Choice // named by the call itself
	Limits roles.Limits
}

// Assign gives a call the model, the limits and the agent of its role, resolved
// by the roles of the run. A command has no model, so it gets only an
// explicitly requested model. A fork keeps its model and has no role of its
// own. Assign returns nil if there is nothing to resolve.
func Assign(c Config, kinds map[string]agent.Kind, r AssignRequest) (*roles.Resolved, error) {
	call := r.Call
	r.Named = r.Named || c.Roles != nil && c.Roles.Agent != ""
	if r.Fork != nil && c.Roles != nil {
		return nil, goOn(c, kinds, call, r.Fork)
	}
	input, typed := call.Input.(*task.TypedAgentInput)
	if c.Roles == nil || !typed || len(call.Command) > 0 {
		return nil, nil // nothing to resolve is no error
	}
	asked, err := askedOf(c, r, input)
	if err != nil {
		return nil, err
	}
	found, err := c.Roles.Resolve(asked)
	if err != nil {
		return nil, err
	}
	if found.Routed != "" {
		trial := *call
		if give(c, kinds, &trial, r.Named, found) != nil {
			// No person asked for the route: a call that cannot be routed keeps
			// its own model.
			asked.Stays = true
			if found, err = c.Roles.Resolve(asked); err != nil {
				return nil, err
			}
		}
	}
	if err := give(c, kinds, call, r.Named, found); err != nil {
		return nil, err
	}
	role := *input
	role.Role, call.Input = found.Role, &role
	return found, nil
}

// goOn lays the limits of the role that a conversation began with under those of
// its fork. A model that the fork itself names is told its agent as any is.
func goOn(c Config, kinds map[string]agent.Kind, call *task.Call, f *Fork) error {
	bound(call, f.Limits)
	spec := c.Agents[call.Agent]
	if f.Own.Model == "" || spec == nil {
		return nil
	}
	kind, driven := kinds[spec.Kind]
	if !driven || spec.Kind == agent.KindCommand {
		return nil // its check says that it cannot be told a model
	}
	named, err := roles.ParseSpec(f.Own.Model)
	if err != nil {
		return err
	}
	choice, err := kind.Choose(named, c.Roles)
	if err != nil {
		return err
	}
	call.Model, call.Effort = choice.Model, cmp.Or(f.Own.Effort, choice.Effort, call.Effort)
	return nil
}

// askedOf collects the facts about a call that roles are resolved by.
func askedOf(c Config, r AssignRequest, input *task.TypedAgentInput) (a roles.Asked, err error) {
	call := r.Call
	a = roles.Asked{
		Role: input.Role, Type: input.Type, TypeRole: r.TypeRole, Phase: call.Phase,
	}
	if call.Stage != nil {
		a.Stage = call.Stage.Name
	}
	if r.Named {
		a.Agent = call.Agent
	}
	for _, m := range []struct {
		text string
		into *roles.Spec
	}{{call.Model, &a.Model}, {r.TypeModel, &a.TypeModel}} {
		if m.text == "" {
			continue
		}
		if *m.into, err = roles.ParseSpec(m.text); err != nil {
			return a, err
		}
	}
	bare := *call
	bare.Model = ""
	spec := SpecOf(c, &bare)
	a.Reads = spec.OnlyReads()
	if spec.Model != "" {
		// The table of an agent has the name that its program knows.
		a.Own = roles.Spec{Model: spec.Model}
	}
	return a, nil
}

// give writes the resolved choice into a call.
func give(c Config, kinds map[string]agent.Kind, call *task.Call, named bool, found *roles.Resolved) error {
	if found.Kind != "" && !named {
		if c.Agents[found.Kind] == nil {
			return fmt.Errorf("role %s: its agent %q cannot be started here", cmp.Or(found.Role, roles.Default), found.Kind)
		}
		call.Agent = found.Kind
	}
	spec := c.Agents[call.Agent]
	if spec == nil {
		return nil // its attempt says that there is no such agent
	}
	kind, driven := kinds[spec.Kind]
	if !driven || spec.Kind == agent.KindCommand {
		assignCommand(call, spec, found)
		return nil
	}
	own := roles.Spec{Model: spec.Model}
	given := call.Effort // it holds for whichever model
	tell := func(s roles.Spec) (task.Choice, error) {
		choice, err := kind.Choose(s, c.Roles)
		choice.Effort = cmp.Or(given, choice.Effort)
		return choice, err
	}
	if found.Model != (roles.Spec{}) && (spec.Model == "" || found.Model != own) {
		choice, err := tell(found.Model)
		if err != nil {
			return err
		}
		call.Model, call.Effort = choice.Model, choice.Effort
	}
	call.Fallbacks, call.Slow = nil, nil
	for _, s := range found.Fallbacks {
		choice, err := tell(s)
		if err != nil {
			return fmt.Errorf("fallback of role %s: %w", cmp.Or(found.Role, roles.Default), err)
		}
		call.Fallbacks = append(call.Fallbacks, choice)
	}
	if slow, err := tell(found.Slow); err == nil && found.Slow != (roles.Spec{}) {
		call.Slow = &slow
	}
	bound(call, found.Limits)
	return nil
}

// assignCommand leaves a command without the model of its role, because its own
// command line names the model. An explicitly requested model stays, so that
// the kind check refuses it by name. Limits apply as far as swarm can observe
// the command.
func assignCommand(call *task.Call, spec *agent.Spec, found *roles.Resolved) {
	if found.Chosen {
		call.Model = found.Model.String()
	}
	limits := found.Limits
	if spec.Format != agent.FormatJSONL {
		limits = roles.Limits{Timeout: limits.Timeout}
	}
	bound(call, limits)
}

// bound lays the limits of a role under those of a call.
func bound(call *task.Call, l roles.Limits) {
	call.Timeout = cmp.Or(call.Timeout, l.Timeout)
	call.Limits.Turns = cmp.Or(call.Limits.Turns, l.Turns)
	call.Limits.Tokens = cmp.Or(call.Limits.Tokens, l.Tokens)
	call.Limits.USD = cmp.Or(call.Limits.USD, l.USD)
}
