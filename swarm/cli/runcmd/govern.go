package runcmd

import (
	"fmt"
	"path/filepath"
	"time"

	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/governor"
	"agentswarm/swarm/limit"
)

// govern has agents share the limits of their providers with all runs of this
// user. Where the files for that cannot be used they share them within the run.
// A run whose agents have no lanes leaves the files alone.
func govern(b *session.Session, config engine.Config) (leave func() error) {
	none := func() error { return nil }
	lanes := false
	for _, spec := range config.Agents {
		lanes = lanes || engine.HasLane(spec)
	}
	if !lanes {
		return none
	}
	options := governor.Options{Now: time.Now, Chance: limit.Random, Warn: b.Deps.Warn}
	g, err := governor.Open(filepath.Join(b.StateRoot, "governor"), options)
	if err != nil {
		b.Deps.Warn(fmt.Sprintf("limits on requests are not shared with other runs: %v", err))
		b.Deps.Governor = governor.Alone(options)
		return none
	}
	b.Deps.Governor = g
	return g.Close
}
