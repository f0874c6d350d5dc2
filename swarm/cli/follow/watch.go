package follow

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"agentswarm/internal/terminal"
	"agentswarm/internal/termtext"
	"agentswarm/swarm/activity"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/cli/view"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/event"
	"agentswarm/swarm/inbox"
	"agentswarm/swarm/inbox/waiting"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// show follows a run on stderr until ctx ends or the run is over. It reads
// the run's folder as any other process would.
func show(ctx context.Context, p *cmdline.Place, run *store.Run) {
	ShowAt(ctx, p, run, nil, time.Now())
}

// ShowAt shows the progress of a run until ctx ends or the run is over. at takes answers to its
// questions, or is nil. It also prints the events since a time.
func ShowAt(ctx context.Context, p *cmdline.Place, run *store.Run, at *PromptConsole, since time.Time) {
	id, err := run.Identity()
	if err != nil {
		return
	}
	w := &Watcher{
		View: store.Fold(id, nil), Began: since, at: at, told: map[string]bool{},
		progress: newProgress(p.Env.Stderr, terminal.Detect(p.Env.Stderr, p.Env.Getenv)),
	}
	if p.Env.Quiet {
		w.progress.quiet, w.progress.term.Motion = true, false
	}
	if at != nil {
		at.Notices.Above(w.progress)
	}
	if w.progress.Draws() {
		w.activity, w.reviews = activityOf(p, run, id), session.ReviewOf(w.View) == landing.ReviewAuto
	}
	defer func() {
		w.close()
		dropKeys(p, w.progress)
	}()
	ticking, stop := context.WithCancel(ctx)
	var ticks sync.WaitGroup
	ticks.Go(func() { w.tick(ticking) })
	if keys := newKeyboard(p, at, w.progress); keys != nil {
		w.typing = true
		ticks.Go(func() { keys.listen(ticking) })
	}
	defer ticks.Wait()
	defer stop()
	for r, err := range run.Follow(ctx, 0) {
		if err != nil {
			// A broken journal must not end the questions.
			at.linger(ctx)
			return
		}
		w.see(r)
		if w.over(r) {
			return
		}
	}
}

// Watcher turns the records of a journal into progress.
type Watcher struct {
	Began    time.Time
	progress *Progress
	at       *PromptConsole // nil where another process owns the run
	typing   bool           // questions are answered here
	reviews  bool           // finished work gets a reviewer

	mu   sync.Mutex // guards the fields below
	View *store.View
	told map[string]bool // questions that the terminal was told of
	// activity reads the work of agents; nil where nothing is drawn. doing is its
	// last result, of the time looked.
	activity *activity.Reader
	Doing    map[task.ID]activity.Now
	looked   time.Time
	rang     time.Time
	// unseen is when the latest record was written that no frame shows; zero
	// where all do. A frame takes a look at every agent, and a thousand of them
	// bring ten records each.
	unseen time.Time
}

// over reports whether a record is the last of this owner.
func (w *Watcher) over(r event.Record) bool {
	_, closed := r.Event.(*event.Closed)
	if !closed || !r.Time.After(w.Began) || !w.at.closed() {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if took := time.Since(w.Began); took >= longRun {
		w.progress.Notify(fmt.Sprintf("run %s %s", w.View.Identity.Run, w.View.Status), false)
	}
	return true
}

// open lists the questions that wait. The caller holds mu.
func (w *Watcher) open() []waiting.Question {
	if w.at != nil {
		return w.at.Questions.Waiting()
	}
	return waiting.Of(w.View)
}

// see takes a record. It does not report changes of an earlier owner's time
// again.
func (w *Watcher) see(r event.Record) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.View.Apply(r)
	if r.Time.Before(w.Began) {
		return
	}
	switch e := r.Event.(type) {
	case *event.Started:
		if e.Step != "setup" {
			w.line(e.Agent, e.Step, 0, "")
		}
	case *event.Retried:
		if e.Reason == engine.Resumed {
			break // it is queued, like all others
		}
		note := e.Reason
		if e.Wait > 0 {
			note += "; again in " + termtext.Duration(time.Duration(e.Wait)*time.Millisecond)
		}
		w.line(e.Agent, "retried", 0, note)
	case *event.Held:
		w.line(e.Agent, "held", 0, e.Reason)
	case *event.Switched:
		w.line(e.Agent, "switched", 0, e.Reason)
	case *event.Continued:
		w.line(e.Agent, "continued", 0, fmt.Sprintf("attempt %d continues the conversation of attempt %d", e.Attempt, e.Of))
	case *event.Settled:
		work := e.Result.Done()
		took := work.Ended.Sub(work.Started)
		w.line(e.Agent, task.Word(e.Result), max(took, 0), view.CauseOf(e.Result))
	case *event.Appraised:
		w.line(e.Agent, view.AppraisalWord(e), 0, view.AppraisalText(e))
	case *event.Phased:
		if !w.progress.quiet {
			w.progress.Say("== " + e.Title)
		}
	case *event.Logged:
		for line := range strings.Lines(e.Text) {
			if w.progress.quiet {
				break
			}
			w.progress.Say("-- " + strings.TrimRight(line, "\n"))
		}
	case *event.Questioned:
		switch in, inquiry := inbox.InquiryOf(e); {
		case inquiry && e.Agent == "":
			w.progress.Say(fmt.Sprintf("the script asks %s: %s", e.ID, inquiryText(in)))
		case inquiry:
			w.line(e.Agent, "asks "+e.ID, 0, inquiryText(in))
		default:
			w.line(e.Agent, "asks "+e.ID, 0, questionText(&store.Question{Questioned: *e}))
		}
	case *event.Replied:
		w.replied(e)
	case *event.QuotaClosed, *event.QuotaOpened, *event.QuotaUsed:
		if text := view.QuotaText(e, r.Time); text != "" {
			w.progress.Say(text)
		}
	case *event.Paused:
		w.progress.Say("pausing: " + e.Reason)
	}
	w.unseen = r.Time
	w.draw(r.Time)
}

