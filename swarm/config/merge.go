package config

import "agentswarm/swarm/hook"

// merge lays a source over what the lower ones said. Its errors are joined.
func (c *Config) merge(s Source) error {
	root, err := parse(s)
	if err != nil {
		return err
	}
	elsewhere := map[string]string{}
	places(elsewhere, sandboxKeys(), inSandbox)
	places(elsewhere, agentKeys(), inAgent)
	places(elsewhere, riskKeys(), inRisk)
	places(elsewhere, hookKeys()[:len(hook.Configured())], inHooks)
	elsewhere["write"] = inEither
	return field{layer: s.Layer, file: s.Name, node: root}.table(tableKeys{
		keys: c.readers(), elsewhere: elsewhere,
	})
}

// Where a key that stands in the wrong table belongs.
const (
	atTop     = "at the top of the file, above the first [table]"
	inAgent   = "in a table [agents.NAME]"
	inSandbox = "in the table [sandbox]"
	inRisk    = "in the table [risk]"
	inHooks   = "in the table [hooks]"
	inEither  = "in the table [sandbox] or in a table [agents.NAME]"
)

// readers are the keys of the top level.
func (c *Config) readers() map[string]reader {
	keys := map[string]reader{}
	for _, k := range topKeys() {
		keys[k.name] = func(f field) error {
			c.origins[k.name] = f.origin()
			return k.read(c, f)
		}
	}
	keys["agents"] = func(f field) error {
		agents := tableKeys{keys: map[string]reader{}}
		for _, name := range f.node.names {
			agents.keys[name] = func(f field) error { return c.mergeAgent(name, f) }
		}
		return f.table(agents)
	}
	keys["checks"] = c.mergeChecks
	keys["prices"] = c.mergePrices
	keys["providers"] = c.mergeProviders
	keys["roles"] = c.mergeRoles
	keys["sandbox"] = c.mergeSandbox
	keys["risk"] = c.mergeRisk
	keys["hooks"] = c.mergeHooks
	keys["variants"] = c.mergeVariants
	return keys
}

// above is where the keys of the top belong, for the tables below it.
func above() map[string]string {
	elsewhere := map[string]string{}
	places(elsewhere, topKeys(), atTop)
	return elsewhere
}

// places notes where keys belong.
func places[T any](elsewhere map[string]string, keys []key[T], where string) {
	for _, k := range keys {
		elsewhere[k.name] = where
	}
}

// mergeAgent reads one [agents.NAME] table and puts it in the place of any
// lower one.
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
	elsewhere := above()
	places(elsewhere, sandboxKeys(), inSandbox)
	places(elsewhere, riskKeys(), inRisk)
	if err := f.table(tableKeys{keys: d.readers(), elsewhere: elsewhere}); err != nil {
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
