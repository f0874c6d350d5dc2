package config

import (
	"maps"
	"math"
	"slices"
)

// merge lays a source over what the lower ones said.
func (c *Config) merge(s Source) error {
	root, err := parse(s)
	if err != nil {
		return err
	}
	agentKeys := slices.Collect(maps.Keys((&definition{}).readers()))
	return field{layer: s.Layer, file: s.Name, node: root}.table(schema{
		keys:      c.readers(),
		elsewhere: agentKeys,
		hint:      "in a table [agents.NAME]",
	})
}

// readers are the keys of the top level.
func (c *Config) readers() map[string]reader {
	keys := map[string]reader{
		"default_agent": func(f field) error { return f.intoAgentName(&c.DefaultAgent) },
		"setup":         func(f field) error { return f.intoString(&c.Setup) },
		"verify":        func(f field) error { return f.intoString(&c.Verify) },
		"jobs":          func(f field) error { return f.intoInt(&c.Jobs, 1, 100) },
		"max_agents":    func(f field) error { return f.intoInt(&c.MaxAgents, 1, math.MaxInt) },
		"timeout":       func(f field) error { return f.intoDuration(&c.Timeout) },
		"idle_timeout":  func(f field) error { return f.intoDuration(&c.IdleTimeout) },
		"run_timeout":   func(f field) error { return f.intoDuration(&c.RunTimeout) },
	}
	for key, read := range keys {
		keys[key] = func(f field) error {
			c.origins[key] = f.origin()
			return read(f)
		}
	}
	elsewhere := slices.Collect(maps.Keys(keys))
	keys["agents"] = func(f field) error {
		agents := schema{keys: map[string]reader{}}
		for _, name := range f.node.names {
			agents.keys[name] = func(f field) error {
				return c.mergeAgent(name, f, elsewhere)
			}
		}
		return f.table(agents)
	}
	return keys
}

// mergeAgent reads one [agents.NAME] table and puts it in the place of any
// lower one.
func (c *Config) mergeAgent(name string, f field, elsewhere []string) error {
	if err := checkAgentName(name); err != nil {
		return f.wrong("%v", err)
	}
	d := definition{agent: Agent{
		Name: name, Kind: KindCommand, Input: InputStdin, Format: FormatText,
		Origin: f.origin(),
	}, given: map[string]bool{}}
	keys := d.readers()
	err := f.table(schema{
		keys:      keys,
		elsewhere: elsewhere,
		hint:      "at the top of the file, above the first [table]",
	})
	if err != nil {
		return err
	}
	for _, key := range f.node.names {
		d.given[key] = true
	}
	if d.agent.Success == SuccessUnset {
		d.agent.Success = SuccessExit
		if d.agent.Format == FormatJSONL {
			d.agent.Success = SuccessAnswer
		}
	}
	if key, reason := d.agent.check(); reason != "" {
		if d.given[key] {
			f = f.child(key)
		}
		return f.wrong("%s", reason)
	}
	c.agents[name] = d
	c.origins["agents."+name] = d.agent.Origin
	return nil
}

// readers are the keys of an agent.
func (d *definition) readers() map[string]reader {
	a := &d.agent
	return map[string]reader{
		"kind":         func(f field) error { return f.intoWord(&a.Kind) },
		"command":      func(f field) error { return f.intoStrings(&a.Command) },
		"input":        func(f field) error { return f.intoWord(&a.Input) },
		"format":       func(f field) error { return f.intoWord(&a.Format) },
		"success":      func(f field) error { return f.intoWord(&a.Success) },
		"env":          func(f field) error { return f.intoEnv(&a.Env) },
		"timeout":      func(f field) error { return f.intoDuration(&a.Timeout) },
		"idle_timeout": func(f field) error { return f.intoDuration(&a.IdleTimeout) },
		// A key that would do nothing is worse than none.
		"pty":   notYet,
		"write": notYet,
	}
}

func notYet(f field) error {
	return f.wrong("is not available in this version")
}
