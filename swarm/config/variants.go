package config

import "agentswarm/variants"

// variantsKeys are the keys of the table [variants].
func variantsKeys() []key[Config] {
	return []key[Config]{
		{
			"enabled", boolShape(), true, "",
			"prompts end with the variants of the model's family",
			func(c *Config, f field) error {
				enabled := true
				err := f.intoBool(&enabled)
				c.NoVariants = !enabled
				return err
			},
			func(c *Config) any { return !c.NoVariants },
		}, {
			"off", variantShape(), []string{}, "none",
			"variants left out, as `FAMILY/MODE` or `FAMILY`; a higher file replaces the list",
			func(c *Config, f field) error { return f.intoVariants(&c.VariantsOff) },
			func(c *Config) any { return c.VariantsOff },
		},
	}
}

// variantShape describes a list of names of variants.
func variantShape() shape {
	names := ""
	for i, f := range variants.Families() {
		if i > 0 {
			names += "|"
		}
		names += string(f)
	}
	return shape{"list of variants", object{
		"type": "array",
		"items": object{
			"type": "string", "maxLength": 80, "pattern": `^(` + names + `)(/[a-z0-9]([a-z0-9-]*[a-z0-9])?)?$`,
		},
	}}
}

func (f field) intoVariants(to *[]string) error {
	var words []string
	if err := f.intoStrings(&words); err != nil {
		return err
	}
	for _, word := range words {
		if !variants.IsKey(word) {
			return f.wrong("%q names no variants; want FAMILY or FAMILY/MODE, such as claude/safety-asides; swarm variants lists them", word)
		}
	}
	*to = words
	return nil
}
