package config

// merge lays a source over the lower sources. Its errors are joined.
func (c *Config) merge(s Source) error {
	root, err := parse(s)
	if err != nil {
		return err
	}
	readers := c.readers()
	return field{layer: s.Layer, file: s.Name, node: root}.table(tableKeys{
		keys: readers, unknown: unknownAtTop(sortedKeys(readers)),
	})
}

// readers returns the readers of the top of a file, which holds tables only.
func (c *Config) readers() map[string]reader {
	keys := map[string]reader{
		"agents": c.mergeAgents, "checks": c.mergeChecks, "prices": c.mergePrices,
		"providers": c.mergeProviders, "roles": c.mergeRoles,
	}
	for _, t := range tables() {
		keys[t.name] = c.mergeTable(t)
	}
	return keys
}

// mergeAgents reads the tables [agents.NAME].
func (c *Config) mergeAgents(f field) error {
	agents := tableKeys{keys: map[string]reader{}}
	for _, name := range f.node.names {
		agents.keys[name] = func(f field) error { return c.mergeAgent(name, f) }
	}
	return f.table(agents)
}

// mergeAgent reads an [agents.NAME] table and replaces any lower table of the
// name.
func (c *Config) mergeAgent(name string, f field) error {
	if err := checkAgentName(name); err != nil {
		return f.wrong("%v", err)
	}
	kind := kindNamed(name)
	if kind == KindUnset {
		kind = KindCommand
	}
	d := definition{agent: Agent{
		Name: name, Kind: kind, Input: InputStdin, Format: FormatText,
		Origin: f.origin(),
	}, given: map[string]Origin{}}
	if err := f.table(tableKeys{keys: d.readers(), unknown: unknownIn(inAgents)}); err != nil {
		return err
	}
	d.fill()
	if key, reason := d.checkKind(); reason != "" {
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
