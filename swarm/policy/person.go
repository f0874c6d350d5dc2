package policy

import (
	"slices"

	"agentswarm/swarm/proc"
	"agentswarm/swarm/store"
)

// InsideAgent is the reason why a process with SWARM_AGENT belongs to an agent.
const InsideAgent = "SWARM_AGENT is set, so this is an agent"

// FromAgent returns the reason why this process belongs to an agent of a run in state;
// "" if it does not. An agent of another repository may use swarm in its own.
//
// An agent can unset the variable. A live run has a socket that refuses it. For a run
// that has ended, the mark of its supervisor on the process counts. A process can also
// remove the mark: only a sandbox keeps it from runs that have ended. The error says
// that the runs cannot be listed.
func FromAgent(state *store.State, getenv func(string) string) (reason string, err error) {
	if _, err := state.Run(getenv("SWARM_RUN")); err == nil && getenv("SWARM_AGENT") != "" {
		return InsideAgent, nil
	}
	inside, err := Supervised(state)
	if inside {
		return "an agent started this", nil
	}
	return "", err
}

// Supervised reports whether a supervisor of a run in state is an ancestor of this
// process. The error says that the runs cannot be listed.
func Supervised(state *store.State) (bool, error) {
	entries, err := state.Runs()
	return slices.ContainsFunc(entries, func(e store.Entry) bool { return proc.Supervised(e.Run.ID) }), err
}
