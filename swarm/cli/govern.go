package cli

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/governor"
	"agentswarm/swarm/limit"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// govern has agents share the limits of their providers with all runs of this
// user. Where the files for that cannot be used they share them within the run.
// A run whose agents have no lanes leaves the files alone.
func (b *bench) govern(config engine.Config) (leave func() error) {
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

// heldReason is why most of the agents wait that could be at work, and how many
// have that reason; empty where none does.
func heldReason(v *store.View) (most string, count int) {
	n := map[string]int{}
	for _, a := range v.Agents {
		if a.Held == "" {
			continue
		}
		if n[a.Held]++; n[a.Held] > n[most] {
			most = a.Held
		}
	}
	return most, n[most]
}

// heldNote says why agents wait. It is empty where none does, and where the name
// of their state says it: the counts of a frame show that.
func heldNote(v *store.View) string {
	most, n := heldReason(v)
	if most == "" || strings.HasPrefix(most, task.WaitingSlot.Text()+" (") || strings.HasPrefix(most, task.WaitingCheck.Text()) {
		return ""
	}
	return fmt.Sprintf("%s: %s", termtext.Count(n, "agent", "agents"), most)
}
