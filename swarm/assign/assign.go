// Package assign gives the calls of a run the agents and models of their roles, and
// checks the roles of a configuration. It starts no agent.
package assign

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"agentswarm/roles"
	"agentswarm/swarm/agent"
	"agentswarm/swarm/config"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/fanout"
	"agentswarm/swarm/nearest"
	"agentswarm/swarm/reviewer"
	"agentswarm/swarm/task"
)

// Assigner gives calls the settings of their roles, and keeps the settings that it found.
type Assigner struct {
	Config engine.Config
	Kinds  map[string]agent.Kind // by name
	// CheckModels returns an error for a model of an unknown provider; nil checks none.
	CheckModels func(models ...string) error

	found []*roles.Resolved
}

// Found returns the models that were found, in the order of their calls.
func (a *Assigner) Found() []*roles.Resolved { return a.found }

// Call assigns a call. The error is that of [engine.Assign], or of CheckModels.
func (a *Assigner) Call(r engine.AssignRequest) (*roles.Resolved, error) {
	if spec := a.Config.Agents[r.Call.Agent]; a.CheckModels != nil && (spec == nil || spec.Kind != agent.KindCommand) {
		if err := a.CheckModels(r.Call.Model, r.TypeModel); err != nil {
			return nil, err
		}
	}
	found, err := engine.Assign(a.Config, a.Kinds, r)
	if err == nil && found != nil {
		a.found = append(a.found, found)
	}
	return found, err
}

// Script returns the function that assigns the calls of a script; nil in a run of a
// version without roles.
func (a *Assigner) Script() func(engine.AssignRequest) (*roles.Resolved, error) {
	if a.Config.Roles == nil {
		return nil
	}
	return a.Call
}

// Flags returns the names of models and roles that decided anything.
func (a *Assigner) Flags() (names []string) {
	if reviewer.NamesCommits(a.Config) {
		names = append(names, roles.Commit)
	}
	for _, f := range a.found {
		names = append(names, f.Used...)
	}
	return names
}

// Calls assigns the calls of a workflow. The error is a [*fanout.TaskError] for a call
// of a list of tasks, or else that of [Assigner.Call].
func (a *Assigner) Calls(w fanout.Workflow, calls []*task.Call) error {
	for _, call := range calls {
		request := engine.AssignRequest{Call: call}
		var t *fanout.Task
		if len(w.Tasks) > 0 {
			t = &w.Tasks[call.Index-1]
			request.Named = t.Agent != ""
		}
		_, err := a.Call(request)
		if err != nil && t != nil {
			return taskError(w, t, err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// taskError names the line of a task that cannot be assigned.
func taskError(w fanout.Workflow, t *fanout.Task, err error) *fanout.TaskError {
	wrong := &fanout.TaskError{Source: w.Source, Line: t.Line, Reason: err.Error()}
	unknown, mistyped := errors.AsType[*roles.UnknownError](err)
	if !mistyped {
		return wrong
	}
	wrong.Field, wrong.Reason = "role", unknown.Error()
	if near := nearest.Word(unknown.Name, unknown.Known); near != "" {
		wrong.Reason += fmt.Sprintf("; did you mean %q?", near)
	} else {
		wrong.Tip = "known: " + strings.Join(unknown.Known, ", ")
	}
	return wrong
}

// RolesRequest names the roles of a configuration and the models that can be had.
type RolesRequest struct {
	Conf  *config.Config        // required
	Kinds map[string]agent.Kind // by name
	// Unknown returns the reason why the provider of a model is not known; "" if it
	// is. Required.
	Unknown func(roles.Spec) string
	Orders  *roles.Orders // required
}

// CheckRoles checks the roles of a run's configuration: an agent of the run must reach
// the model of each. With script, any agent of the run may have any role. The error is
// that of the first role in the configuration that is wrong. A model whose agent is
// known with its call only is not checked here.
func CheckRoles(r RolesRequest, c engine.Config, script bool) error {
	for _, name := range slices.Sorted(maps.Keys(r.Orders.Table)) {
		role := r.Orders.Table[name]
		var agents []string
		switch {
		case role.Kind != "":
			agents = []string{role.Kind}
		case script: // all agents are recorded
			agents = slices.Sorted(maps.Keys(c.Agents))
		}
		for _, spec := range append([]roles.Spec{role.Spec}, role.Fallbacks...) {
			if reason := cmp.Or(r.Unknown(spec), unreached(r.Kinds, c, agents, spec)); reason != "" {
				return r.Conf.WrongRole(name, reason)
			}
		}
	}
	return nil
}

// unreached returns the reason why none of some agents reaches a model; "" if an agent
// does, or if no agent is known.
func unreached(kinds map[string]agent.Kind, c engine.Config, agents []string, spec roles.Spec) (reason string) {
	for _, name := range agents {
		a := c.Agents[name]
		if a == nil || a.Kind == agent.KindCommand || spec == (roles.Spec{}) {
			continue
		}
		_, err := kinds[a.Kind].Choose(spec, c.Roles)
		if err == nil {
			return ""
		}
		reason = err.Error()
	}
	return reason
}

// WrongRoles returns the roles of a configuration whose agents or providers do not
// exist. A run would refuse them.
func WrongRoles(r RolesRequest) (wrong []*config.Error) {
	table := r.Conf.Roles()
	for _, name := range slices.Sorted(maps.Keys(table)) {
		role, reason := table[name], ""
		tell := func(roles.Spec) string { return "" }
		if role.Kind != "" {
			if a, err := r.Conf.Agent(role.Kind); err != nil {
				reason = "kind: " + err.Error()
			} else if kind, driven := r.Kinds[a.Kind.String()]; driven && a.Kind != config.KindCommand {
				tell = func(spec roles.Spec) string {
					if _, err := kind.Choose(spec, r.Orders); err != nil {
						return err.Error()
					}
					return ""
				}
			}
		}
		for _, spec := range append([]roles.Spec{role.Spec}, role.Fallbacks...) {
			reason = cmp.Or(reason, r.Unknown(spec), tell(spec))
		}
		if reason != "" {
			wrong = append(wrong, r.Conf.WrongRole(name, reason))
		}
	}
	return wrong
}
