// Package quota keeps the quota windows of a run that are used up: the agents
// that each of them holds back, its end, and the agent that probes it then.
//
// It is pure: the caller tells it the time and the events. It starts no agent
// and sets no timer, and a single goroutine uses it. Package resettime reads
// the times that providers tell as text.
package quota

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// Lane names the agents that share a window: those of a kind and account, of
// all models or of a single model. Model is empty for all.
type Lane struct{ Kind, Provider, Model string }

// LaneOf is the lane of a window that an agent was refused by. The agent's kind and
// its lane of the governor, "provider/model", are given.
func LaneOf(kind, governed string, q *event.Quota) Lane {
	provider, model := parts(governed)
	switch {
	case q.Account:
		model = ""
	case q.Family != "":
		model = q.Family
	}
	return Lane{kind, provider, model}
}

// unnamed is the model of agents that are told none.
const unnamed = "default"

// parts are the provider and the model of a lane of the governor.
func parts(governed string) (provider, model string) {
	provider, model, _ = strings.Cut(governed, "/")
	return provider, cmp.Or(model, unnamed)
}

// ParseLane reads the text of [Lane.String].
func ParseLane(text string) Lane {
	kind, rest, _ := strings.Cut(text, " ")
	provider, model, _ := strings.Cut(rest, "/")
	return Lane{kind, provider, model}
}

func (l Lane) String() string {
	return strings.TrimSuffix(l.Kind+" "+l.Provider+"/"+l.Model, "/")
}

// Covers reports whether agents of a kind in a lane of the governor share the
// window.
func (l Lane) Covers(kind, governed string) bool {
	provider, model := parts(governed)
	return kind == l.Kind && provider == l.Provider && (l.Model == "" || l.Model == model)
}

// Bounds limit how long a run waits for windows.
type Bounds struct {
	// Wait is the longest wait for a window; 0 is none at all.
	Wait time.Duration
	// Windows is the number of windows of a lane that a run waits for; 0 is any
	// number.
	Windows int
}

// The waits between probes of a window that did not open when it was to: a
// provider may be late, and a time zone of its text may be wrong by an hour.
const (
	firstRetry = 5 * time.Minute
	lastRetry  = 15 * time.Minute
)

// hasty is the time before a stated end at which a refusal counts as a refusal
// at the end: clocks differ.
const hasty = 30 * time.Second

// Refusal is a request that was refused since a window is used up.
type Refusal struct {
	Lane  Lane    // required
	Agent task.ID // required
	// Until is the end of the window; zero: it was not told.
	Until time.Time
	// Text is set if Until was read from text. A clock time in it means its next
	// occurrence, so a refusal at that time seems to tell of the next day.
	Text bool
	// Window is the provider's name of the window, and Title its name for people.
	Window, Title string
	Reason        string // the provider's words
}

// Window is a window that is used up.
type Window struct {
	Lane          Lane
	Window, Title string
	Reason        string
	Until         time.Time // zero: unknown
	Since         time.Time // when it was first met
	N             int       // of the windows of its lane, from 1
	Tries         int       // probes that were refused since it was to open
	GivenUp       string    // why the run does not wait for it; empty: it does
	Agent         task.ID   // whose request was refused last
	Probe         task.ID   // the agent that probes it now; empty: none

	told time.Time // the end that a provider told last
	text bool      // that was read from text
}

// Closed is the record of the window.
func (w *Window) Closed() *event.QuotaClosed {
	c := &event.QuotaClosed{
		Lane: w.Lane.String(), Window: w.Window, Title: w.Title, Reason: w.Reason, Agent: w.Agent,
		N: w.N, Tries: w.Tries, GivenUp: w.GivenUp,
	}
	if !w.Until.IsZero() {
		until := w.Until
		c.Until = &until
	}
	if w.Tries > 0 {
		told := w.told
		c.Told = &told
	}
	return c
}

// Book holds the windows of a run that are used up.
type Book struct {
	bounds  Bounds
	windows []*Window
	counts  map[Lane]int
	used    map[string]event.QuotaUsed // by lane and window
}

// NewBook makes a book without windows.
func NewBook(b Bounds) *Book {
	return &Book{bounds: b, counts: map[Lane]int{}, used: map[string]event.QuotaUsed{}}
}

// Restore adds a window that an earlier owner of the run met. The bounds of
// this owner decide about the wait. A window with an unknown end is left out:
// the user who resumes the run expects that it is open.
func (b *Book) Restore(now time.Time, c *event.QuotaClosed) {
	if c.Until == nil {
		return
	}
	w := &Window{
		Lane: ParseLane(c.Lane), Window: c.Window, Title: c.Title, Reason: c.Reason, Until: *c.Until, Since: now,
		N: 1, Tries: c.Tries, Agent: c.Agent, told: *c.Until,
	}
	if c.Told != nil {
		w.told = *c.Told
	}
	b.counts[w.Lane] = 1
	b.judge(w)
	b.windows = append(b.windows, w)
}

// Windows are those that are used up, in the order in which they were met.
func (b *Book) Windows() []*Window { return b.windows }

// Window is the window of a lane; nil: it is open.
func (b *Book) Window(l Lane) *Window {
	at := slices.IndexFunc(b.windows, func(w *Window) bool { return w.Lane == l })
	if at < 0 {
		return nil
	}
	return b.windows[at]
}

