package store

import (
	"slices"
	"time"

	"agentswarm/swarm/event"
)

// ScriptEntry is a record that entered the script.
type ScriptEntry struct {
	N int64
	*event.Entered
}

// LogLine is a line that a script had for people.
type LogLine struct {
	Time time.Time
	event.Logged
}

// script takes a record that only a run with a script has.
func (v *View) script(r event.Record) {
	switch e := r.Event.(type) {
	case *event.Scripted:
		v.Script, v.Returned = e, nil
	case *event.Entered:
		v.Entered = append(v.Entered, ScriptEntry{r.N, e})
	case *event.Logged:
		v.Logs = append(v.Logs, LogLine{r.Time, *e})
	case *event.Phased:
		if !slices.Contains(v.Phases, e.Title) {
			v.Phases = append(v.Phases, e.Title)
		}
	case *event.Returned:
		v.Returned = e
	}
}
