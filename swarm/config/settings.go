package config

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// Setting is a key of the configuration with the value that holds after all
// files.
type Setting struct {
	Table string // "run", "limits" and the like, "roles.NAME", "roles.NAME.limits", "prices.MODEL", "providers.NAME", "checks", "agents.NAME" or "agents.NAME.env"
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
func (s Setting) Key() string { return s.Table + "." + s.Name }

// SettingsRequest holds what the settings depend on besides the files.
type SettingsRequest struct {
	Jobs int // required: agents at once, where no file says
	// Secret tells of a variable whether it holds a credential. Required.
	Secret func(name, value string) bool
}

// Settings lists every key with the value that holds, defaults filled in: the
// tables that every file may have first, then the roles, prices, providers and
// checks, and each agent's.
func (c *Config) Settings(r SettingsRequest) []Setting {
	var all []Setting
	for _, t := range tables() {
		all = append(all, c.tableSettings(t, r)...)
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
	// The only place that knows which limits an agent takes from the top.
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
			s.Origin = c.origins["limits."+k.name]
		}
		all = append(all, s)
	}
	for _, variable := range slices.Sorted(maps.Keys(d.agent.Env)) {
		value := d.agent.Env[variable]
		s := Setting{
			Table: table + ".env", Name: variable, Value: value, Origin: d.given["env."+variable],
		}
		// A value of the environment is not written here.
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
