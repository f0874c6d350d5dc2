package roles

import (
	"fmt"
	"maps"
	"slices"
)

// Orders decide about the calls of a run: the configured roles, and the flags
// of its start. They are recorded with the run.
type Orders struct {
	Table Table `json:"table,omitempty"`
	// Role is the role of calls that name none, Model the model of calls and
	// types that name none; both may be empty.
	Role  string `json:"role,omitempty"`
	Model Spec   `json:"model,omitzero"`
	// Models are the models of stages, types and roles, by their names.
	Models map[string]Spec `json:"models,omitempty"`
	// Agent is the agent that was named for all calls; no role changes it.
	Agent string `json:"agent,omitempty"`
	// Route gives calls a role by their declared kind.
	Route bool `json:"route,omitempty"`
	// Phases are those that the run announced.
	Phases []string `json:"phases,omitempty"`
	// Providers are those that the user configured. Lacking are those of them that
	// a kind of agents, by its name, has a set-up of its own without; it is as it
	// is now, and not recorded.
	Providers []string            `json:"providers,omitempty"`
	Lacking   map[string][]string `json:"-"`
}

// Asked are the known facts of a call before its model is chosen.
type Asked struct {
	Model Spec   // of the call itself
	Role  string // of the call itself
	// Type is the type of the call, with the model and the role that it names.
	Type      string
	TypeModel Spec
	TypeRole  string
	Stage     string
	Phase     string
	// Reads is set where the call can change nothing: it is told so, or has
	// only tools that read.
	Reads bool
	// Own is the model that is configured of its agent.
	Own Spec
	// Agent is its agent's name, as far as somebody gave it: a role of another
	// agent is not for it.
	Agent string
	// Stays is set where the call is not to be routed.
	Stays bool
}

// Step is a source that could have decided, in the order of their precedence.
type Step struct {
	From  string `json:"from"` // such as: call, --model, role smol
	Spec  Spec   `json:"model,omitzero"`
	Says  string `json:"says,omitempty"` // why, where there is more to say
	Holds bool   `json:"holds,omitempty"`
}

// Resolved is the model of a call, with the reasons.
type Resolved struct {
	Role string // the name; empty: Default
	// Routed is the reason for a routed role; empty: the call, its type or a
	// flag named the role.
	Routed string
	// Model is empty where it is left to the agent.
	Model     Spec
	Fallbacks []Spec
	Slow      Spec   // after a failed second try; empty: nothing else
	Kind      string // the agent of the role; empty: any
	Limits    Limits
	// Chosen is set if a call, a type or a flag names the model itself. Named
	// is set if any of them names the model or the role.
	Chosen, Named bool
	Steps         []Step
	Used          []string // the flags that decided, by the names of their values
}

// NamedModel is the key under which [Resolved.Used] has the model of all calls,
// and NamedRole that of their role.
const (
	NamedModel = "--model"
	NamedRole  = "--role"
)

// Resolve finds the model of a call: that of the call, of its type, of a flag,
// of its role, or of the default role. The error is an [*UnknownError].
func (o *Orders) Resolve(a Asked) (*Resolved, error) {
	r := &Resolved{}
	if err := o.role(a, r); err != nil {
		return nil, err
	}
	role, from := o.Table.Of(nameOf(r.Role))
	if role.Kind != "" && a.Agent != "" && role.Kind != a.Agent && (from == Default || r.Routed != "") {
		// The call did not name the role: the role is for another agent.
		if r.Routed != "" {
			a.Stays = true
			return o.Resolve(a)
		}
		role, from = Role{}, ""
	}
	r.Kind, r.Limits = role.Kind, role.Limits
	o.model(a, r, offer{role, from})
	r.Fallbacks = others(r.Model, r.Fallbacks)
	o.thorough(a, r)
	return r, nil
}

func nameOf(role string) string {
	if role == "" {
		return Default
	}
	return role
}

