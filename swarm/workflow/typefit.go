package workflow

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/script"
	"agentswarm/swarm/task"
	"agentswarm/swarm/toolset"
)

// FitFunc maps the options of a call to the abilities of an agent. The warning
// names the omitted options. effort is set if the effort comes from a type.
type FitFunc func(name string, o task.Options, effort bool) (fitted task.Options, warning string, err error)

// Options are those that a call of the type has where it states none.
func (t Type) Options() task.Options {
	return task.Options{Model: t.Model, Effort: t.Effort, Tools: t.Tools, Without: t.Without}
}

// WarnRequest asks which settings of types, and which tools in a script, agents
// cannot use.
type WarnRequest struct {
	Types map[string]Type
	Uses  []script.Use
	// Agents carry out calls that name no agent. A run has a single agent; if
	// the run is not known yet, they are all that it might have.
	Agents []string
	Fit    FitFunc                // required
	Check  func(*task.Call) error // nil: calls are not checked
	// All is set where types are looked at that no call spells out.
	All bool
}

// Warnings returns a line for each type or call that an agent cannot follow as
// it is written. The lines are in the order of the calls and then of the types'
// names.
func Warnings(r WarnRequest) []string {
	uses := slices.Clone(r.Uses)
	if r.All {
		for _, name := range slices.Sorted(maps.Keys(r.Types)) {
			uses = append(uses, script.Use{AgentType: name})
		}
	}
	var all []string
	for _, u := range uses {
		names := r.Agents
		if u.Agent != "" {
			names = []string{u.Agent}
		}
		for _, name := range names {
			if line := r.warn(u, name); line != "" && !slices.Contains(all, line) {
				all = append(all, line)
			}
		}
	}
	return all
}

// warn returns the warning about a use by an agent; empty if there is none.
func (r WarnRequest) warn(u script.Use, name string) string {
	t := r.Types[u.AgentType]
	if t.Refused != "" || u.AgentType != "" && t.Name == "" {
		return "" // the call itself is refused, with the reason
	}
	title := u.Where
	if t.Name != "" {
		title = t.title()
	}
	own := task.Options{}
	var err error
	if own.Tools, err = toolset.Canonical(u.Tools); err == nil {
		own.Without, err = toolset.Canonical(u.Without)
	}
	warning := ""
	o := agent.Lay(own, t.Options())
	if err == nil {
		o, warning, err = r.Fit(name, o, t.Effort != "")
	}
	if err == nil && r.Check != nil {
		o.Model = "" // roles decide on it
		err = r.Check(&task.Call{
			Script: true, Agent: name, Options: o, Input: &task.TypedAgentInput{Type: t.Name, Prompt: t.Prompt},
		})
	}
	if err != nil {
		return fmt.Sprintf("%s: calls by agent %s are refused: %v", title, name, err)
	}
	if warning = t.warned(warning); warning == "" || t.Name != "" {
		return warning
	}
	return title + ": " + warning
}

// warned is a warning with the type that it is of, and with its unknown tools.
func (t Type) warned(warning string) string {
	if len(t.Unknown) > 0 {
		unknown := "there are no tools " + strings.Join(t.Unknown, ", ")
		warning = strings.TrimSuffix(unknown+"; "+warning, "; ")
	}
	if warning == "" || t.Name == "" {
		return warning
	}
	return t.title() + ": " + warning
}

// title is a type with its file, for messages.
func (t Type) title() string {
	if t.File == "" {
		return "type " + t.Name
	}
	return fmt.Sprintf("type %s (%s)", t.Name, t.File)
}
