package event

import (
	"fmt"
	"time"

	"agentswarm/swarm/task"
)

// Quota is the window of a quota that is used up, as the error of an agent tells
// it. The zero value says nothing of when it ends: the text of the error may.
type Quota struct {
	// Window is the provider's name of the window, such as five_hour.
	Window string `json:"window,omitempty"`
	// ResetsAt is the end of the window in Unix seconds; 0 if it was not told.
	ResetsAt int64 `json:"resets_at,omitempty"`
	// Midnight is the time zone whose next midnight ends the window; empty: none.
	Midnight string `json:"midnight,omitempty"`
	// Account is set if all models of the account share the window, and Family
	// names the family of models that does. Without both it belongs to a single
	// model.
	Account bool   `json:"account,omitempty"`
	Family  string `json:"family,omitempty"`
	// Title names the window for people, such as "Claude session limit".
	Title string `json:"title,omitempty"`
}

// QuotaUsed tells how much of a quota window is used while it is still open. An
// agent reports it without a lane. The journal has it with a lane, once for
// each tenth.
type QuotaUsed struct {
	Lane     string `json:"lane,omitempty"`
	Window   string `json:"window"`
	Title    string `json:"title,omitempty"`
	Percent  int    `json:"percent"`
	ResetsAt int64  `json:"resets_at,omitempty"` // Unix seconds; 0 is not known
}

// QuotaClosed says that a quota window is used up: no agent starts in the lane
// until it opens, except for a probe.
type QuotaClosed struct {
	Lane   string     `json:"lane"` // kind and provider, and the model if the window belongs to it
	Window string     `json:"window,omitempty"`
	Title  string     `json:"title"`
	Reason string     `json:"reason"`          // the provider's words
	Until  *time.Time `json:"until,omitempty"` // nil: nobody knows
	Agent  task.ID    `json:"agent"`           // whose request was refused
	N      int        `json:"n"`               // of the windows of this lane, from 1
	// Tries counts the probes that were refused since the time that was told, which
	// is Told then.
	Tries int        `json:"tries,omitempty"`
	Told  *time.Time `json:"told,omitempty"`
	// GivenUp says why the run does not wait for the window; empty: it waits.
	GivenUp string `json:"given_up,omitempty"`
}

// QuotaOpened says that a probe was answered: agents start in the lane again.
type QuotaOpened struct {
	Lane string `json:"lane"`
}

// Parked are agents that wait until a quota window opens. They hold no workspace
// and no slot.
type Parked struct {
	Lane   string    `json:"lane"`
	Agents []task.ID `json:"agents"`
}

// WindowTitle names a quota window by its length, for people.
func WindowTitle(length time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case length == 7*day:
		return "weekly limit"
	case length == day:
		return "daily limit"
	case length%day == 0:
		return fmt.Sprintf("%d-day limit", length/day)
	case length%time.Hour == 0:
		return fmt.Sprintf("%d-hour limit", length/time.Hour)
	default:
		return fmt.Sprintf("%d-minute limit", length/time.Minute)
	}
}

func (*QuotaUsed) kind() string   { return "quota_used" }
func (*QuotaClosed) kind() string { return "quota_closed" }
func (*QuotaOpened) kind() string { return "quota_opened" }
func (*Parked) kind() string      { return "parked" }
