package follow

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

// OpenQuestions is the journal of a run that this process owns, with the open questions of the
// records that this process wrote. It does not read the file, since an agent may have forged it.
type OpenQuestions struct {
	engine.Journal
	run  string
	Wake chan struct{} // room for a single signal: a question was opened
	Over chan struct{} // closed when there is nothing more to ask
	// QuotaWake has room for a single signal: a quota window changed.
	QuotaWake chan struct{}

	mu     sync.Mutex // guards the fields below
	open   []waiting.Question
	labels map[task.ID]string
	// windows are the records about quota windows that were not reported yet.
	windows []event.Event
}

// NewOpenQuestions returns the open questions of a run. prior is the state that earlier owners left,
// or nil for a new run.
func NewOpenQuestions(j engine.Journal, run string, prior *store.View) *OpenQuestions {
	d := &OpenQuestions{
		Journal: j, run: run, labels: map[task.ID]string{},
		Wake: make(chan struct{}, 1), Over: make(chan struct{}), QuotaWake: make(chan struct{}, 1),
	}
	if prior != nil {
		for _, a := range prior.Agents {
			d.labels[a.ID] = engine.Title(a.ID, a.Call)
		}
	}
	return d
}

// Append writes an event to the journal. It returns the journal's error.
func (d *OpenQuestions) Append(e event.Event) (event.Record, error) {
	r, err := d.Journal.Append(e)
	if err == nil {
		d.note(e, r.Time)
	}
	return r, err
}

// AppendAll writes events together. It returns the journal's error.
func (d *OpenQuestions) AppendAll(all []event.Event) ([]event.Record, error) {
	records, err := d.Journal.AppendAll(all)
	if err == nil {
		for _, r := range records {
			d.note(r.Event, r.Time)
		}
	}
	return records, err
}

func (d *OpenQuestions) note(e event.Event, at time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.noteQuota(e)
	switch e := e.(type) {
	case *event.Called:
		d.labels[e.Agent] = engine.Title(e.Agent, e.Call)
	case *event.Questioned:
		d.open = append(d.open, waiting.Question{Run: d.run, Label: d.labels[e.Agent], Question: &store.Question{Questioned: *e, Time: at}})
		select {
		case d.Wake <- struct{}{}:
		default: // somebody is on the way already
		}
	case *event.Replied:
		d.drop(func(q waiting.Question) bool { return q.ID == e.ID })
	case *event.Settled:
		d.drop(func(q waiting.Question) bool { return q.Agent == e.Agent })
	}
}

// drop closes questions. The caller holds mu.
func (d *OpenQuestions) drop(which func(waiting.Question) bool) {
	// Lists that were handed out before stay as they are.
	d.open = slices.DeleteFunc(slices.Clone(d.open), which)
}

// Waiting returns the open questions, oldest first.
func (d *OpenQuestions) Waiting() []waiting.Question {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.open
}

// Close ends the questions.
func (d *OpenQuestions) Close() { close(d.Over) }

// noteQuota records a change of a quota window for the command of --notify. The
// caller holds mu.
func (d *OpenQuestions) noteQuota(e event.Event) {
	switch e := e.(type) {
	case *event.QuotaClosed:
		if e.Tries > 0 {
			return // it is the same window, late
		}
	case *event.QuotaOpened:
	default:
		return
	}
	d.windows = append(d.windows, e)
	select {
	case d.QuotaWake <- struct{}{}:
	default: // somebody is on the way already
	}
}

// TakeWindows returns the records about quota windows that were not reported yet.
func (d *OpenQuestions) TakeWindows() []event.Event {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := d.windows
	d.windows = nil
	return all
}
