package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"

	"agentswarm/swarm/nearest"
)

// table is a table of the file whose keys each have a single value in the whole
// configuration. Tables with names of the user, such as [agents.NAME], are read
// elsewhere.
type table struct {
	name    string
	meaning string // a sentence for the schema
	example string // an example for the error about a value that is no table
	keys    []key[Config]
	// keeps says that the readers of its keys record the origins themselves,
	// since not every value replaces the lower value.
	keeps bool
	// unknown says more of a key that it does not have; nil: where it belongs.
	unknown func(name string) string
	// personal is the reason that a repository's settings in it do not count;
	// empty: they count.
	personal string
	// moved says that its keys stood at the top of the file once.
	moved bool
}

// tables are all of them, in the order in which people read them.
func tables() []table {
	return []table{
		{
			name: "run", meaning: "How runs go.", example: `{ default_agent = "pi" }`,
			keys: runKeys(), moved: true,
		}, {
			name: "workspace", meaning: "Workspaces, and the commands run in them.", example: `{ verify = "make test" }`,
			keys: workspaceKeys(), moved: true,
		}, {
			name: "capture", meaning: "How the work of agents becomes a patch.", example: `{ max_file = "100MiB" }`,
			keys: captureKeys(),
		}, {
			name: "limits", meaning: "Limits of runs and agents.", example: `{ jobs = 8 }`,
			keys: limitsKeys(), moved: true,
		}, {
			name: "sandbox", meaning: "The sandbox of agents.", example: `{ mode = "auto" }`,
			keys: sandboxKeys(), keeps: true,
		}, {
			name: "risk", meaning: "How actions of agents are judged.", example: `{ confined = "ask" }`,
			keys: riskKeys(), keeps: true,
		}, {
			name: "hooks", meaning: "Commands that run when runs and agents begin and end.", example: `{ on_run_end = "beep" }`,
			keys: hookKeys(), unknown: unknownHook,
		}, {
			name: "variants", meaning: "Prompt additions for failure modes of models.", example: `{ off = ["claude/safety-asides"] }`,
			keys: variantsKeys(),
		}, {
			name: "commit", meaning: "What commits of merges look like. For the user's own file.", example: `{ author = "user" }`,
			keys: commitKeys(), personal: "who the author of your commits is counts in the user configuration only, and not in a repository",
		}, {
			name: "landing", meaning: "How `swarm merge --verify` finds patches that pass. Only in the user's own file.",
			example: `{ screen = "go build ./..." }`,
			keys:    landingKeys(), personal: "commands of your merges count in the user configuration only, and not in a repository",
		}, {
			name: "gc", meaning: "Retention by `swarm gc`. Only in the user's own file.", example: `{ trash_age = "7d" }`,
			keys: gcKeys(), personal: "only the user configuration decides about removal of your runs, not a repository",
		},
	}
}

// limitsKeys are the keys of the table [limits].
func limitsKeys() []key[Config] {
	return slices.Concat(numberKeys(), timeKeys(), quotaKeys(), budgetKeys())
}

// mergeTable reads a table.
func (c *Config) mergeTable(t table) reader {
	return func(f field) error {
		if f.node.kind != unstable.Table {
			return f.expected("a table, such as " + t.example)
		}
		unknown := t.unknown
		if unknown == nil {
			unknown = unknownIn(t.name)
		}
		return f.table(tableKeys{keys: c.tableReaders(t), unknown: unknown})
	}
}

// tableReaders are the keys of a table.
func (c *Config) tableReaders(t table) map[string]reader {
	keys := map[string]reader{}
	for _, k := range t.keys {
		keys[k.name] = func(f field) error {
			if t.personal != "" && f.layer != User {
				return c.ignore(f, k.read(empty(), f), t.personal)
			}
			count := len(c.ignored)
			err := k.read(c, f)
			if !t.keeps && len(c.ignored) == count {
				c.origins[t.name+"."+k.name] = f.origin()
			}
			return err
		}
	}
	return keys
}

// ignore records that a repository's setting does not count. An error in it is
// still returned.
func (c *Config) ignore(f field, wrong error, why string) error {
	if wrong == nil {
		c.ignored = append(c.ignored, &Error{File: f.file, Line: f.node.line, Key: f.key, Reason: "is ignored: " + why})
	}
	return wrong
}

// tableSettings are the keys of a table with the values that hold.
func (c *Config) tableSettings(t table, r SettingsRequest) []Setting {
	var all []Setting
	for _, k := range t.keys {
		s := Setting{Table: t.name, Name: k.name, Value: k.initial}
		switch origin, ok := c.origins[s.Key()]; {
		case ok:
			s.Value, s.Origin = k.value(c), origin
		case s.Key() == jobsKey:
			s.Value = r.Jobs
		}
		switch s.Key() {
		case hideKey:
			s.Also = lower(c.Hide, s.Origin)
		case writeKey:
			s.Also = lower(c.Write, s.Origin)
		case passKey:
			s.Also = lower(c.PassEnv, s.Origin)
		}
		all = append(all, s)
	}
	return all
}

// unknownAtTop says of a key that no table begins with where it stands. Files
// of earlier versions have most of their keys there.
func unknownAtTop(known []string) func(string) string {
	return func(name string) string {
		all := map[string]string{}
		for _, t := range tables() {
			for _, k := range t.keys {
				if t.moved && k.name == name {
					return "is now " + t.name + "." + name + ": write it in the table [" + t.name + "]"
				}
				all[k.name] = cmp.Or(all[k.name], t.name+"."+k.name)
			}
		}
		if where := belongs(name, ""); where != "" || nearest.Word(name, known) != "" {
			return where
		}
		near := nearest.Word(name, sortedKeys(all))
		if near == "" {
			return ""
		}
		return fmt.Sprintf("unknown key; did you mean %q?", all[near])
	}
}

// unknownIn says of a key that the table here does not have where it belongs:
// in TOML whatever follows a [table] belongs to it.
func unknownIn(here string) func(string) string {
	return func(name string) string { return belongs(name, here) }
}

// inAgents is the name in [belongs] of the tables [agents.NAME].
const inAgents = "agents.NAME"

// belongs says in which other tables a key is known; empty for none.
func belongs(name, here string) string {
	var places []string
	for _, t := range tables() {
		if t.name == name && here != "" {
			return "unknown key here; write it at the top level of the file, as a table [" + name + "]"
		}
		if t.name != here && has(t.keys, name) {
			places = append(places, "in the table ["+t.name+"]")
		}
	}
	if here != inAgents && has(agentKeys(), name) {
		places = append(places, "in a table ["+inAgents+"]")
	}
	if len(places) == 0 {
		return ""
	}
	return "unknown key here; it belongs " + strings.Join(places, " or ")
}

// has tells whether a key is among them.
func has[T any](keys []key[T], name string) bool {
	return slices.ContainsFunc(keys, func(k key[T]) bool { return k.name == name })
}
