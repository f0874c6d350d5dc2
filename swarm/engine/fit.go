package engine

import (
	"fmt"
	"slices"
	"strings"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/task"
	"agentswarm/swarm/toolset"
)

// FitRequest asks which options of a call can be given to its agent.
type FitRequest struct {
	Spec    *agent.Spec // required
	Kind    agent.Kind  // of the agent; zero for a command
	Options task.Options
	// Effort is set where the effort was stated by a type, which serves agents of
	// many kinds. It is then left out where the kind does not know it.
	Effort bool
}

// Fit returns the options with the lists of tools as the agent can be given them.
// The warning names all that was left out, and is empty where everything fits. An
// agent never gets more than was asked for, as [toolset.Fit] states. Options that
// a kind cannot be told at all are left for [CheckCall] to refuse.
func Fit(r FitRequest) (o task.Options, warning string, err error) {
	o = r.Options
	var warnings []string
	if r.Effort && o.Effort != "" {
		if why := effortOf(r); why != "" {
			o.Effort = ""
			warnings = append(warnings, why)
		}
	}
	if r.Kind.Can.Tools && (len(o.Tools) > 0 || len(o.Without) > 0) {
		request := toolset.Request{Kind: r.Kind.Name, Rules: r.Kind.Lists, Lists: toolset.Lists{Tools: o.Tools, Without: o.Without}}
		if named := len(o.Tools) > 0 && !slices.Contains(o.Tools, toolset.All); !named {
			request.Tools = below(r.Spec, o.ReadOnly) // tools are taken away from the agent's own set
		}
		fitted, why, err := toolset.Fit(request)
		if err != nil {
			return o, "", err
		}
		o.Tools, o.Without = fitted.Tools, fitted.Without
		if why != "" {
			warnings = append(warnings, why)
		}
	}
	if len(warnings) == 0 {
		return o, "", nil
	}
	return o, fmt.Sprintf("agent %s (%s): %s", r.Spec.Name, r.Spec.Kind, strings.Join(warnings, "; ")), nil
}

// below are the tools of an agent that a call names none for; none means all.
func below(spec *agent.Spec, readOnly bool) []string {
	switch {
	case len(spec.Tools) > 0:
		return spec.Tools
	case readOnly || spec.ReadOnly:
		return agent.ReadOnlyTools()
	default:
		return nil
	}
}

// effortOf is the reason why an agent does not take an effort; empty: it does.
func effortOf(r FitRequest) string {
	without := *r.Spec
	without.Effort = ""
	with := without
	with.Effort = r.Options.Effort
	switch {
	case !r.Kind.Can.Effort:
		return fmt.Sprintf("it has no option for the effort %s", r.Options.Effort)
	case r.Kind.Check == nil || r.Kind.Check(&without) != nil:
		return ""
	}
	if err := r.Kind.Check(&with); err != nil {
		return fmt.Sprintf("it has its own effort, since %v", err)
	}
	return ""
}

// Fits returns [Fit] for the agents of a configuration, by their names. Options of
// an unknown agent stay as they are: [CheckCall] refuses them.
func Fits(agents map[string]*agent.Spec, kinds map[string]agent.Kind) func(string, task.Options, bool) (task.Options, string, error) {
	return func(name string, o task.Options, effort bool) (task.Options, string, error) {
		spec := agents[name]
		if spec == nil {
			return o, "", nil
		}
		return Fit(FitRequest{Spec: spec, Kind: kinds[spec.Kind], Options: o, Effort: effort})
	}
}
