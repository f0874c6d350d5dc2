package config

import (
	"maps"
	"slices"
	"strings"

	"agentswarm/swarm/environ"
)

// Keys of the table [sandbox] by their dotted names.
const (
	modeKey  = "sandbox.mode"
	hideKey  = "sandbox.hide"
	writeKey = "sandbox.write"
	passKey  = "sandbox.pass_env"
)

// The variables that hold the user's defaults for all repositories and shells.
const (
	SandboxVariable = "SWARM_SANDBOX"
	BackendVariable = "SWARM_BACKEND"
	// PassEnvVariable holds patterns of pass_env, with commas or blanks between
	// them. They add to those of the files.
	PassEnvVariable = "SWARM_PASS_ENV"
)

// sandboxKeys are the keys of the table [sandbox].
func sandboxKeys() []key[Config] {
	return []key[Config]{
		{
			"mode", wordShape(SandboxAuto, SandboxRequire, SandboxOff), SandboxAuto.String(), "",
			"the sandbox of agents: the strongest that works here, namespaces or refuse, or none; " +
				"`\"require\"` wins over other files, `\"off\"` is valid only in your own file",
			func(c *Config, f field) error { return c.readMode(f) },
			func(c *Config) any { return c.Sandbox.String() },
		}, {
			"hide", pathsShape(), []string{}, "none",
			"files and folders hidden from agents, in addition to known secrets; a missing one is ignored",
			func(c *Config, f field) error { return c.readHide(f) },
			func(c *Config) any { return texts(c.Hide) },
		}, {
			"write", foldersShape(), []string{}, "none",
			"shared folders outside of the workspace that all agents may write to; only in your own file",
			func(c *Config, f field) error { return c.readWrite(f) },
			func(c *Config) any { return texts(c.Write) },
		}, {
			"pass_env", patternsShape(), []string{}, "none",
			"variables that agents, `setup` and checks get in addition to plain ones; `*` matches any characters",
			func(c *Config, f field) error { return c.readPassEnv(f) },
			func(c *Config) any { return texts(c.PassEnv) },
		},
	}
}

// readMode reads the mode. A repository may tighten the sandbox and not switch
// it off. Nothing shows that its local file is the user's own, because such a
// file may have been committed.
func (c *Config) readMode(f field) error {
	var mode Sandbox
	if err := f.intoWord(&mode); err != nil {
		return err
	}
	switch {
	case mode == SandboxOff && f.layer != User:
		return f.wrong("%q may stand in the user configuration only, or be given as --sandbox=off: "+
			"a repository cannot switch off the sandbox of its agents", mode)
	case c.Sandbox == SandboxRequire:
		return nil // the requirement of a lower file holds
	}
	c.Sandbox = mode
	c.origins[modeKey] = f.origin()
	return nil
}

func (c *Config) readHide(f field) error {
	var paths []Path
	if err := f.intoPaths(&paths); err != nil {
		return err
	}
	c.Hide = append(c.Hide, paths...)
	if len(paths) > 0 {
		c.origins[hideKey] = f.origin()
	}
	return nil
}

func (c *Config) readWrite(f field) error {
	var paths []Path
	if err := f.intoFolders(&paths); err != nil {
		return err
	}
	if len(paths) == 0 {
		return nil
	}
	if f.layer != User {
		return f.wrong("may stand in the user configuration only, or be given as --write DIR: " +
			"a repository cannot open folders of yours to its agents")
	}
	c.Write = append(c.Write, paths...)
	c.origins[writeKey] = f.origin()
	return nil
}

func (c *Config) readPassEnv(f field) error {
	var patterns []Path
	if err := f.intoPatterns(&patterns); err != nil {
		return err
	}
	c.PassEnv = append(c.PassEnv, patterns...)
	if len(patterns) > 0 {
		c.origins[passKey] = f.origin()
	}
	return nil
}

// PassEnvPatterns are the patterns of all files and of [PassEnvVariable], each
// once.
func (c *Config) PassEnvPatterns() []string {
	var all []string
	for _, text := range texts(c.PassEnv) {
		if !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return all
}

// passEnvItem returns the patterns of a repository's two files that pass
// variables to agents, for the user to approve. It is false if they pass
// nothing beyond the user's own patterns.
func (c *Config) passEnvItem() (Item, bool) {
	own := map[string]bool{}
	for _, p := range c.PassEnv {
		own[p.Text] = own[p.Text] || p.Origin.Layer == User || p.Origin.Layer == Environment
	}
	item := Item{Key: passKey}
	var names []string
	for _, p := range c.PassEnv {
		if !own[p.Text] && !slices.Contains(names, p.Text) {
			names, item.Origin = append(names, p.Text), p.Origin
		}
	}
	slices.Sort(names)
	item.Text = quotedWords(names)
	return item, len(names) > 0
}

// Over returns the configuration with the values of environment variables over
// all files. They are the user's own, so they may set anything. An empty
// variable sets nothing. Over returns an error that names the variable if a
// value is wrong.
func (c *Config) Over(lookup func(string) (string, bool)) (*Config, error) {
	over := *c
	over.origins = maps.Clone(c.origins)
	for _, v := range []struct {
		name, key string
		into      interface{ UnmarshalText([]byte) error }
	}{
		{SandboxVariable, modeKey, &over.Sandbox},
		{BackendVariable, backendKey, &over.Backend},
	} {
		text, _ := lookup(v.name)
		if text == "" {
			continue
		}
		if err := v.into.UnmarshalText([]byte(text)); err != nil {
			return nil, &Error{File: v.name, Reason: err.Error()}
		}
		over.origins[v.key] = Origin{Layer: Environment, File: v.name}
	}
	return &over, over.overPassEnv(lookup)
}

// overPassEnv adds the patterns that [PassEnvVariable] holds.
func (c *Config) overPassEnv(lookup func(string) (string, bool)) error {
	text, _ := lookup(PassEnvVariable)
	c.PassEnv = slices.Clone(c.PassEnv)
	for _, pattern := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' }) {
		if err := environ.CheckPattern(pattern); err != nil {
			return &Error{File: PassEnvVariable, Reason: err.Error()}
		}
		origin := Origin{Layer: Environment, File: PassEnvVariable}
		c.PassEnv = append(c.PassEnv, Path{Text: pattern, Key: passKey, Origin: origin})
		c.origins[passKey] = origin
	}
	return nil
}
