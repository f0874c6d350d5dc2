package engine

import (
	"slices"

	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// Recall tells which earlier results a resume of a run would use. It starts and
// changes nothing.
type Recall struct {
	agents map[task.ID]*recalled
	prior  map[string][]task.ID // unused, by key
}

type recalled struct {
	agent *store.Agent
	state *agentState
}

// NewRecall reads the records of a run's earlier owners, as [Open] does. It
// uses only the run and the adapters of deps.
func NewRecall(deps Deps, config Config, prior *store.View) *Recall {
	r := &Recall{agents: map[task.ID]*recalled{}, prior: map[string][]task.ID{}}
	for _, a := range prior.Agents {
		r.agents[a.ID] = &recalled{a, recall(deps, config, a)}
		r.prior[a.Call.Key] = append(r.prior[a.Call.Key], a.ID)
	}
	return r
}

// Recalled is an earlier agent that a call is answered with.
type Recalled struct {
	*store.Agent
	// Stands is set where its result is the answer; else there would be
	// another attempt.
	Stands bool
	// OnlyCheck is set where all of that would be the check of its work.
	OnlyCheck bool
}

// Take returns the earlier agent that answers a call; nil: the call would be a
// new agent.
func (r *Recall) Take(call *task.Call) *Recalled {
	key := call.Sum()
	prior := r.prior[key]
	at := choose(call, prior, func(id task.ID) bool { return r.agents[id].state.stands() })
	if at < 0 {
		return nil
	}
	taken := r.agents[prior[at]]
	r.prior[key] = slices.Delete(slices.Clone(prior), at, at+1)
	return &Recalled{Agent: taken.agent, Stands: taken.state.stands(), OnlyCheck: taken.state.owed != nil}
}
