package config

import (
	"math"
	"strings"
)

// Order is the rule for which of several conflicting patches lands first. The zero value
// is the rule by the number of conflicts.
type Order uint8

// The rules that a file can name.
const (
	OrderFewest Order = iota // conflicts
	OrderPlan
)

// String is the word for the rule.
func (o Order) String() string {
	if o == OrderPlan {
		return "plan"
	}
	return "fewest"
}

// UnmarshalText is the reverse of String.
func (o *Order) UnmarshalText(text []byte) (err error) {
	*o, err = parseWord(string(text), OrderFewest, OrderPlan)
	return err
}

// landingKeys are the keys of the table [landing].
func landingKeys() []key[Config] {
	return []key[Config]{
		{
			"screen", shape{"script", object{"type": "string", "pattern": `^$|\S`}}, "", "none",
			"quick check that sorts patches; it refuses none",
			func(c *Config, f field) error {
				if err := f.intoString(&c.Screen); err != nil || c.Screen == "" || strings.TrimSpace(c.Screen) != "" {
					return err
				}
				return f.expected(`a command, or "" for none`)
			},
			func(c *Config) any { return c.Screen },
		}, {
			"slots", wholeShape(1, math.MaxInt), nil, "by measure",
			"checks at once",
			func(c *Config, f field) error { return f.intoInt(&c.Slots, 1, math.MaxInt) },
			func(c *Config) any { return c.Slots },
		}, {
			"order", wordShape(OrderFewest, OrderPlan), OrderFewest.String(), "",
			"conflicting patches land by fewest conflicts, or in plan order",
			func(c *Config, f field) error { return f.intoWord(&c.Order) },
			func(c *Config) any { return c.Order.String() },
		},
	}
}
