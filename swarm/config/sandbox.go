package config

import "maps"

// Keys of the table [sandbox] by their dotted names.
const (
	modeKey  = "sandbox.mode"
	hideKey  = "sandbox.hide"
	writeKey = "sandbox.write"
)

// The variables that hold the user's defaults for all repositories and shells.
const (
	SandboxVariable = "SWARM_SANDBOX"
	BackendVariable = "SWARM_BACKEND"
)

// sandboxKeys are the keys of the table [sandbox].
func sandboxKeys() []key[Config] {
	return []key[Config]{
		{
			"mode", wordShape(SandboxAuto, SandboxRequire, SandboxOff), SandboxAuto.String(), "",
			"the walls around agents: the best there are here, none below namespaces, or none at all; " +
				"`\"require\"` holds whatever other files say, `\"off\"` is for your own file",
			func(c *Config, f field) error { return c.readMode(f) },
			func(c *Config) any { return c.Sandbox.String() },
		}, {
			"hide", pathsShape(), []string{}, "none",
			"files and folders that agents see nothing of, beside `~/.ssh`, `~/.aws` and other known secrets; " +
				"one that does not exist does no harm",
			func(c *Config, f field) error { return c.readHide(f) },
			func(c *Config) any { return texts(c.Hide) },
		}, {
			"write", foldersShape(), []string{}, "none",
			"folders outside of the workspace that all agents may write to and everybody sees; " +
				"for your own file",
			func(c *Config, f field) error { return c.readWrite(f) },
			func(c *Config) any { return texts(c.Write) },
		},
	}
}

// readMode reads the mode. A repository may tighten the walls and not take
// them down; that its local file is the user's own, nothing shows: one may
// have been committed.
func (c *Config) readMode(f field) error {
	var mode Sandbox
	if err := f.intoWord(&mode); err != nil {
		return err
	}
	switch {
	case mode == SandboxOff && f.layer != User:
		return f.wrong("%q may stand in the user configuration only, or be given as --sandbox=off: "+
			"a repository cannot take down the walls around its agents", mode)
	case c.Sandbox == SandboxRequire:
		return nil // what a lower file requires holds
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

// Over is the configuration with what variables of the environment say laid
// over all files. They are the user's own, so they may say anything. A
// variable that is empty says nothing; the error names the variable.
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
	return &over, nil
}
