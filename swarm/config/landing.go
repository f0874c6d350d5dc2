package config

// landingKeys are the keys of the table [landing].
func landingKeys() []key[Config] {
	return []key[Config]{
		{
			"screen", scriptShape(), "", "none",
			"quick check that sorts the patches of a merge with `--verify`; it decides about none",
			func(c *Config, f field) error { return f.intoString(&c.Screen) },
			func(c *Config) any { return c.Screen },
		},
	}
}
