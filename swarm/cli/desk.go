package cli

import (
	"slices"
	"sync"
	"time"

	"agentswarm/swarm/engine"
	"agentswarm/swarm/event"
	"agentswarm/swarm/inbox/waiting"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// desk is the journal of a run that this process owns, and the open questions
// by what was written to it. The file is not asked: an agent may have written
// to it, and nobody should approve what another one made up.
type desk struct {
	engine.Journal
	run  string
	wake chan struct{} // one place: a question was opened
	over chan struct{} // closed when there is nothing more to ask

	mu     sync.Mutex // guards what follows
	open   []waiting.Question
	labels map[task.ID]string
}

// newDesk is a desk before anything of this owner is journaled. prior is
// what earlier owners left; nil for a new run.
func newDesk(j engine.Journal, run string, prior *store.View) *desk {
	d := &desk{
		Journal: j, run: run, labels: map[task.ID]string{},
		wake: make(chan struct{}, 1), over: make(chan struct{}),
	}
	if prior != nil {
		for _, a := range prior.Agents {
			d.labels[a.ID] = engine.Title(a.ID, a.Call)
		}
	}
	return d
}

// Append keeps a fact.
func (d *desk) Append(e event.Event) (event.Record, error) {
	r, err := d.Journal.Append(e)
	if err == nil {
		d.note(e, r.Time)
	}
	return r, err
}

// AppendAll keeps facts together.
func (d *desk) AppendAll(all []event.Event) ([]event.Record, error) {
	records, err := d.Journal.AppendAll(all)
	if err == nil {
		for _, r := range records {
			d.note(r.Event, r.Time)
		}
	}
	return records, err
}

func (d *desk) note(e event.Event, at time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch e := e.(type) {
	case *event.Called:
		d.labels[e.Agent] = engine.Title(e.Agent, e.Call)
	case *event.Questioned:
		d.open = append(d.open, waiting.Question{Run: d.run, Label: d.labels[e.Agent], Question: &store.Question{Questioned: *e, Time: at}})
		select {
		case d.wake <- struct{}{}:
		default: // somebody is on the way already
		}
	case *event.Replied:
		d.drop(func(q waiting.Question) bool { return q.ID == e.ID })
	case *event.Settled:
		d.drop(func(q waiting.Question) bool { return q.Agent == e.Agent })
	}
}

// drop closes questions. The caller holds mu.
func (d *desk) drop(which func(waiting.Question) bool) {
	// Lists that were handed out before stay as they are.
	d.open = slices.DeleteFunc(slices.Clone(d.open), which)
}

// waiting lists the open questions, oldest first.
func (d *desk) waiting() []waiting.Question {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.open
}

// close says that there is nothing more to ask.
func (d *desk) close() { close(d.over) }
