package config

import "github.com/pelletier/go-toml/v2/unstable"

// confinedKey is the key of the table [risk] by its dotted name.
const confinedKey = "risk.confined"

// riskKeys are the keys of the table [risk].
func riskKeys() []key[Config] {
	return []key[Config]{
		{
			"confined", wordShape(ConfinedAsk, ConfinedSnapshot), ConfinedAsk.String(), "",
			"what becomes of an action that destroys nothing but what is the agent's own, while walls hold: " +
				"you are asked, or it proceeds once the workspace is captured; for your own file",
			func(c *Config, f field) error { return c.readConfined(f) },
			func(c *Config) any { return c.Confined.String() },
		},
	}
}

// mergeRisk reads the table [risk]. Its key keeps its origin itself, since that
// of a repository counts for nothing.
func (c *Config) mergeRisk(f field) error {
	if f.node.kind == unstable.String {
		return f.expected(`a table, such as { confined = "ask" }`)
	}
	elsewhere := above()
	places(elsewhere, agentKeys(), inAgent)
	places(elsewhere, sandboxKeys(), inSandbox)
	elsewhere["write"] = inEither
	return f.table(tableKeys{keys: c.riskReaders(), elsewhere: elsewhere})
}

func (c *Config) riskReaders() map[string]reader {
	keys := map[string]reader{}
	for _, k := range riskKeys() {
		keys[k.name] = func(f field) error { return k.read(c, f) }
	}
	return keys
}

// readConfined reads what becomes of confined actions. A repository has no say
// in it, in either direction: what it says is kept apart, to be told. It is not
// refused as a mode of the walls is, for nothing is less safe without it.
func (c *Config) readConfined(f field) error {
	var confined Confined
	if err := f.intoWord(&confined); err != nil {
		return err
	}
	if f.layer != User {
		c.ignored = append(c.ignored, &Error{
			File: f.file, Line: f.node.line, Key: f.key,
			Reason: "is ignored: it counts in the user configuration only, or as --confined=" +
				confined.String() + ", and not in a repository",
		})
		return nil
	}
	c.Confined = confined
	c.origins[confinedKey] = f.origin()
	return nil
}

// Ignored is what the files of a repository say that is not theirs to say, and
// that does not count therefore, from the lowest file on.
func (c *Config) Ignored() []Error {
	var all []Error
	for _, e := range c.ignored {
		all = append(all, *e)
	}
	return all
}

// Ignored is what a source says that does not count, as [Config.Ignored].
func (s Source) Ignored() []Error {
	c := empty()
	if c.merge(s) != nil {
		return nil // it is wrong, which [Check] tells
	}
	return c.Ignored()
}
