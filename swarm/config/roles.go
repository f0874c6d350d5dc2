package config

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"

	"agentswarm/roles"
)

// roleKey is the dotted name of a role.
func roleKey(name string) string { return "roles." + name }

// roleKeys are the keys of a [roles.NAME] table.
func roleKeys() []key[roles.Role] {
	return []key[roles.Role]{
		{
			"model", specShape(), nil, "that of its agent, else of `default`",
			"the model, by the provider's name for it; a suffix such as `:high` is the reasoning effort",
			func(r *roles.Role, f field) error { return f.intoSpec(&r.Spec) },
			func(r *roles.Role) any { return orUnsetWord(r.Spec.String()) },
		}, {
			"fallbacks", specsShape(), nil, "none",
			"models to continue with, in order, if the one before is not available",
			func(r *roles.Role, f field) error { return f.intoSpecs(&r.Fallbacks) },
			func(r *roles.Role) any { return orUnset(specTexts(r.Fallbacks)) },
		}, {
			"kind", nameShape(), nil, "that of the run",
			"the agent for its work: a kind, or the name of a table `[agents.NAME]`",
			func(r *roles.Role, f field) error { return f.intoAgentName(&r.Kind) },
			func(r *roles.Role) any { return orUnsetWord(r.Kind) },
		}, {
			"limits", limitsShape(), nil, "none",
			"limits of an attempt, if the call has none: `timeout`, `turns`, `tokens`, `usd`",
			func(r *roles.Role, f field) error { return f.table(limitReaders(&r.Limits)) },
			nil, // each is a setting of its own
		},
	}
}

// limitKeys are the keys of the limits of a role.
func limitKeys() []key[roles.Limits] {
	return []key[roles.Limits]{
		{
			"timeout", durationShape(), nil, "none", "time of an attempt",
			func(l *roles.Limits, f field) error { return f.intoDuration(&l.Timeout) },
			func(l *roles.Limits) any { return unlessZero(l.Timeout, durationText(l.Timeout)) },
		}, {
			"turns", wholeShape(0, math.MaxInt), nil, "none", "turns of an attempt",
			func(l *roles.Limits, f field) error { return f.intoInt(&l.Turns, 0, math.MaxInt) },
			func(l *roles.Limits) any { return unlessZero(l.Turns, l.Turns) },
		}, {
			"tokens", wholeShape(0, math.MaxInt), nil, "none", "output and reasoning tokens of an attempt",
			func(l *roles.Limits, f field) error {
				var n int
				err := f.intoInt(&n, 0, math.MaxInt)
				l.Tokens = int64(n)
				return err
			},
			func(l *roles.Limits) any { return unlessZero(l.Tokens, int(l.Tokens)) },
		}, {
			"usd", amountShape(), nil, "none", "dollars of an attempt",
			func(l *roles.Limits, f field) error { return f.intoAmount(&l.USD) },
			func(l *roles.Limits) any { return unlessZero(l.USD, l.USD) },
		},
	}
}

// unlessZero is a value, or nothing where it says nothing.
func unlessZero[T comparable](value T, shown any) any {
	var zero T
	if value == zero {
		return nil
	}
	return shown
}

func limitReaders(l *roles.Limits) tableKeys {
	keys := map[string]reader{}
	for _, k := range limitKeys() {
		keys[k.name] = func(f field) error { return k.read(l, f) }
	}
	return tableKeys{keys: keys}
}

func limitsShape() shape { return shape{"table", properties(limitKeys())} }

// specShape is the name of a model with its provider.
func specShape() shape {
	s := optionShape().schema
	effort := strings.Join(roles.Efforts(), "|")
	s["allOf"] = []object{
		{"not": object{"pattern": `^/|^[^/]*/$`}}, {"not": object{"pattern": `^([^/]*/)?:(` + effort + `)$`}},
	}
	return shape{"`\"provider/model\"` or `\"provider/model:effort\"`", s}
}

func specsShape() shape {
	return shape{"list of models", object{"type": "array", "items": specShape().schema}}
}

// roleSchema returns the schema of a role's value.
func roleSchema() object {
	table := properties(roleKeys())
	table["anyOf"] = []object{{"required": []string{"model"}}, {"required": []string{"kind"}}, {"required": []string{"limits"}}}
	table["dependentRequired"] = object{"fallbacks": []string{"model"}}
	return object{"anyOf": []object{specShape().schema, table}}
}

// rolesSchema is the table [roles].
func rolesSchema() object {
	return object{
		"type": "object",
		"description": "Which models do which part of the work: default, smol, slow, plan, commit, and names of your own. " +
			"Each is a model, or a table.",
		"propertyNames":        object{"pattern": roles.NamePattern},
		"additionalProperties": roleSchema(),
	}
}