// role finds the role of a call: that of the call, of its type or of the flag,
// or the role that it is routed to.
func (o *Orders) role(a Asked, r *Resolved) error {
	switch {
	case a.Role != "":
		r.Role, r.Named = a.Role, true
	case a.TypeRole != "":
		r.Role, r.Named = a.TypeRole, true
	case o.Role != "":
		r.Role, r.Named = o.Role, true
		r.Used = append(r.Used, NamedRole)
	default:
		r.Role, r.Routed = o.route(a)
	}
	if !o.Table.Has(r.Role) {
		return &UnknownError{r.Role, o.Table.Names()}
	}
	if r.Role == Default {
		r.Role = "" // Default has a single name and key
	}
	return nil
}

// offer is the configuration of a role.
type offer struct {
	role Role
	from string // whose it is; empty: nothing is configured
}

// model asks the places that may name a model, in the order of their
// precedence.
func (o *Orders) model(a Asked, r *Resolved, role offer) {
	take := func(from string, spec Spec, says string) {
		holds := r.Model == Spec{} && spec != Spec{}
		if holds {
			r.Model = spec
		}
		if spec != (Spec{}) || says != "" {
			r.Steps = append(r.Steps, Step{From: from, Spec: spec, Says: says, Holds: holds})
		}
	}
	flag := func(name, from string, spec Spec) {
		before := r.Model
		take(from, spec, "")
		if before == (Spec{}) && spec != (Spec{}) {
			r.Used = append(r.Used, name)
		}
	}
	take("call", a.Model, "")
	take("type "+a.Type, a.TypeModel, "")
	for _, part := range []struct{ what, name string }{{"stage", a.Stage}, {"type", a.Type}, {"role", nameOf(r.Role)}} {
		if part.name != "" {
			flag(part.name, "--agent-model of the "+part.what+" "+part.name, o.Models[part.name])
		}
	}
	flag(NamedModel, NamedModel, o.Model)
	r.Chosen = r.Model != Spec{}
	r.Named = r.Named || r.Chosen
	if role.from != "" && (role.from != Default || r.Role != "") {
		o.takeRole(r, role, take)
		usual, ok := o.Table[Default]
		if role = (offer{}); ok && r.Kind == "" && usual.Kind == "" {
			role = offer{usual, Default} // for a role that bounds only
		}
	}
	take("the agent's own", a.Own, "")
	if role.from != "" {
		o.takeRole(r, role, take)
	}
}

// others returns the fallbacks of a model, each once and without the model
// itself, because an unavailable model is not tried again at once.
func others(model Spec, fallbacks []Spec) (left []Spec) {
	for _, s := range fallbacks {
		if s != model && !slices.Contains(left, s) {
			left = append(left, s)
		}
	}
	return left
}

// takeRole lets a role offer its model. The fallbacks of a role are of no use
// to another model.
func (o *Orders) takeRole(r *Resolved, role offer, take func(string, Spec, string)) {
	before, says := r.Model, ""
	if name := nameOf(r.Role); role.from != name && o.Table[name].Spec == (Spec{}) {
		says = fmt.Sprintf("nothing is configured for %s", name)
	}
	take("role "+role.from, role.role.Spec, says)
	if before == (Spec{}) {
		r.Fallbacks = slices.Clone(role.role.Fallbacks)
	}
}

// thorough sets the model after a failed second try. It sets none if somebody
// chose the model or the role.
func (o *Orders) thorough(a Asked, r *Resolved) {
	slow, ok := o.Table[Slow]
	if !o.Route || !ok || r.Named || slow.Spec == r.Model {
		return
	}
	if slow.Kind == "" || slow.Kind == a.Agent || slow.Kind == r.Kind {
		r.Slow = slow.Spec
	}
}

// Unused are the flags that decided nothing, of those there are, given the ones
// that did.
func (o *Orders) Unused(used []string) []string {
	names := slices.Sorted(maps.Keys(o.Models))
	if o.Model != (Spec{}) {
		names = append(names, NamedModel)
	}
	if o.Role != "" {
		names = append(names, NamedRole)
	}
	return slices.DeleteFunc(names, func(name string) bool { return slices.Contains(used, name) })
}