// draw shows the present state, unless a frame was shown only just now, or
// cannot be. The caller holds mu.
func (w *Watcher) draw(now time.Time) {
	if w.progress.Due(now.Sub(w.Began)) {
		w.progress.Show(w.frame(now))
		w.unseen = time.Time{}
	}
}

// close leaves a picture of the last record on the screen.
func (w *Watcher) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.unseen.IsZero() && w.progress.Draws() {
		w.progress.Show(w.frame(w.unseen))
	}
	w.progress.Close()
}

// replied reports the answer to a question. The caller holds mu.
func (w *Watcher) replied(e *event.Replied) {
	for _, q := range w.View.Questions {
		if q.ID != e.ID || q.Reply != e || e.By == task.ByEnd {
			continue
		}
		if q.Agent == "" {
			w.progress.Say(fmt.Sprintf("answered %s: %s", e.ID, e.Text))
			continue
		}
		word := "denied "
		if e.Allow {
			word = "allowed "
		}
		w.line(q.Agent, word+e.ID, 0, e.Reason)
	}
}

func (w *Watcher) line(id task.ID, state string, took time.Duration, note string) {
	a := w.View.Agent(id)
	if a == nil {
		return
	}
	word := map[string]string{"agent": "running", "verify": "checking"}
	w.progress.Line(Change{
		ID: string(id), Label: engine.Title(id, a.Call), For: took, Note: note,
		State: cmp.Or(word[state], state),
	})
}

// tick redraws the clock.
func (w *Watcher) tick(ctx context.Context) {
	t := time.NewTicker(200 * time.Millisecond)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-t.C:
			w.mu.Lock()
			w.ring(now)
			w.draw(now)
			w.mu.Unlock()
		}
	}
}

// ring has the terminal tell of questions that were opened, at most once a
// second. The caller holds mu.
func (w *Watcher) ring(now time.Time) {
	if now.Sub(w.rang) < ringGap {
		return
	}
	var fresh []waiting.Question
	for _, q := range w.open() {
		if !w.told[q.ID] {
			fresh = append(fresh, q)
		}
	}
	if len(fresh) == 0 {
		return
	}
	w.rang = now
	for _, q := range fresh {
		w.told[q.ID] = true
	}
	text := fmt.Sprintf("run %s: %s wants %s", w.View.Identity.Run, fresh[0].Who(), questionText(fresh[0].Question))
	if len(fresh) > 1 {
		text = fmt.Sprintf("run %s: %s", w.View.Identity.Run, termtext.Count(len(fresh), "question waits", "questions wait"))
	}
	w.progress.Notify(text, true)
}

// ringGap is how often a person is told of questions at most, longRun how
// long a run takes whose end they are told of.
const (
	ringGap = time.Second
	longRun = 10 * time.Second
)

// firstLine is the first line of an error's text.
func firstLine(err error) string {
	if err == nil {
		return ""
	}
	text := err.Error()
	for i, r := range text {
		if r == '\n' {
			return text[:i]
		}
	}
	return text
}
