// Package config turns the configuration files of swarm into a value that no
// longer changes. It stores the user's approvals of commands that come with a
// repository.
//
// It owns the keys of the files, their types, their defaults and their
// precedence, the origin of each value, and the trust folder. It does not read
// flags (the caller lays them over) and does not resolve the program of a
// command. It never runs anything and never asks a person: the caller gets a
// list of texts that still need an approval.
package config

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"agentswarm/roles"
)

// Config is the sum of all configuration files. It does not change after
// [Load]. A zero field means that no file sets the key, or that the highest
// file switched it off with an empty script or a duration of 0s.
//
// A value of a higher source replaces that of a lower source key by key, and
// each name below [checks] and [roles] is a key. The lists of [sandbox] add up,
// and what it requires holds. An [agents.NAME] table is a single value. A
// higher table replaces the lower table whole, so a repository cannot slip a
// variable into an agent of the user.
type Config struct {
	DefaultAgent string
	Warm         string // a script for sh -c; empty: none
	Setup        string // the same
	Verify       string // a script for sh -c; empty: none
	Jobs         int    // agents at once, 1 to 100
	MaxAgents    int    // agents a run may start in its life
	Retries      int    // tries again where a failure may pass, 0 to 100
	// WaitLimits is the longest wait for a quota window: 0 where no file says it,
	// [WaitNever] for none. MaxWindows is how many of an account are waited for; 0:
	// no file says it.
	WaitLimits time.Duration
	MaxWindows int
	Notify     string // a script for sh -c; empty: none
	Questions  Questions
	Overlap    Overlap
	// HideChanges keeps from agents that the user has uncommitted changes which
	// they do not see.
	HideChanges bool
	Backend     Backend

	// Confined decides about actions that destroy only an agent's own files.
	// Only the user's file can set it.
	Confined Confined

	// QuestionTimeout is how long a question about an action waits; 0: no file
	// says.
	QuestionTimeout time.Duration

	Sandbox Sandbox // the mode
	Hide    []Path  // paths that agents do not see, of all files
	Write   []Path  // folders that agents may write to, of all files
	// PassEnv are patterns of variables that agents get too, of all files. Those
	// of a repository count once they are approved.
	PassEnv []Path

	NoVariants  bool     // nothing is said against failure modes of models
	VariantsOff []string // names of variants to leave out

	Timeout     time.Duration // of an agent; 0: no limit
	IdleTimeout time.Duration // of an agent; 0: no limit
	RunTimeout  time.Duration // of the whole run; 0: no limit

	// The budget of a run over its whole life; 0: no limit.
	BudgetTokens int
	BudgetUSD    float64
	BudgetTime   time.Duration

	CommitAuthor Author // of the commits that a merge makes
	Screen       string // quick check that sorts patches of a merge; empty: none
	Slots        int    // checks of a merge at once; 0: by measure
	Order        Order  // of conflicting patches in a merge

	MaxFile int64 // in bytes; larger new or changed files stay out of patches; 0: [worktree.DefaultMaxFile]
	MaxSize int64 // in bytes, that an agent may write; 0: no limit

	Retention Retention // the limits of swarm gc

	Hooks Hooks // commands that run on events

	agents map[string]definition
	checks map[string]string // as they were written; empty: switched off
	prices map[string]roles.Price
	roles  roles.Table
	// providers are those of the user.
	providers map[string]providerTable
	origins   map[string]Origin
	ignored   []*Error // settings of repositories that do not count

	patience time.Duration // the user's own question_timeout; 0: none is given
	// bounds are the spending limits of the user's own file by their keys, and
	// scripts the keys of its scripts. A repository removes neither a bound nor
	// a hook; off are the scripts that it switches off.
	bounds  map[string]float64
	scripts map[string]bool
	off     map[string]*Error
}

// definition is an [agents.NAME] table as it was written.
type definition struct {
	agent Agent
	// given is where the keys that the table holds stand: "input", "env",
	// and for each variable "env.NAME".
	given map[string]Origin
}

func (d *definition) has(key string) bool {
	_, ok := d.given[key]
	return ok
}

// Load reads the sources and merges them; their order does not matter, their
// layer does. A source without text says nothing. The first thing that is
// wrong in any of them, overridden or not, is returned as an [*Error].
func Load(sources ...Source) (*Config, error) {
	sources = slices.Clone(sources)
	slices.SortStableFunc(sources, func(a, b Source) int {
		return int(a.Layer) - int(b.Layer)
	})
	c := empty()
	for i, s := range sources {
		switch {
		case s.Layer < User || s.Layer > Local:
			return nil, fmt.Errorf("load %s: its layer is not known", printable(s.Name))
		case i > 0 && sources[i-1].Layer == s.Layer:
			return nil, fmt.Errorf("load %s: a second %s configuration",
				printable(s.Name), s.Layer)
		}
		if err := c.merge(s); err != nil {
			return nil, mistakes(err)[0]
		}
	}
	return c, nil
}

// empty is a configuration before the first source.
func empty() *Config {
	return &Config{
		agents: map[string]definition{}, checks: map[string]string{}, origins: map[string]Origin{},
		bounds: map[string]float64{}, scripts: map[string]bool{}, off: map[string]*Error{}, Retention: retained(),
	}
}

// Check reads a source as [Load] does and returns all its errors, in the order
// of the file. If the text is not valid TOML, it returns only the first error.
func Check(s Source) []*Error {
	c := empty()
	found := mistakes(c.merge(s))
	slices.SortStableFunc(found, func(a, b *Error) int { return a.Line - b.Line })
	return found
}

// mistakes takes joined errors apart.
func mistakes(err error) []*Error {
	switch e := err.(type) { // this walks the tree itself
	case nil:
		return nil
	case *Error:
		return []*Error{e}
	case interface{ Unwrap() []error }:
		var all []*Error
		for _, inner := range e.Unwrap() {
			all = append(all, mistakes(inner)...)
		}
		return all
	default:
		return []*Error{{Reason: err.Error()}}
	}
}

// Origin says where the value of a key stands, for example that of
// "workspace.verify" or of "agents.fast". It is false where no file sets the key.
func (c *Config) Origin(key string) (Origin, bool) {
	o, ok := c.origins[key]
	return o, ok
}

// AgentNames lists the configured agents in the order of the alphabet.
func (c *Config) AgentNames() []string {
	return slices.Sorted(maps.Keys(c.agents))
}

// Agent returns the agent of that name; an empty name means the default
// agent, and that of a kind the kind as it is where no table configures it. Limits that its table does not give are those of the configuration.
// The error is an [*UnknownAgentError].
func (c *Config) Agent(name string) (Agent, error) {
	fromDefault := name == ""
	name = c.orDefault(name)
	d, ok := c.agents[name]
	if kind := kindNamed(name); !ok && kind != KindUnset {
		d, ok = plain(kind), true
	}
	if !ok {
		unknown := &UnknownAgentError{Name: name, Known: c.AgentNames()}
		if fromDefault {
			unknown.Origin = c.origins[agentKey]
		}
		return Agent{}, unknown
	}
	a := d.agent
	a.Command = slices.Clone(a.Command)
	a.Tools = slices.Clone(a.Tools)
	a.Env = maps.Clone(a.Env)
	a.Write = slices.Clone(a.Write)
	if !d.has("timeout") {
		a.Timeout = c.Timeout
	}
	if !d.has("idle_timeout") {
		a.IdleTimeout = c.IdleTimeout
	}
	return a, nil
}

func (c *Config) orDefault(name string) string {
	if name == "" {
		return c.DefaultAgent
	}
	return name
}
