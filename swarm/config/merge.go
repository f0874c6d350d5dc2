package config

import (
	"maps"
	"slices"
)

// merge lays a source over what the lower ones said. Its errors are joined.
func (c *Config) merge(s Source) error {
	root, err := parse(s)
	if err != nil {
		return err
	}
	agentKeys := slices.Collect(maps.Keys((&definition{}).readers()))
	return field{layer: s.Layer, file: s.Name, node: root}.table(tableKeys{
		keys:      c.readers(),
		elsewhere: agentKeys,
		hint:      "in a table [agents.NAME]",
	})
}

// readers are the keys of the top level.
func (c *Config) readers() map[string]reader {
	keys := map[string]reader{}
	for _, k := range topKeys() {
		keys[k.name] = func(f field) error {
			c.origins[k.name] = f.origin()
			return k.read(c, f)
		}
	}
	elsewhere := slices.Collect(maps.Keys(keys))
	keys["agents"] = func(f field) error {
		agents := tableKeys{keys: map[string]reader{}}
		for _, name := range f.node.names {
			agents.keys[name] = func(f field) error {
				return c.mergeAgent(name, f, elsewhere)
			}
		}
		return f.table(agents)
	}
	keys["checks"] = c.mergeChecks
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
	}, given: map[string]Origin{}}
	err := f.table(tableKeys{
		keys:      d.readers(),
		elsewhere: elsewhere,
		hint:      "at the top of the file, above the first [table]",
	})
	if err != nil {
		return err
	}
	d.fill()
	if key, reason := d.agent.check(); reason != "" {
		if d.has(key) {
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
	keys := map[string]reader{}
	for _, k := range agentKeys() {
		keys[k.name] = func(f field) error {
			d.given[k.name] = f.origin()
			return k.read(d, f)
		}
	}
	return keys
}
