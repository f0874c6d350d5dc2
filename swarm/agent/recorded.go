package agent

import (
	"cmp"
	"io/fs"

	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// Recorder is an adapter whose agents report their usage only at their end. While
// they work, they write it to the files of their conversation.
type Recorder interface {
	// Recorded returns the usage of a whole conversation and the model that was used
	// last. The files are those of a state folder: foreign text.
	Recorded(state fs.FS, session string) (used task.Usage, model string, err error)
}

// Recorded returns the usage of an agent that ended without reporting it. It
// reads the files of the conversation and subtracts the conversation's earlier
// usage. It adds the usage to the outcome. It returns nil if the agent has
// reported its usage, or none is there.
func Recorded(a Adapter, spec *Spec, state fs.FS, o *Outcome) (*event.Spent, error) {
	p, isPriced := a.(priced)
	if isPriced {
		a = p.Adapter
	}
	if loud, isLoud := a.(aloud); isLoud {
		a = loud.Adapter
	}
	r, ok := a.(Recorder)
	if !ok || o.Session == "" || o.Usage.Tokens() > 0 {
		return nil, nil
	}
	all, model, err := r.Recorded(state, o.Session)
	before := &spec.Prior
	spent := &event.Spent{Usage: task.Usage{
		Input: max(0, all.Input-before.Input), Output: max(0, all.Output-before.Output),
		CacheRead: max(0, all.CacheRead-before.CacheRead), CacheWrite: max(0, all.CacheWrite-before.CacheWrite),
	}}
	if spent.Tokens() == 0 {
		return nil, err
	}
	if p.price != nil {
		(&pricedParser{price: p.price, model: cmp.Or(o.Model, model, spec.Model)}).fillOne(spent)
	}
	o.Usage.Add(spent.Usage)
	o.Model, o.Worked = cmp.Or(o.Model, model), true
	return spent, err
}
