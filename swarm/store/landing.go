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
	// Ended is set once the merge is over. Only a merge that moves the branch
	// several times continues after a landing.
	Ended bool

	ended []endedConflict // by this landing
}

// Stands tells whether the landing happened and was not undone.
func (l *Landing) Stands() bool { return l.Outcome != nil && l.Outcome.OK && !l.Undone }

// partly reports whether the landing took only a part of an agent's patch, or the patch
// of an earlier attempt.
func (l *Landing) partly(id task.ID) bool {
	earlier := slices.ContainsFunc(l.Earlier, func(name string) bool {
		of, _, ok := AttemptOf(name)
		return ok && of == id
	})
	return earlier || slices.ContainsFunc(l.Parts, func(name string) bool {
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

// LastLanding returns the last merge or apply that stands; nil if none does. It
// joins the landings of a merge that moved the branch several times. The result
// has the id and the commit of the last landing, and the agents of all.
func (v *View) LastLanding() *Landing {
	for _, l := range slices.Backward(v.Landings) {
		if l.Of == 0 && l.Stands() {
			return v.Joined(l)
		}
	}
	return nil
}

// Series returns the landings of a merge up to l, the oldest first: l, and
// those that it continues. It is empty for nil.
func (v *View) Series(l *Landing) []*Landing {
	var all []*Landing
	for ; l != nil; l = v.Landing(l.Continues) {
		all = append(all, l)
		if l.Continues >= l.ID {
			break // a journal that is damaged
		}
	}
	slices.Reverse(all)
	return all
}

// Joined returns a landing joined with those that it continues. The result has
// the id and the commit of l, and the agents of all.
func (v *View) Joined(l *Landing) *Landing {
	series := v.Series(l)
	if len(series) == 1 {
		return series[0]
	}
	out := *series[len(series)-1]
	out.Old = series[0].Old
	out.Agents, out.Copies, out.Parts, out.Earlier = nil, nil, nil, nil
	for _, l := range series {
		out.Agents = append(out.Agents, l.Agents...)
		out.Copies = append(out.Copies, l.Copies...)
		out.Parts = append(out.Parts, l.Parts...)
		out.Earlier = append(out.Earlier, l.Earlier...)
	}
	return &out
}

// OpenSeries returns the landings of a merge that was interrupted after it had moved
// the branch ref to tip, the oldest first. Its check is command. It is empty if there
// is none: a new merge starts from the branch as it is.
func (v *View) OpenSeries(ref, tip, command string) []*Landing {
	for _, l := range slices.Backward(v.Landings) {
		switch {
		case l.Of != 0 || !l.Stands():
			continue // the branch may be where the landing before left it
		case l.More && !l.Ended && l.Ref == ref && l.New == tip && l.Command == command:
			return v.Series(l)
		}
		return nil
	}
	return nil
}

// endSeries ends the merges that move the branch several times.
func (v *View) endSeries() {
	for _, l := range v.Landings {
		l.Ended = true
	}
}

// mark changes a landing and brings its agents up to date with it.
func (v *View) mark(id int, change func(*Landing)) {
	l := v.Landing(id)
	if l == nil {
		return
	}
	change(l)
	v.scripted.of(v.Landings)
	v.improved(l)
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

// improved notes on each agent with a landed earlier attempt that its patch
// improves that attempt.
func (v *View) improved(l *Landing) {
	for _, name := range l.Earlier {
		id, n, ok := AttemptOf(name)
		if !ok {
			continue
		}
		a := v.about(id)
		then := a.At(n)
		switch {
		case then == nil:
		case l.Stands():
			a.Improved = then.Captured.Patch
		case a.Improved == then.Captured.Patch:
			a.Improved = nil
		}
	}
}
