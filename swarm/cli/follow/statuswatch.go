package follow

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"agentswarm/internal/terminal"
	"agentswarm/internal/termtext"
	"agentswarm/swarm/activity"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/selection"
	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/cli/view"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// watchStatus shows the selected agents of a run and each change of them, until
// the run has ended or ctx ends, whose cause it returns.
func watchStatus(ctx context.Context, p *cmdline.Place, s *selection.Selection, asJSON bool) error {
	w := &statusWatcher{place: p, selection: s, told: map[task.ID]string{}, activity: activityOf(p, s.Run, s.View.Identity)}
	if term := terminal.Detect(p.Env.Stdout, p.Env.Getenv); term.Motion && !asJSON {
		w.picture = newProgress(p.Env.Stdout, term)
	}
	tail := s.Run.Tail()
	defer tail.Close()
	tick := time.NewTicker(watchGap)
	defer tick.Stop()
	for {
		v, err := tail.View()
		if err != nil {
			return err
		}
		v.Interrupted()
		if v.Died {
			session.PrintPending(p, v)
		}
		w.take(v)
		over := v.Status != store.RunRunning
		switch {
		case asJSON:
			err = w.object()
		case over && w.picture != nil:
			err = w.picture.picturing(nil) // the whole status takes its place
		case w.picture != nil:
			err = w.picture.picturing(w.lines())
		default:
			err = w.changes()
		}
		if err != nil {
			return err
		}
		if over {
			if asJSON {
				return nil
			}
			return printStatus(p, s)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// statusWatcher is the status of a run over time.
type statusWatcher struct {
	place     *cmdline.Place
	selection *selection.Selection
	activity  *activity.Reader   // nil where the output cannot be read
	picture   *Progress          // nil where nothing is drawn over
	told      map[task.ID]string // the state of agents that was printed last
	printed   *view.RunObject    // the object that was printed last
}

// take has the selection be of a newer view. Named agents stay named; a selector
// picks again, since agents change.
func (w *statusWatcher) take(v *store.View) {
	s := w.selection
	s.View = v
	if w.activity != nil {
		view.AddRetries(v, func(a *store.Agent) *store.Again { return w.activity.Look(a).Again })
	}
	if !s.Chosen.Empty() {
		s.Named = s.Chosen.Pick(v.Agents)
		return
	}
	for i, a := range s.Named {
		if now := v.Agent(a.ID); now != nil {
			s.Named[i] = now
		}
	}
}

// object prints the status as JSON where more than the clock has changed.
func (w *statusWatcher) object() error {
	now := selectionObject(w.selection)
	timeless := now.Timeless()
	if w.printed != nil && reflect.DeepEqual(*w.printed, timeless) {
		return nil
	}
	w.printed = &timeless
	return cmdline.PrintJSON(w.place.Env.Stdout, now)
}

// changes prints a line for each agent whose state has changed.
func (w *statusWatcher) changes() error {
	now := time.Now()
	for _, a := range w.selection.Agents() {
		state := view.ResultText(view.NewAgentObject(engine.Config{}, w.selection.View, a, now))
		if w.told[a.ID] == state {
			continue
		}
		w.told[a.ID] = state
		if _, err := fmt.Fprintf(w.place.Env.Stdout, "%s %s %s\n", a.ID, termtext.Line(engine.Title(a.ID, a.Call)), state); err != nil {
			return err
		}
	}
	return nil
}

// lines are the status in as many lines as the window has, the agents first that
// a person has to look at.
func (w *statusWatcher) lines() []string {
	term, v, now := w.picture.term, *w.selection.View, time.Now()
	width, height := term.Size()
	width, height = max(width-1, 1), max(height-1, 2)
	v.Agents = w.selection.Agents()
	head := fmt.Sprintf("run %s %s, %s, %s", v.Identity.Run, view.StatusText(&v),
		partCount(len(v.Agents), len(w.selection.View.Agents)), termtext.Duration(v.Took(now)))
	lines := []string{terminal.ShortenEnd(head, width)}
	if len(v.Agents) == 0 {
		return lines
	}
	hidden := 0
	if room := height - 2; len(v.Agents) > room { // a line each for the run and the titles
		v.Agents = view.WorthSeeing(&v)
		hidden = len(v.Agents) - max(room-1, 0)
		v.Agents = v.Agents[:len(v.Agents)-hidden]
	}
	lines = append(lines, view.AgentTable(term, &v, now).Lines(width)...)
	if hidden > 0 {
		lines = append(lines, terminal.ShortenEnd(termtext.Count(hidden, "more agent is", "more agents are")+" not shown", width))
	}
	return lines[:min(len(lines), height)]
}
