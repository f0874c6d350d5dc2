package view

import (
	"fmt"
	"time"

	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/event"
	"agentswarm/swarm/store"
)

// quotaObject is a quota window that is used up.
type quotaObject struct {
	Lane    string     `json:"lane"`
	Window  string     `json:"window,omitempty"` // as the provider names it
	Title   string     `json:"title"`
	Reason  string     `json:"reason"`
	Until   *time.Time `json:"until,omitempty"`
	Left    int64      `json:"left_ms,omitempty"`
	Agents  int        `json:"agents"` // that wait for it
	Number  int        `json:"number"` // of the windows of this lane
	Tries   int        `json:"tries,omitempty"`
	GivenUp string     `json:"given_up,omitempty"`
}

// quotaUseObject is how much of an open quota window is used.
type quotaUseObject struct {
	Lane     string     `json:"lane"`
	Window   string     `json:"window"`
	Title    string     `json:"title,omitempty"`
	Percent  int        `json:"percent"`
	ResetsAt *time.Time `json:"resets_at,omitempty"`
}

func newQuotaObject(v *store.View, q *event.QuotaClosed, now time.Time) quotaObject {
	o := quotaObject{
		Lane: q.Lane, Window: q.Window, Title: q.Title, Reason: q.Reason, Until: q.Until,
		Number: q.N, Tries: q.Tries, GivenUp: q.GivenUp,
	}
	if q.Until != nil {
		o.Left = max(0, q.Until.Sub(now).Milliseconds())
	}
	for _, a := range v.Agents {
		if a.Parked == q.Lane && a.Result() == nil {
			o.Agents++
		}
	}
	return o
}

// quotas adds the quota windows of the run.
func (o *RunObject) quotas(v *store.View, now time.Time) {
	for _, q := range v.Quotas {
		o.Quotas = append(o.Quotas, newQuotaObject(v, q, now))
	}
	for _, u := range v.QuotaUse {
		use := quotaUseObject{Lane: u.Lane, Window: u.Window, Title: u.Title, Percent: u.Percent}
		if u.ResetsAt > 0 {
			at := time.Unix(u.ResetsAt, 0).UTC()
			use.ResetsAt = &at
		}
		o.QuotaUse = append(o.QuotaUse, use)
	}
	if w := v.QuotaWait(); w != nil && !w.Until.IsZero() && v.Status != store.RunRunning && o.After == nil {
		o.After = &w.Until
	}
}

// QuotaLines returns which quota windows agents wait for, and which are nearly used up.
func QuotaLines(v *store.View, now time.Time) (lines []string) {
	if w := v.QuotaWait(); w != nil && !v.Waits() {
		text := w.Text(now)
		if v.Status != store.RunRunning && w.Until.After(now) {
			text += fmt.Sprintf("; `%s resume` goes on waiting", cmdline.Program)
		}
		lines = append(lines, text)
	}
	return append(lines, v.QuotaWarnings(now)...)
}

// QuotaNote returns a note and a hint about the quota window that a run waits for.
func QuotaNote(v *store.View, now time.Time) (note, hint string) {
	w := v.QuotaWait()
	if w == nil {
		if warnings := v.QuotaWarnings(now); len(warnings) > 0 {
			note = warnings[0]
		}
		return note, ""
	}
	return w.Text(now), fmt.Sprintf("%s cancel %s stops the run; %[1]s resume goes on waiting", cmdline.Program, v.Identity.Run)
}

// QuotaText returns a line about a record of a quota window.
func QuotaText(e event.Event, now time.Time) string {
	switch e := e.(type) {
	case *event.QuotaClosed:
		switch {
		case e.GivenUp != "" && e.Until != nil:
			return fmt.Sprintf("%s is used up until %s; the run does not wait: %s", e.Title, store.ClockText(*e.Until, now), e.GivenUp)
		case e.GivenUp != "":
			return fmt.Sprintf("%s is used up: %s", e.Title, e.Reason)
		default:
			return fmt.Sprintf("%s is used up: its agents wait until %s, %s", e.Title, store.ClockText(*e.Until, now), store.LeftText(e.Until.Sub(now)))
		}
	case *event.QuotaOpened:
		return fmt.Sprintf("the account has quota again (%s)", e.Lane)
	case *event.QuotaUsed:
		warnings := (&store.View{QuotaUse: []*event.QuotaUsed{e}}).QuotaWarnings(now)
		if len(warnings) > 0 {
			return warnings[0]
		}
	}
	return ""
}