// intoSpec reads the name of a model with its provider.
func (f field) intoSpec(to *roles.Spec) error {
	var text string
	if err := f.intoOption(&text); err != nil {
		return err
	}
	spec, err := roles.ParseSpec(text)
	if err != nil {
		return f.wrong("%v", err)
	}
	*to = spec
	return nil
}

func (f field) intoSpecs(to *[]roles.Spec) error {
	if f.node.kind != unstable.Array {
		return f.expected(`an array of models, such as ["openai/gpt-5"]`)
	}
	for i, item := range f.node.items {
		var spec roles.Spec
		if err := f.at(fmt.Sprintf("%s[%d]", f.key, i), item).intoSpec(&spec); err != nil {
			return err
		}
		*to = append(*to, spec)
	}
	return nil
}

func specTexts(specs []roles.Spec) []string {
	all := make([]string, len(specs))
	for i, s := range specs {
		all[i] = s.String()
	}
	return all
}

// mergeRoles reads the table [roles]. A role is a single value: that of a
// higher file replaces it whole.
func (c *Config) mergeRoles(f field) error {
	names := tableKeys{keys: map[string]reader{}}
	for _, name := range f.node.names {
		names.keys[name] = func(f field) error { return c.mergeRole(name, f) }
	}
	return f.table(names)
}

func (c *Config) mergeRole(name string, f field) error {
	if !roles.IsName(name) {
		return f.wrong("the name of a role holds letters, digits, - and _, at most 64, and begins with a letter or a digit")
	}
	var r roles.Role
	switch f.node.kind {
	case unstable.String:
		if err := f.intoSpec(&r.Spec); err != nil {
			return err
		}
	case unstable.Table:
		keys := map[string]reader{}
		for _, k := range roleKeys() {
			keys[k.name] = func(f field) error { return k.read(&r, f) }
		}
		if err := f.table(tableKeys{keys: keys}); err != nil {
			return err
		}
	default:
		return f.expected(`a model, such as "openai/gpt-5", or a table`)
	}
	switch {
	case len(r.Fallbacks) > 0 && r.Spec == roles.Spec{}:
		return f.child("fallbacks").wrong("needs a model that they stand in for; give one as model")
	case r.Spec == roles.Spec{} && r.Kind == "" && r.Limits == roles.Limits{}:
		return f.wrong(`says nothing; want a model, such as model = "openai/gpt-5"`)
	}
	if c.roles == nil {
		c.roles = roles.Table{}
	}
	c.roles[name] = r
	c.origins[roleKey(name)] = f.origin()
	return nil
}

// Roles are the configured ones; nil where there are none.
func (c *Config) Roles() roles.Table { return maps.Clone(c.roles) }

// RoleOrigin is where a role stands.
func (c *Config) RoleOrigin(name string) Origin { return c.origins[roleKey(name)] }

// WrongRole returns an error about the configuration of a role, at its place.
func (c *Config) WrongRole(name, reason string) *Error {
	o := c.RoleOrigin(name)
	return &Error{File: o.File, Line: o.Line, Key: roleKey(name), Reason: reason}
}

// roleText returns all settings of a role that decide about its cost.
func roleText(r roles.Role) string {
	var lines []string
	if r.Spec != (roles.Spec{}) {
		lines = append(lines, fmt.Sprintf("model = %q", r.Spec.String()))
	}
	if len(r.Fallbacks) > 0 {
		lines = append(lines, "fallbacks = "+quotedWords(specTexts(r.Fallbacks)))
	}
	if r.Kind != "" {
		lines = append(lines, fmt.Sprintf("kind = %q", r.Kind))
	}
	for _, k := range limitKeys() {
		if value := k.value(&r.Limits); value != nil {
			lines = append(lines, fmt.Sprintf("limits.%s = %v", k.name, value))
		}
	}
	return strings.Join(lines, "\n")
}

// roleSettings are the roles as they hold.
func (c *Config) roleSettings() []Setting {
	var all []Setting
	for _, name := range slices.Sorted(maps.Keys(c.roles)) {
		r := c.roles[name]
		add := func(table, key string, value any) {
			s := Setting{Table: table, Name: key, Value: value}
			if value != nil {
				s.Origin = c.RoleOrigin(name)
			}
			all = append(all, s)
		}
		for _, k := range roleKeys() {
			if k.value != nil {
				add(roleKey(name), k.name, k.value(&r))
			}
		}
		for _, k := range limitKeys() {
			if value := k.value(&r.Limits); value != nil {
				add(roleKey(name)+".limits", k.name, value)
			}
		}
	}
	return all
}
