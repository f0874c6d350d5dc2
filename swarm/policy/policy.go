// Package policy decides about actions of agents: it loads the rules and grants that
// hold at a place, judges actions by them, and keeps the records of a run's
// decisions. It asks no person, and knows no command line.
package policy

import "agentswarm/swarm/config"

// Policy says how actions of a run's agents are judged. It is recorded with the run,
// and a resume keeps it.
type Policy struct {
	// Confined is the decision about an action that destroys only files of the
	// agent: ask, or [Snapshot]. Empty means ask.
	Confined string `json:"confined,omitempty"`
	// Allow are the grants that were given with the run, by the grammar of
	// AGENTS.md.
	Allow []string `json:"allow,omitempty"`
	// Audit says that SAFE actions are recorded too.
	Audit bool `json:"audit_all,omitempty"`
}

// Snapshot as [Policy.Confined] lets such an action proceed once the workspace is
// captured.
const Snapshot = "snapshot"

// Configured returns the policy of configuration files. A repository's file cannot
// set it.
func Configured(conf *config.Config) Policy {
	var p Policy
	if conf.Confined != config.ConfinedUnset {
		p.Confined = conf.Confined.String()
	}
	return p
}
