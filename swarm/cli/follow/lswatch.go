package follow

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	"agentswarm/internal/fspath"
	"agentswarm/internal/terminal"
	"agentswarm/internal/termtext"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/store"
)

// watchGap is how often a watched list checks its runs. It reads the size of
// each journal, as [store.Run.Follow] does.
const watchGap = 250 * time.Millisecond

// longestGap bounds the delay of a change after a slow look, such as a look
// that put a run in order.
const longestGap = 2 * time.Second

// watchList shows the list of runs and each change of it until ctx ends,
// whose cause it returns.
func watchList(ctx context.Context, p *cmdline.Place, asJSON bool) error {
	w := &listWatcher{place: p, seen: map[string]*glance{}}
	term := terminal.Detect(p.Env.Stdout, p.Env.Getenv)
	show := w.lines
	switch {
	case asJSON:
		show = w.object
	case term.Motion:
		w.picture = newProgress(p.Env.Stdout, term)
		p.Env.Stderr = &printerAbove{w.picture}
		show = w.draw
	}
	for first := true; ; first = false {
		began := time.Now()
		now, err := w.look(ctx)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			return err
		}
		if err := show(now, first); err != nil {
			return err
		}
		w.shown = now
		// A long list may take no more than a tenth of a processor.
		pause := time.NewTimer(min(max(watchGap, 10*time.Since(began)), longestGap))
		select {
		case <-ctx.Done():
			pause.Stop()
			return context.Cause(ctx)
		case <-pause.C:
		}
	}
}

// listWatcher is a list of runs over time.
type listWatcher struct {
	place   *cmdline.Place
	seen    map[string]*glance // by the id of the run
	shown   []listedObject
	picture *Progress // nil where nothing is drawn over
}

// glance is a look at a run, and the state of its journal then.
type glance struct {
	listed listedObject
	size   int64
	time   time.Time
}

// look reads the runs whose journals are not as they were.
func (w *listWatcher) look(ctx context.Context) ([]listedObject, error) {
	entries, err := w.place.State.Runs()
	if err != nil {
		return nil, err
	}
	list := []listedObject{}
	seen := map[string]*glance{}
	for _, e := range entries {
		g, err := w.glance(ctx, e)
		if err != nil {
			return nil, err
		}
		if g == nil {
			continue
		}
		seen[e.Run.ID] = g
		list = append(list, g.listed)
	}
	w.seen = seen
	return list, nil
}

// glance looks at a run; nil if it was removed meanwhile.
func (w *listWatcher) glance(ctx context.Context, e store.Entry) (*glance, error) {
	var size int64
	var changed time.Time
	switch info, err := os.Stat(e.Run.Journal()); {
	case err == nil:
		size, changed = info.Size(), info.ModTime()
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("watch run %s: %w", e.Run.ID, err)
	case !fspath.Exists(e.Run.Dir):
		return nil, nil
	}
	old := w.seen[e.Run.ID]
	if old != nil && old.size == size && old.time.Equal(changed) &&
		e.Damage == nil && old.listed.Status != damaged {
		if !old.listed.running() {
			return old, nil
		}
		if e.Run.Live() && old.listed.view != nil {
			old.listed.Duration = old.listed.view.Took(time.Now()).Milliseconds()
			return old, nil
		}
	}
	listed := listed(ctx, w.place, e)
	return &glance{listed: listed, size: size, time: changed}, nil
}

func (o listedObject) running() bool { return o.Status == string(store.RunRunning) }

// same tells whether two states of a run differ in more than the clock.
func (o listedObject) same(other listedObject) bool {
	o.Duration, other.Duration, o.view, other.view = 0, 0, nil, nil
	return reflect.DeepEqual(o, other)
}

// object prints the list as JSON where something changed.
func (w *listWatcher) object(now []listedObject, first bool) error {
	if !first && slices.EqualFunc(w.shown, now, listedObject.same) {
		return nil
	}
	return cmdline.PrintJSON(w.place.Env.Stdout, listObject{Schema: listSchema, Runs: now})
}

// lines prints a line for each run that is new, changed or gone.
func (w *listWatcher) lines(now []listedObject, _ bool) error {
	var b strings.Builder
	for _, r := range now {
		at := slices.IndexFunc(w.shown, func(o listedObject) bool { return o.Run == r.Run })
		if at < 0 || !w.shown[at].same(r) {
			b.WriteString(termtext.Line(r.line()) + "\n")
		}
	}
	for _, r := range w.shown {
		if !slices.ContainsFunc(now, func(o listedObject) bool { return o.Run == r.Run }) {
			b.WriteString(r.Run + " removed\n")
		}
	}
	_, err := io.WriteString(w.place.Env.Stdout, b.String())
	return err
}

// line is how a run reads where nothing can be drawn over.
func (o listedObject) line() string {
	line := o.Run + " " + o.status() + ": " + termtext.Count(o.Agents, "agent", "agents")
	for _, part := range []struct {
		n    int
		name string
	}{
		{o.Waiting, "waiting for you"}, {o.Completed, "completed"}, {o.Failed, "failed"},
		{o.Cancelled, "cancelled"}, {o.Landed, "landed"},
	} {
		if part.n > 0 {
			line += fmt.Sprintf(", %d %s", part.n, part.name)
		}
	}
	return line
}

// draw draws the list over the earlier list.
func (w *listWatcher) draw(now []listedObject, _ bool) error {
	return w.picture.picturing(listLines(w.picture.term, now))
}

// listLines is the list in at most height-1 lines of at most width-1 columns;
// see [render] for why. Where the room is short, running runs stay, then the
// newest, and a line tells how many are not shown.
func listLines(term terminal.Output, runs []listedObject) []string {
	width, height := term.Size()
	width, height = max(width-1, 1), max(height-1, 1)
	if len(runs) == 0 {
		return []string{terminal.ShortenEnd("no run yet; waiting for one", width)}
	}
	kept := runs
	if len(runs) > height-1 {
		kept = mostWanted(runs, max(height-2, 0))
	}
	lines := runTable(term, kept).Lines(width)
	if hidden := len(runs) - len(kept); hidden > 0 {
		lines = append(lines, terminal.ShortenEnd(termtext.Count(hidden, "more run is", "more runs are")+" not shown", width))
	}
	return lines[:min(len(lines), height)]
}

// mostWanted picks n runs: those that run, then the newest. They stay in their
// order.
func mostWanted(runs []listedObject, n int) []listedObject {
	rank := make([]int, len(runs))
	for i := range runs {
		rank[i] = i
	}
	slices.SortFunc(rank, func(a, b int) int {
		if x, y := runs[a].running(), runs[b].running(); x != y {
			if x {
				return -1
			}
			return 1
		}
		return b - a
	})
	rank = rank[:min(n, len(rank))]
	slices.Sort(rank)
	kept := make([]listedObject, len(rank))
	for i, at := range rank {
		kept[i] = runs[at]
	}
	return kept
}

// picturing draws lines, which must fit the terminal, over the earlier lines.
// It writes nothing if they are the same.
func (p *Progress) picturing(lines []string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if slices.Equal(p.drawn, lines) {
		return nil
	}
	up := p.up(p.term.Size())
	p.drawn = lines
	_, err := io.WriteString(p.w, up+p.picture())
	return err
}

// printerAbove prints its input, a message at a time, above a picture.
type printerAbove struct{ picture *Progress }

func (s *printerAbove) Write(text []byte) (int, error) {
	for line := range strings.Lines(string(text)) {
		s.picture.Say(strings.TrimSuffix(line, "\n"))
	}
	return len(text), nil
}
