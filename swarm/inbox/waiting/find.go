package waiting

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"agentswarm/swarm/engine"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// Watcher reads the open questions of a repository, again and again. It reads only the
// journals that have changed.
type Watcher struct {
	State *store.State // required
	// Damaged is told once of a run whose journal cannot be read. Required.
	Damaged func(run string, err error)

	seen map[string]*snapshot // by run
	told map[string]bool      // runs that Damaged was told of
}

// snapshot holds the open questions of a run, and the size and time of its journal.
type snapshot struct {
	open []Question
	size int64
	time time.Time
}

// Look returns the open questions of all live runs, oldest first. A run that cannot be
// read hides no other. The error says that the runs cannot be listed.
func (w *Watcher) Look() ([]Question, error) {
	entries, err := w.State.Runs()
	if err != nil {
		return nil, err
	}
	seen := map[string]*snapshot{}
	var all []Question
	for _, e := range entries {
		if e.Damage != nil || !e.Run.Live() {
			continue
		}
		s, err := w.read(e.Run)
		if err != nil {
			w.report(e.Run.ID, err)
			continue
		}
		seen[e.Run.ID] = s
		all = append(all, s.open...)
	}
	w.seen = seen
	slices.SortStableFunc(all, func(a, b Question) int { return a.Time.Compare(b.Time) })
	return all, nil
}

// read reads a run if its journal has changed.
func (w *Watcher) read(run *store.Run) (*snapshot, error) {
	info, err := os.Stat(run.Journal())
	if errors.Is(err, fs.ErrNotExist) {
		return &snapshot{}, nil // the run is about to begin, or was just removed
	}
	if err != nil {
		return nil, err
	}
	if old := w.seen[run.ID]; old != nil && old.size == info.Size() && old.time.Equal(info.ModTime()) {
		return old, nil
	}
	v, err := run.View()
	if err != nil {
		return nil, err
	}
	return &snapshot{open: Of(v), size: info.Size(), time: info.ModTime()}, nil
}

func (w *Watcher) report(run string, err error) {
	if w.told[run] {
		return
	}
	if w.told == nil {
		w.told = map[string]bool{}
	}
	w.told[run] = true
	w.Damaged(run, err)
}

// NameError is a name that means no open question, or several.
type NameError struct{ Text, Advice string }

func (e *NameError) Error() string { return e.Text }

// Hint lists the open questions.
func (e *NameError) Hint() string { return e.Advice }

// Find returns the open questions with these names. Questions in doubt come
// first: if their owner refuses any, no other was answered yet. The error is a
// [*NameError], or says that a journal cannot be read.
func (w *Watcher) Find(names []string) ([]Question, error) {
	open, err := w.Look()
	if err != nil {
		return nil, err
	}
	var all []Question
	for _, name := range names {
		found := Named(name, open)
		switch len(found) {
		case 1:
		case 0:
			q, err := w.lost(name, open)
			if err != nil {
				return nil, err
			}
			found = []Question{q}
		default:
			return nil, &NameError{Text: fmt.Sprintf("%q could be %s", name, IDs(found))}
		}
		if slices.ContainsFunc(all, func(q Question) bool { return q.ID == found[0].ID }) {
			return nil, &NameError{Text: fmt.Sprintf("question %s is named twice", found[0].ID)}
		}
		all = append(all, found[0])
	}
	var doubted, sure []Question
	for _, q := range all {
		if q.Doubt != nil {
			doubted = append(doubted, q)
		} else {
			sure = append(sure, q)
		}
	}
	return append(doubted, sure...), nil
}

// lost finds a question that no journal has as open. An agent can write to the journal
// of a live run: then the question is returned with a doubt. Otherwise the error says
// why the question is closed.
func (w *Watcher) lost(id string, open []Question) (Question, error) {
	unknown := &NameError{Text: fmt.Sprintf("no question %q waits for an answer", id)}
	if len(open) > 0 {
		unknown.Advice = "open are " + IDs(open)
	}
	at := strings.LastIndexByte(id, '-')
	if at < 0 {
		return Question{}, unknown
	}
	entries, err := w.State.Runs()
	if err != nil {
		return Question{}, err
	}
	for _, e := range entries {
		if e.Run.ID != id[:at] {
			continue
		}
		lost := Question{Question: &store.Question{}, Run: e.Run.ID, Doubt: unknown}
		lost.ID = id
		v, err := e.Run.View()
		if err != nil {
			lost.Doubt = err
		} else if i := slices.IndexFunc(v.Questions, func(q *store.Question) bool { return q.ID == id }); i >= 0 {
			lost.Doubt = &NameError{Text: closedText(v, v.Questions[i])}
		}
		if e.Run.Live() {
			return lost, nil
		}
		return Question{}, lost.Doubt
	}
	return Question{}, unknown
}

// closedText says why a question is closed.
func closedText(v *store.View, q *store.Question) string {
	if q.Reply == nil {
		return fmt.Sprintf("question %s is closed: run %s has ended: %s", q.ID, v.Identity.Run, v.Status)
	}
	word := "denied"
	if q.Reply.Allow {
		word = "allowed"
	}
	switch q.Reply.By {
	case task.ByPerson:
		return fmt.Sprintf("question %s was answered: %s", q.ID, word)
	case task.ByTime:
		return fmt.Sprintf("question %s is closed: %s", q.ID, q.Reply.Reason)
	case task.ByEnd:
		if q.Reply.Reason == engine.HookEnded {
			return fmt.Sprintf("question %s is closed: %s", q.ID, q.Reply.Reason)
		}
		return fmt.Sprintf("question %s is closed: %s ended first", q.ID, cmp.Or(string(q.Agent), "the script"))
	case task.ByRule, task.ByPolicy, task.ByScript, task.ByRisk:
		return fmt.Sprintf("question %s was %s at once: %s", q.ID, word, q.Reply.Reason)
	default:
		return fmt.Sprintf("question %s was closed", q.ID)
	}
}

// IDs names questions for a message.
func IDs(all []Question) string {
	const most = 8
	var names []string
	for i, q := range all {
		if i == most && len(all) > most+1 {
			names = append(names, fmt.Sprintf("%d more", len(all)-most))
			break
		}
		names = append(names, q.ID)
	}
	return strings.Join(names, ", ")
}
