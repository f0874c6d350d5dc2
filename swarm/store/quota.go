package store

import (
	"fmt"
	"slices"
	"time"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// quota notes the facts of a record about quota windows and about the agents
// that wait for them.
func (v *View) quota(r event.Record) {
	switch e := r.Event.(type) {
	case *event.QuotaClosed:
		at := slices.IndexFunc(v.Quotas, func(w *event.QuotaClosed) bool { return w.Lane == e.Lane })
		if at < 0 {
			v.Quotas = append(v.Quotas, e)
		} else {
			v.Quotas[at] = e
		}
	case *event.QuotaOpened:
		v.Quotas = slices.DeleteFunc(v.Quotas, func(w *event.QuotaClosed) bool { return w.Lane == e.Lane })
	case *event.QuotaUsed:
		v.QuotaUse = slices.DeleteFunc(v.QuotaUse, func(u *event.QuotaUsed) bool {
			return u.Lane == e.Lane && u.Window == e.Window
		})
		v.QuotaUse = append(v.QuotaUse, e)
	case *event.Parked:
		for _, id := range e.Agents {
			if a := v.about(id); a.Result() == nil {
				a.Parked, a.Held = e.Lane, ""
				a.enter(task.WaitingQuota, r.Time)
			}
		}
	}
}

// RunWaiting is the status of a live run that waits for quota windows, for faces.
// No record has it: such a run has an owner and counts as running.
const RunWaiting Status = "waiting"

// QuotaWait is the wait of a run for quota windows.
type QuotaWait struct {
	// Window is the next to open of the windows that hold agents back. Until is
	// the time, and zero while an agent probes it or where the time is unknown.
	Window *event.QuotaClosed
	Until  time.Time
	Agents int // that are parked for any window
}

// QuotaWait is the wait of a run's parked agents; nil where none is parked.
func (v *View) QuotaWait() *QuotaWait {
	var w QuotaWait
	lanes := map[string]bool{}
	for _, a := range v.Agents {
		if a.Parked != "" && a.Result() == nil {
			w.Agents++
			lanes[a.Parked] = true
		}
	}
	for _, q := range v.Quotas {
		if !lanes[q.Lane] {
			continue
		}
		if w.Window == nil || q.Until != nil && (w.Until.IsZero() || q.Until.Before(w.Until)) {
			w.Window = q
			if q.Until != nil {
				w.Until = *q.Until
			}
		}
	}
	if w.Window == nil {
		return nil
	}
	return &w
}

// Waits reports whether the run does nothing but wait for quota windows.
func (v *View) Waits() bool {
	if v.Status != RunRunning || v.Pause != nil || v.QuotaWait() == nil {
		return false
	}
	for _, a := range v.Agents {
		s, running := a.Status.(*task.Running)
		if running && s.State != task.Queued && s.State != task.WaitingQuota || a.Again != nil {
			return false
		}
	}
	return true
}

// ShownStatus is the status of the run for faces: [RunWaiting] where it waits for
// quota windows.
func (v *View) ShownStatus() Status {
	if v.Waits() {
		return RunWaiting
	}
	return v.Status
}

// Text is the wait for a person, at a time.
func (w *QuotaWait) Text(now time.Time) string {
	agents := termtext.Count(w.Agents, "agent", "agents")
	if w.Until.IsZero() {
		return fmt.Sprintf("waiting (%s; %s)", w.Window.Title, agents)
	}
	if !w.Until.After(now) {
		return fmt.Sprintf("asking again (%s; %s)", w.Window.Title, agents)
	}
	return fmt.Sprintf("waiting until %s (%s; %s), %s", ClockText(w.Until, now), w.Window.Title, agents, LeftText(w.Until.Sub(now)))
}

// ClockText is a time for a person who reads it now: the clock, and the day unless
// that is within the next 20 hours.
func ClockText(at, now time.Time) string {
	at = at.Local()
	if at.Sub(now) < 20*time.Hour {
		return at.Format("15:04")
	}
	return at.Format("Mon 2006-01-02 15:04")
}

// LeftText returns the rest of a wait for a person: days and hours, hours and
// minutes, or minutes, rounded up to minutes; seconds below a minute.
func LeftText(left time.Duration) string {
	if left <= time.Minute {
		return fmt.Sprintf("%d s", int((left+time.Second-1)/time.Second))
	}
	minutes := int((left + time.Minute - 1) / time.Minute)
	switch days, hours := minutes/(24*60), minutes/60%24; {
	case days > 0:
		return fmt.Sprintf("%d d %d h", days, hours)
	case hours > 0:
		return fmt.Sprintf("%d h %d min", hours, minutes%60)
	default:
		return fmt.Sprintf("%d min", minutes)
	}
}

// QuotaWarnings are the open quota windows of which nine tenths are used, for a
// person.
func (v *View) QuotaWarnings(now time.Time) (texts []string) {
	for _, u := range v.QuotaUse {
		resets := time.Unix(u.ResetsAt, 0)
		if u.Percent < 90 || u.ResetsAt > 0 && !resets.After(now) {
			continue
		}
		text := fmt.Sprintf("account: %d %% of the %s is used", u.Percent, u.Title)
		if u.ResetsAt > 0 {
			text += "; it resets at " + ClockText(resets, now)
		}
		texts = append(texts, text)
	}
	return texts
}
