package config

import (
	"maps"
	"regexp"
	"slices"
	"sync"
)

var checkName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_-]*$`) })

// checkKey is the dotted name of a check.
func checkKey(name string) string { return "checks." + name }

// CheckNames lists the checks that are configured and not switched off, in the
// order of the alphabet.
func (c *Config) CheckNames() []string {
	return slices.Sorted(maps.Keys(c.Checks()))
}

// Checks returns the scripts for sh -c that a workflow script may run on a
// tree, by name; nil if there are none. An empty script of a higher source
// switches a check off.
func (c *Config) Checks() map[string]string {
	var all map[string]string
	for name, script := range c.checks {
		if script == "" {
			continue
		}
		if all == nil {
			all = map[string]string{}
		}
		all[name] = script
	}
	return all
}

// mergeChecks reads the table [checks]. Its names are the user's own, so that
// no key there is unknown.
func (c *Config) mergeChecks(f field) error {
	checks := tableKeys{keys: map[string]reader{}}
	for _, name := range f.node.names {
		checks.keys[name] = func(f field) error { return c.mergeCheck(name, f) }
	}
	return f.table(checks)
}

// mergeCheck reads a check.
func (c *Config) mergeCheck(name string, f field) error {
	if !checkName().MatchString(name) {
		return f.wrong("a name holds letters, digits, - and _, and does not start with -")
	}
	var script string
	if err := c.readScript(f, &script); err != nil {
		return err
	}
	c.checks[name] = script
	c.origins[checkKey(name)] = f.origin()
	return nil
}
