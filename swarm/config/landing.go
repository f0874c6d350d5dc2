package config

import "strings"

// landingKeys are the keys of the table [landing].
func landingKeys() []key[Config] {
	return []key[Config]{
		{
			"screen", shape{"script", object{"type": "string", "pattern": `^$|\S`}}, "", "none",
			"quick check that sorts the patches of a merge with `--verify`; it decides about none",
			func(c *Config, f field) error {
				if err := f.intoString(&c.Screen); err != nil || c.Screen == "" || strings.TrimSpace(c.Screen) != "" {
					return err
				}
				return f.expected(`a command, or "" for none`)
			},
			func(c *Config) any { return c.Screen },
		},
	}
}