// Holding is the window that holds an agent back, other than a window that it
// probes; nil: it may start. Of several it is a given-up window, else the last
// to open.
func (b *Book) Holding(agent task.ID, kind, governed string) *Window {
	var found *Window
	for _, w := range b.windows {
		if !w.Lane.Covers(kind, governed) || w.Probe == agent && agent != "" {
			continue
		}
		if found == nil || found.GivenUp == "" && (w.GivenUp != "" || w.Until.After(found.Until)) {
			found = w
		}
	}
	return found
}

// Due reports whether a window is to be probed now. A window that the run does
// not wait for may open while the run still has other work.
func (b *Book) Due(w *Window, now time.Time) bool {
	return w.Probe == "" && !w.Until.IsZero() && !now.Before(w.Until)
}

// Begin notes that an agent probes a window.
func (w *Window) Begin(agent task.ID) { w.Probe, w.GivenUp = agent, "" }

// Refuse notes a refused request, and returns its window. news is false if that
// changed nothing.
func (b *Book) Refuse(now time.Time, r Refusal) (w *Window, news bool) {
	if w = b.Window(r.Lane); w == nil {
		b.counts[r.Lane]++
		w = &Window{Lane: r.Lane, Since: now, N: b.counts[r.Lane]}
		b.windows = append(b.windows, w)
		w.learn(r)
		if !r.Until.IsZero() && !r.Until.After(now) {
			w.Until = now.Add(firstRetry) // it is over, and was refused all the same
		}
		b.judge(w)
		return w, true
	}
	probed := w.Probe == r.Agent
	switch {
	case probed || !now.Before(w.Until.Add(-hasty)) && !w.Until.IsZero():
		w.Probe = ""
		if r.Until.IsZero() || r.Until.Before(now.Add(hasty)) || r.Text && again(w.told, r.Until) {
			r.Until = time.Time{}
			w.retry(now)
		} else {
			b.counts[r.Lane]++
			w.N, w.Tries, w.Since = b.counts[r.Lane], 0, now
		}
	case w.GivenUp != "" || r.Until.IsZero():
		return w, false
	case w.text && !r.Text: // a structured time is better than a time in a text
	case r.Text && !w.text || !r.Until.After(w.Until.Add(time.Minute)):
		return w, false
	}
	w.learn(r)
	b.judge(w)
	return w, true
}

// learn takes over the facts of a refusal.
func (w *Window) learn(r Refusal) {
	w.Agent, w.Window, w.Title, w.Reason = r.Agent, r.Window, r.Title, r.Reason
	if !r.Until.IsZero() {
		w.Until, w.told, w.text = r.Until, r.Until, r.Text
	}
}

// retry puts the next probe off.
func (w *Window) retry(now time.Time) {
	w.Until = now.Add(min(firstRetry*time.Duration(w.Tries+1), lastRetry))
	w.Tries++
}

// again reports whether a clock time that was read anew is the same clock time
// of a later day, week or year.
func again(before, after time.Time) bool {
	const day = 24 * time.Hour
	ahead := after.Sub(before)
	for _, step := range []time.Duration{day, 7 * day, 365 * day, 366 * day} {
		// An hour more or less: the clocks may change between both.
		if off := (ahead - step).Abs(); off <= time.Minute || step == day && (off-time.Hour).Abs() <= time.Minute {
			return true
		}
	}
	return false
}

// judge says whether the run waits for a window.
func (b *Book) judge(w *Window) {
	w.GivenUp = ""
	switch wait := w.Until.Sub(w.Since); {
	case w.Until.IsZero():
		w.GivenUp = "the provider named no time"
	case wait <= 0: // it is over
	case b.bounds.Wait <= 0:
		w.GivenUp = "limits.wait_limits is \"never\""
	case wait > b.bounds.Wait:
		w.GivenUp = fmt.Sprintf("that is a wait of %s, and limits.wait_limits allows %s", wait.Round(time.Minute), b.bounds.Wait)
	case b.bounds.Windows > 0 && w.N > b.bounds.Windows:
		w.GivenUp = fmt.Sprintf("it is window %d of its lane, and limits.max_windows allows %d", w.N, b.bounds.Windows)
	}
}

// Answered notes that a request was answered in a lane, and returns the window
// that its agent has probed with success; nil: it probed none.
func (b *Book) Answered(agent task.ID) *Window {
	at := slices.IndexFunc(b.windows, func(w *Window) bool { return w.Probe == agent })
	if at < 0 {
		return nil
	}
	w := b.windows[at]
	b.windows = slices.Delete(b.windows, at, at+1)
	return w
}

// Abandon notes that a probe ended without an answer and without a refusal by its
// quota, and returns its window; nil: the agent probed none.
func (b *Book) Abandon(now time.Time, agent task.ID) *Window {
	for _, w := range b.windows {
		if w.Probe == agent {
			w.Probe = ""
			w.retry(now)
			b.judge(w)
			return w
		}
	}
	return nil
}

// Used notes how much of an open window is used. news is set for each tenth from
// the half on, and for a window that has begun anew.
func (b *Book) Used(u event.QuotaUsed) (news bool) {
	key := u.Lane + "\n" + u.Window
	last, known := b.used[key]
	fresh := !known || u.ResetsAt-last.ResetsAt > 60
	if u.Percent < 50 || !fresh && u.Percent/10 <= last.Percent/10 {
		return false
	}
	b.used[key] = u
	return true
}
