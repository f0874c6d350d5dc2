package store

import (
	"slices"
	"time"

	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// Landing is a merge or an apply, from its intention on.
type Landing struct {
	event.Intended
	Time time.Time
	// Outcome is nil while it is not known: of a live run it is on its way,
	// else it must be looked up.
	Outcome *event.Landed
	Undone  bool
}

// Stands tells whether the landing happened and was not undone.
func (l *Landing) Stands() bool { return l.Outcome != nil && l.Outcome.OK && !l.Undone }

// partly reports whether the landing took only a part of an agent's patch.
func (l *Landing) partly(id task.ID) bool {
	return slices.ContainsFunc(l.Parts, func(name string) bool {
		of, _, ok := CopyOf(name)
		return ok && of == id
	})
}

// Landing is the landing of this id; nil where there is none.
func (v *View) Landing(id int) *Landing {
	for _, l := range v.Landings {
		if l.ID == id {
			return l
		}
	}
	return nil
}

// LastLanding is the last merge or apply that stands; nil if none does.
func (v *View) LastLanding() *Landing {
	for _, l := range slices.Backward(v.Landings) {
		if l.Of == 0 && l.Stands() {
			return l
		}
	}
	return nil
}

// mark changes a landing and brings its agents up to date with it.
func (v *View) mark(id int, change func(*Landing)) {
	l := v.Landing(id)
	if l == nil {
		return
	}
	change(l)
	v.scripted.of(v.Landings)
	for _, id := range l.Agents {
		if l.partly(id) {
			continue
		}
		a := v.about(id)
		at := slices.Index(a.Landings, l.ID)
		switch {
		case l.Stands() && at < 0:
			a.Landings = append(a.Landings, l.ID)
		case !l.Stands() && at >= 0:
			a.Landings = slices.Delete(a.Landings, at, at+1)
		}
	}
}
