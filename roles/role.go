package roles

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"sync"
	"time"
)

// The built-in roles. A role without configuration is that of Default, and
// without a configured Default the agent decides.
const (
	Default = "default"
	Smol    = "smol" // a cheap model: to look around and to report
	Slow    = "slow" // a thorough model: after two failed tries
	Plan    = "plan"
	Commit  = "commit" // the subjects of commits
)

// Known are the roles that are always there.
func Known() []string { return []string{Default, Smol, Slow, Plan, Commit} }

// Role is the model for a part of the work, with its limits.
type Role struct {
	Spec      Spec   `json:"spec,omitzero"` // empty: the model is left to the agent
	Fallbacks []Spec `json:"fallbacks,omitempty"`
	// Kind is the agent that the role's work goes to; empty: any.
	Kind   string `json:"kind,omitempty"`
	Limits Limits `json:"limits,omitzero"`
}

// Limits end an attempt of an agent of a role; 0 is any amount.
type Limits struct {
	Timeout time.Duration `json:"timeout_ns,omitempty"`
	Turns   int           `json:"turns,omitempty"`
	Tokens  int64         `json:"tokens,omitempty"` // output and reasoning
	USD     float64       `json:"usd,omitempty"`
}

// Table is the configuration of roles, by their names.
type Table map[string]Role

// Names are those that a call may give: of roles that are always there, in
// their order, and of the user's own.
func (t Table) Names() []string {
	names := Known()
	for _, name := range slices.Sorted(maps.Keys(t)) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Has reports whether there is a role of that name. An empty name is Default.
func (t Table) Has(name string) bool { return name == "" || slices.Contains(t.Names(), name) }

// Of returns the configuration for a role, and its source: the role's own name,
// Default, or none.
func (t Table) Of(name string) (role Role, from string) {
	if role, ok := t[name]; ok {
		return role, name
	}
	if role, ok := t[Default]; ok {
		return role, Default
	}
	return Role{}, ""
}

// NamePattern matches the name of a role.
const NamePattern = `^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`

var nameWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(NamePattern) })

// IsName reports whether a word may name a role.
func IsName(word string) bool { return nameWord().MatchString(word) }

// UnknownError is a role that there is none of.
type UnknownError struct {
	Name  string
	Known []string
}

func (e *UnknownError) Error() string { return fmt.Sprintf("there is no role %q", e.Name) }
