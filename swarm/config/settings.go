package config

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// Setting is one key of the configuration as it holds after all files.
type Setting struct {
	Table string // "", "sandbox", "risk", "hooks", "roles.NAME", "roles.NAME.limits", "prices.MODEL", "providers.NAME", "checks", "agents.NAME" or "agents.NAME.env"
	Name  string
	// Value is a string, an int, a bool or a []string. It is nil where
	// nothing is set and no fixed value holds either.
	Value any
	// Origin is where the value stands; its layer is unset for a default.
	Origin Origin
	// Also is where more of it stands, in lower files, the highest first.
	Also   []Origin
	Hidden bool // the value is a credential and was left out
}

// Key is the dotted name of the setting.
func (s Setting) Key() string {
	if s.Table == "" {
		return s.Name
	}
	return s.Table + "." + s.Name
}

// SettingsRequest is what the settings depend on besides the files.
type SettingsRequest struct {
	Jobs int // required: agents at once, where no file says
	// Secret tells of a variable whether it holds a credential. Required.
	Secret func(name, value string) bool
}

// Settings lists every key with the value that holds, defaults filled in: the
// top ones first, then the sandbox, risk, the roles, the checks, and each agent's.
func (c *Config) Settings(r SettingsRequest) []Setting {
	var all []Setting
	for _, k := range topKeys() {
		s := Setting{Name: k.name, Value: k.initial}
		switch origin, ok := c.origins[k.name]; {
		case ok:
			s.Value, s.Origin = k.value(c), origin
		case k.name == "jobs":
			s.Value = r.Jobs
		}
		all = append(all, s)
	}
	for _, k := range sandboxKeys() {
		s := Setting{Table: "sandbox", Name: k.name, Value: k.initial}
		if origin, ok := c.origins["sandbox."+k.name]; ok {
			s.Value, s.Origin = k.value(c), origin
		}
		switch k.name {
		case "hide":
			s.Also = lower(c.Hide, s.Origin)
		case "write":
			s.Also = lower(c.Write, s.Origin)
		}
		all = append(all, s)
	}
	for _, k := range riskKeys() {
		s := Setting{Table: "risk", Name: k.name, Value: k.initial}
		if origin, ok := c.origins["risk."+k.name]; ok {
			s.Value, s.Origin = k.value(c), origin
		}
		all = append(all, s)
	}
	for _, k := range hookKeys() {
		s := Setting{Table: "hooks", Name: k.name, Value: k.initial}
		if origin, ok := c.origins["hooks."+k.name]; ok {
			s.Value, s.Origin = k.value(c), origin
		}
		all = append(all, s)
	}
	for _, k := range variantsKeys() {
		s := Setting{Table: "variants", Name: k.name, Value: k.initial}
		if origin, ok := c.origins["variants."+k.name]; ok {
			s.Value, s.Origin = k.value(c), origin
		}
		all = append(all, s)
	}
	all = append(all, c.roleSettings()...)
	all = append(all, c.priceSettings()...)
	all = append(all, c.providerSettings()...)
	for _, name := range slices.Sorted(maps.Keys(c.checks)) {
		all = append(all, Setting{
			Table: "checks", Name: name, Value: c.checks[name], Origin: c.origins[checkKey(name)],
		})
	}
	for _, name := range c.AgentNames() {
		all = append(all, c.agentSettings(name, r)...)
	}
	return all
}

// lower are the first lines of paths in other files than the highest.
func lower(paths []Path, highest Origin) []Origin {
	var all []Origin
	for _, p := range slices.Backward(paths) {
		switch {
		case p.Origin.Layer == highest.Layer:
		case len(all) > 0 && all[len(all)-1].Layer == p.Origin.Layer:
			all[len(all)-1] = p.Origin
		default:
			all = append(all, p.Origin)
		}
	}
	return all
}

func (c *Config) agentSettings(name string, r SettingsRequest) []Setting {
	d := c.agents[name]
	// The one place that knows which limits an agent takes from the top.
	d.agent, _ = c.Agent(name)
	var all []Setting
	table := "agents." + name
	for _, k := range agentKeys() {
		if k.value == nil || slices.Contains(d.foreign(), k.name) {
			continue
		}
		s := Setting{Table: table, Name: k.name, Value: k.value(&d)}
		switch origin, ok := d.given[k.name]; {
		case ok:
			s.Origin = origin
		case k.name == "timeout" || k.name == "idle_timeout":
			s.Origin = c.origins[k.name]
		}
		all = append(all, s)
	}
	for _, variable := range slices.Sorted(maps.Keys(d.agent.Env)) {
		value := d.agent.Env[variable]
		s := Setting{
			Table: table + ".env", Name: variable, Value: value, Origin: d.given["env."+variable],
		}
		// What is taken from the environment is not written here.
		from, taken := strings.CutPrefix(value, "$")
		if !(taken && variableName().MatchString(from)) && value != "" && r.Secret(variable, value) {
			s.Value, s.Hidden = nil, true
		}
		all = append(all, s)
	}
	return all
}

// durationText is a duration without the zeros that Go writes at its end.
func durationText(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
