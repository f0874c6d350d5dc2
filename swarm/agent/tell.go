package agent

import (
	"fmt"
	"slices"
	"strings"

	"agentswarm/roles"
	"agentswarm/swarm/nearest"
	"agentswarm/swarm/task"
)

// UnreachedError is a model whose provider agents of a kind do not reach.
type UnreachedError struct {
	Kind  string
	Spec  roles.Spec
	Known []string // that they do; none where their own set-up says it
}

func (e *UnreachedError) Error() string {
	if len(e.Known) == 0 {
		return fmt.Sprintf("model %s: agents of the kind %s are not set up with %q: [providers.%s] is for the built-in agent; "+
			"set it up there too (if it is, run swarm models --refresh), or choose --agent builtin",
			e.Spec, e.Kind, e.Spec.Provider, e.Spec.Provider)
	}
	text := fmt.Sprintf("model %s: agents of the kind %s do not reach %q", e.Spec, e.Kind, e.Spec.Provider)
	if near := nearest.Word(e.Spec.Provider, e.Known); near != "" {
		return text + fmt.Sprintf("; did you mean %q?", near)
	}
	return text + ", only " + strings.Join(e.Known, ", ")
}

// Choose is how agents of the kind are told a model: as provider/model, or without
// its provider. The orders, which may be nil, say which providers the user
// configured. A name without a provider goes to the program as it is.
func (k Kind) Choose(s roles.Spec, o *roles.Orders) (task.Choice, error) {
	if o == nil {
		o = &roles.Orders{}
	}
	if s.Provider != "" && slices.Contains(o.Lacking[k.Name], s.Provider) {
		return task.Choice{}, &UnreachedError{Kind: k.Name, Spec: s}
	}
	if len(k.Providers) == 0 || s.Provider == "" {
		whole := s
		whole.Effort = ""
		return task.Choice{Model: whole.String(), Effort: s.Effort}, nil
	}
	known := k.Providers
	if !k.Bare {
		known = slices.Concat(known, o.Providers)
	}
	if !slices.Contains(known, s.Provider) {
		return task.Choice{}, &UnreachedError{Kind: k.Name, Spec: s, Known: known}
	}
	if k.Bare {
		return task.Choice{Model: s.Model, Effort: s.Effort}, nil
	}
	return task.Choice{Model: s.Provider + "/" + s.Model, Effort: s.Effort}, nil
}
