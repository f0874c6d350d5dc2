package config

import (
	"cmp"
	"math"
	"time"

	"github.com/pelletier/go-toml/v2/unstable"
)

// Keys of the table [risk] by their dotted names.
const (
	confinedKey = "risk.confined"
	patienceKey = "risk.question_timeout"
)

// DefaultQuestionTimeout is how long a question about an action waits where no
// file says. An agent that hears nothing costs its place; hours of it were seen
// elsewhere.
const DefaultQuestionTimeout = 10 * time.Minute

// riskKeys are the keys of the table [risk].
func riskKeys() []key[Config] {
	return []key[Config]{
		{
			"confined", wordShape(ConfinedAsk, ConfinedSnapshot), ConfinedAsk.String(), "",
			"an action in a full sandbox that destroys only the agent's own files asks, or proceeds " +
				"after a capture; only in your own file",
			func(c *Config, f field) error { return c.readConfined(f) },
			func(c *Config) any { return c.Confined.String() },
		}, {
			"question_timeout", patienceShape(), durationText(DefaultQuestionTimeout), "",
			"time until an unanswered question about an action is denied; a repository may only shorten it",
			func(c *Config, f field) error { return c.readPatience(f) },
			func(c *Config) any { return durationText(c.QuestionTimeout) },
		},
	}
}

// readConfined reads the decision about confined actions. A repository cannot
// set it, in either direction; its value is recorded as ignored. It is not
// refused like a mode of the sandbox, because ignoring it makes nothing less
// safe.
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

// readPatience reads how long questions wait. A repository may have agents give
// up sooner. It cannot keep an agent and its question waiting longer than the
// user wants.
func (c *Config) readPatience(f field) error {
	d, err := time.ParseDuration(f.node.text)
	if f.node.kind != unstable.String || err != nil || d <= 0 {
		return f.expected(`a duration above zero such as "90s" or "1h30m"`)
	}
	if limit := cmp.Or(c.patience, DefaultQuestionTimeout); f.layer != User && d > limit {
		c.ignored = append(c.ignored, &Error{
			File: f.file, Line: f.node.line, Key: f.key,
			Reason: "is ignored: a repository may shorten the " + durationText(limit) + " of the user, and not lengthen it",
		})
		return nil
	}
	if f.layer == User {
		c.patience = d
	}
	c.QuestionTimeout = d
	c.origins[patienceKey] = f.origin()
	return nil
}

// Ignored returns the settings of a repository's files that do not count, from
// the lowest file on.
func (c *Config) Ignored() []Error {
	var all []Error
	for _, e := range c.ignored {
		all = append(all, *e)
	}
	return all
}

// Ignored returns the settings of a source that do not count, as
// [Config.Ignored] does, without regard to the other files.
func (s Source) Ignored() []Error {
	c := empty()
	c.patience = math.MaxInt64 // which is in the user's file
	if c.merge(s) != nil {
		return nil // it is wrong, which [Check] tells
	}
	return c.Ignored()
}
