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
		return startedByAgent, nil
	}
	return "", err
}

const startedByAgent = "an agent started this"

// FromAnyAgent is [FromAgent] for the runs of all repositories below the root of the
// state.
func FromAnyAgent(root string, getenv func(string) string) (reason string, err error) {
	if getenv("SWARM_AGENT") != "" {
		return InsideAgent, nil
	}
	all, err := store.Repositories(root)
	for _, r := range all {
		if supervised(r.Runs) {
			return startedByAgent, nil
		}
	}
	return "", err
}

// Supervised reports whether a supervisor of a run in state is an ancestor of this
// process. The error says that the runs cannot be listed.
func Supervised(state *store.State) (bool, error) {
	entries, err := state.Runs()
	return supervised(entries), err
}

func supervised(runs []store.Entry) bool {
	return slices.ContainsFunc(runs, func(e store.Entry) bool { return proc.Supervised(e.Run.ID) })
}
