package session

import (
	"encoding/json"
	"fmt"

	"agentswarm/swarm/engine"
	"agentswarm/swarm/inbox"
	"agentswarm/swarm/isolation"
	"agentswarm/swarm/policy"
	"agentswarm/swarm/store"
	"agentswarm/swarm/workflow/library"
)

// Contact has the settings for questions and notifications of a run. They are recorded with
// the run, and a resume uses them.
type Contact struct {
	// Questions is the requested policy; empty: the policy that fits the
	// onlookers.
	Questions inbox.Policy `json:"questions,omitempty"`
	// Notify is a script for sh -c; empty: none.
	Notify string `json:"notify,omitempty"`
}

// Config is the configuration in run.json: the engine's, and the settings of the person
// who started the run.
type Config struct {
	engine.Config
	Contact
	isolation.Settings
	policy.Policy
}

// ReadConfig returns the configuration of the latest owner of a run. It returns an error if
// the record cannot be decoded.
func ReadConfig(v *store.View) (Config, error) {
	var r Reconfigured
	text, into := v.Identity.Config, any(&r.Config)
	if v.Script != nil && v.Script.Config != nil {
		text, into = v.Script.Config, &r
	}
	if err := json.Unmarshal(text, into); err != nil {
		return r.Config, fmt.Errorf("read the configuration of run %s: %w", v.Identity.Run, err)
	}
	return r.Config, nil
}

// EngineConfig returns the engine's part of ReadConfig, with its errors.
func EngineConfig(v *store.View) (engine.Config, error) {
	c, err := ReadConfig(v)
	return c.Config, err
}

// Reconfigured is the configuration of a run with a script after `resume --reconfigure`.
type Reconfigured struct {
	Config Config          `json:"config"`
	Script library.Setting `json:"script"`
}

// ReviewOf returns the review mode of a run; an unreadable record has none.
func ReviewOf(v *store.View) string {
	config, _ := EngineConfig(v)
	return config.Review
}
