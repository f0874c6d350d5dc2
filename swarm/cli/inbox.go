package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"agentswarm/swarm/store"
)

func newInboxCommand(env Env) *cli.Command {
	return &cli.Command{
		Name:  "inbox",
		Usage: "list open questions of agents",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "watch", Aliases: []string{"w"}, Usage: "update the list until Ctrl-C"},
			jsonFlag(),
		},
		Description: `Lists the open questions of all live runs of this repository, the oldest first.
The same question of several agents of a run is one line. Agents with input = "jsonl"
and ask() of scripts put questions; answer, approve and deny answer them.

With --watch the list is drawn over as it changes; where it cannot be, each new
question is a line. With --watch --json, the whole inbox is printed as one object
a line, now and after each change. Long actions are cut; --json has them whole.

Examples:
  swarm inbox
  swarm inbox --watch
  swarm approve k3x9q2-1`,
		Action: func(c *cli.Context) error { return inboxAction(c, env) },
	}
}

// inboxObject is swarm.inbox/1, described in docs/json.md.
type inboxObject struct {
	Schema    string           `json:"schema"`
	Questions []questionObject `json:"questions"`
}

func newInboxObject(all []asked) inboxObject {
	return inboxObject{Schema: "swarm.inbox/1", Questions: questionObjects(all, time.Now())}
}

func inboxAction(c *cli.Context, env Env) error {
	if _, err := arguments(c, 0, 0); err != nil {
		return err
	}
	p, err := openPlace(c, env)
	if err != nil {
		return err
	}
	if err := p.sayLatestPending(c.Context); err != nil {
		return err
	}
	if c.Bool("watch") {
		return p.watchInbox(c.Context, c.Bool("json"))
	}
	all, err := (&letterbox{place: p}).look()
	switch {
	case err != nil:
		return err
	case c.Bool("json"):
		return printJSON(env.Stdout, newInboxObject(all))
	case len(all) == 0:
		_, err := fmt.Fprintln(env.Stderr, "no question waits for an answer")
		return err
	}
	width, _ := detect(env.Stdout, env.Getenv).Size()
	if err := inboxTable(all).Print(env.Stdout, width); err != nil {
		return err
	}
	printHints(env.Stderr, all)
	return nil
}

// line is a question where nothing can be drawn over.
func (q asked) line() string {
	return Printable(strings.TrimSuffix(fmt.Sprintf("%s %s %s", q.ID, q.from(), q.label), " ")+" wants: ") + q.wants
}

// from is the address of who asks: an agent, or the script of a run.
func (q asked) from() string { return strings.TrimSuffix(q.run+"/"+string(q.Agent), "/") }

// letterbox looks at the open questions of a repository, again and again.
type letterbox struct {
	place *place
	seen  map[string]*delivery // by the id of the run
	told  map[string]bool      // runs whose journals cannot be read
}

// delivery is what was seen of a run, and the journal it was seen in.
type delivery struct {
	open []asked
	size int64
	time time.Time
}

// look lists the open questions, the oldest first. Runs that have ended have
// none. One that cannot be read is told of once and never hides the others.
func (l *letterbox) look() ([]asked, error) {
	entries, err := l.place.state.Runs()
	if err != nil {
		return nil, err
	}
	seen := map[string]*delivery{}
	var all []asked
	for _, e := range entries {
		if e.Damage != nil || !e.Run.Live() {
			continue
		}
		d, err := l.open(e.Run)
		if err != nil {
			l.tell(e.Run.ID, err)
			continue
		}
		seen[e.Run.ID] = d
		all = append(all, d.open...)
	}
	l.seen = seen
	slices.SortStableFunc(all, func(a, b asked) int { return a.Time.Compare(b.Time) })
	return all, nil
}

// open reads a run whose journal is not as it was.
func (l *letterbox) open(run *store.Run) (*delivery, error) {
	info, err := os.Stat(run.Journal())
	if errors.Is(err, fs.ErrNotExist) {
		return &delivery{}, nil // it is about to begin, or was just removed
	}
	if err != nil {
		return nil, err
	}
	if old := l.seen[run.ID]; old != nil && old.size == info.Size() && old.time.Equal(info.ModTime()) {
		return old, nil
	}
	v, err := run.View()
	if err != nil {
		return nil, err
	}
	return &delivery{open: waitingOf(v), size: info.Size(), time: info.ModTime()}, nil
}

func (l *letterbox) tell(run string, err error) {
	if l.told[run] {
		return
	}
	if l.told == nil {
		l.told = map[string]bool{}
	}
	l.told[run] = true
	fmt.Fprintf(l.place.env.Stderr, "%s: run %s: %s\n", program, run, Printable(firstLine(err)))
}

// watchInbox shows the open questions and each change of them until ctx ends,
// whose cause it returns.
func (p *place) watchInbox(ctx context.Context, asJSON bool) error {
	term := detect(p.env.Stdout, p.env.Getenv)
	var picture *Progress
	if term.Motion && !asJSON {
		picture = newProgress(p.env.Stdout, term)
		p.env.Stderr = &sayer{picture}
	}
	l := &letterbox{place: p}
	tick := time.NewTicker(watchGap)
	defer tick.Stop()
	var shown []asked
	for first := true; ; first = false {
		now, err := l.look()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			return err
		}
		same := slices.EqualFunc(shown, now, func(a, b asked) bool { return a.ID == b.ID })
		switch {
		case picture != nil:
			err = picture.picturing(inboxLines(now, picture.term))
		case asJSON && (first || !same):
			err = printJSON(p.env.Stdout, newInboxObject(now))
		case !asJSON && !same:
			err = p.printNew(shown, now)
		}
		if err != nil {
			return err
		}
		shown = now
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}

func (p *place) printNew(shown, now []asked) error {
	for _, q := range now {
		if slices.ContainsFunc(shown, func(s asked) bool { return s.ID == q.ID }) {
			continue
		}
		if _, err := fmt.Fprintln(p.env.Stdout, q.line()); err != nil {
			return err
		}
	}
	return nil
}

// inboxLines is the inbox in what a terminal can hold; see [render] for why it
// leaves a line and a column free.
func inboxLines(all []asked, term Terminal) []string {
	width, height := term.Size()
	width, height = max(width-1, 1), max(height-1, 1)
	if len(all) == 0 {
		return []string{shortenEnd("no question waits for an answer", width)}
	}
	lines := inboxTable(all).Lines(width)
	if hidden := len(lines) - height; hidden > 0 {
		lines = append(lines[:height-1], shortenEnd(Count(hidden+1, "more", "more"), width))
	}
	return lines
}

// mostAsked bounds the questions that a status tells; inbox lists all.
const mostAsked = 10

// printAsked tells which agents need somebody, and for what.
func (p *place) printAsked(w io.Writer, v *store.View) {
	all := waitingOf(v)
	for i, q := range all {
		if i == mostAsked && len(all) > mostAsked+1 {
			fmt.Fprintf(w, "and %s more\n", Count(len(all)-i, "question", "questions"))
			break
		}
		fmt.Fprintf(w, "%s needs you: question %s: wants %s\n", Printable(q.who()), q.ID, q.wants)
	}
	if len(all) > 0 {
		fmt.Fprintf(w, "%s: %s inbox, then %s answer ID yes|no\n",
			Count(len(all), "question waits", "questions wait"), p.env.Calls, p.env.Calls)
	}
}
