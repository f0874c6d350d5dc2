package follow

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/terminal"
	"agentswarm/internal/termtext"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/cli/view"
	"agentswarm/swarm/inbox"
	"agentswarm/swarm/inbox/waiting"
	"agentswarm/swarm/store"
)

// NewInboxCommand returns the command `swarm inbox`.
func NewInboxCommand(env cmdline.Env) *cli.Command {
	return &cli.Command{
		Name:  "inbox",
		Usage: "list open questions of agents",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "watch", Aliases: []string{"w"}, Usage: "update the list until Ctrl-C"},
			cmdline.JSONFlag(),
		},
		Description: `Lists the open questions of all live runs of this repository, the oldest first.
The same question of several agents of a run is one line. Questions come from hooks,
from agents with input = "jsonl", and from ask() of scripts. answer, approve and deny
answer them.

With --watch the list is updated in place; without a terminal, each new question is a
line. With --watch --json, the whole inbox is printed as one object a line, now and
after each change. Long actions are cut; --json has them whole.

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
	Questions []waiting.Object `json:"questions"`
}

func newInboxObject(all []waiting.Question) inboxObject {
	o, now := inboxObject{Schema: "swarm.inbox/1", Questions: []waiting.Object{}}, time.Now()
	for _, q := range all {
		o.Questions = append(o.Questions, waiting.NewObject(q, now))
	}
	return o
}

func inboxAction(c *cli.Context, env cmdline.Env) error {
	if _, err := cmdline.Arguments(c, 0, 0); err != nil {
		return err
	}
	p, err := cmdline.Open(c, env)
	if err != nil {
		return err
	}
	if err := session.PrintLatestPending(c.Context, p); err != nil {
		return err
	}
	if c.Bool("watch") {
		return watchInbox(c.Context, p, c.Bool("json"))
	}
	all, err := inboxWatcher(p).Look()
	switch {
	case err != nil:
		return err
	case c.Bool("json"):
		return cmdline.PrintJSON(env.Stdout, newInboxObject(all))
	case len(all) == 0:
		_, err := fmt.Fprintln(env.Stderr, "no question waits for an answer")
		return err
	}
	width, _ := terminal.Detect(env.Stdout, env.Getenv).Size()
	if err := inboxTable(all).Print(env.Stdout, width); err != nil {
		return err
	}
	printHints(env.Stderr, all)
	return nil
}

// questionLine is a question where nothing can be drawn over.
func questionLine(q waiting.Question) string {
	return termtext.Line(strings.TrimSuffix(fmt.Sprintf("%s %s %s", q.ID, q.From(), q.Label), " ")+" wants: ") + questionText(q.Question)
}

// inboxWatcher watches the open questions of the repository. It reports a run
// that cannot be read once.
func inboxWatcher(p *cmdline.Place) *waiting.Watcher {
	return &waiting.Watcher{State: p.State, Damaged: func(run string, err error) {
		fmt.Fprintf(p.Env.Stderr, "%s: run %s: %s\n", cmdline.Program, run, termtext.Line(firstLine(err)))
	}}
}

// watchInbox shows the open questions and each change of them until ctx ends,
// whose cause it returns.
func watchInbox(ctx context.Context, p *cmdline.Place, asJSON bool) error {
	term := terminal.Detect(p.Env.Stdout, p.Env.Getenv)
	var picture *Progress
	if term.Motion && !asJSON {
		picture = newProgress(p.Env.Stdout, term)
		p.Env.Stderr = &printerAbove{picture}
	}
	l := inboxWatcher(p)
	tick := time.NewTicker(watchGap)
	defer tick.Stop()
	var shown []waiting.Question
	for first := true; ; first = false {
		now, err := l.Look()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			return err
		}
		same := slices.EqualFunc(shown, now, func(a, b waiting.Question) bool { return a.ID == b.ID })
		switch {
		case picture != nil:
			err = picture.picturing(inboxLines(now, picture.term))
		case asJSON && (first || !same):
			err = cmdline.PrintJSON(p.Env.Stdout, newInboxObject(now))
		case !asJSON && !same:
			err = printNew(p, shown, now)
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

func printNew(p *cmdline.Place, shown, now []waiting.Question) error {
	for _, q := range now {
		if slices.ContainsFunc(shown, func(s waiting.Question) bool { return s.ID == q.ID }) {
			continue
		}
		if _, err := fmt.Fprintln(p.Env.Stdout, questionLine(q)); err != nil {
			return err
		}
	}
	return nil
}

// inboxLines is the inbox in lines that fit a terminal; see [render] for why it
// leaves a line and a column free.
func inboxLines(all []waiting.Question, term terminal.Output) []string {
	width, height := term.Size()
	width, height = max(width-1, 1), max(height-1, 1)
	if len(all) == 0 {
		return []string{terminal.ShortenEnd("no question waits for an answer", width)}
	}
	lines := inboxTable(all).Lines(width)
	if hidden := len(lines) - height; hidden > 0 {
		lines = append(lines[:height-1], terminal.ShortenEnd(termtext.Count(hidden+1, "more", "more"), width))
	}
	return lines
}

// mostAsked bounds the questions that a status tells; inbox lists all.
const mostAsked = 10

// printAsked lists the agents that need a person, and their questions.
func printAsked(p *cmdline.Place, w io.Writer, v *store.View) {
	all := waiting.Of(v)
	for i, q := range all {
		if i == mostAsked && len(all) > mostAsked+1 {
			fmt.Fprintf(w, "and %s more\n", termtext.Count(len(all)-i, "question", "questions"))
			break
		}
		fmt.Fprintf(w, "%s needs you: question %s: wants %s\n", termtext.Line(q.Who()), q.ID, questionText(q.Question))
	}
	if len(all) > 0 {
		fmt.Fprintf(w, "%s: %s inbox, then %s\n",
			termtext.Count(len(all), "question waits", "questions wait"), p.Env.Calls, answerWays(p.Env.Calls, all))
	}
}

// answerWays names the commands that answer questions: requests for permission are
// approved or denied, all others are answered by a text.
func answerWays(calls string, all []waiting.Question) string {
	var requests, inquiries bool
	for _, q := range all {
		_, inquiry := inbox.InquiryOf(&q.Questioned)
		requests, inquiries = requests || !inquiry, inquiries || inquiry
	}
	var ways []string
	if requests {
		ways = append(ways, calls+" approve ID", calls+" deny ID")
	}
	if inquiries {
		ways = append(ways, calls+" answer ID TEXT")
	}
	return strings.Join(ways, view.OrWay)
}
