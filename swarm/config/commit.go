package config

import "agentswarm/swarm/landing"

// Author is the author of the commits that a merge makes. The zero value is the
// user.
type Author uint8

// The authors that a file can name.
const (
	AuthorUser Author = iota
	AuthorAgent
)

// String is the word for the author.
func (a Author) String() string {
	if a == AuthorAgent {
		return string(landing.ByAgent)
	}
	return string(landing.ByUser)
}

// UnmarshalText is the reverse of String.
func (a *Author) UnmarshalText(text []byte) (err error) {
	*a, err = parseWord(string(text), AuthorUser, AuthorAgent)
	return err
}

// commitKeys are the keys of the table [commit].
func commitKeys() []key[Config] {
	return []key[Config]{
		{
			"author", wordShape(AuthorUser, AuthorAgent), AuthorUser.String(), "",
			"the author of merged commits: you, with a `Co-authored-by` line for the agent and its model, or the agent",
			func(c *Config, f field) error { return f.intoWord(&c.CommitAuthor) },
			func(c *Config) any { return c.CommitAuthor.String() },
		},
	}
}
