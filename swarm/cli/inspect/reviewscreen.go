package inspect

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/terminal"
	"agentswarm/internal/termtext"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/follow"
	"agentswarm/swarm/cli/selection"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/event"
	"agentswarm/swarm/review"
	"agentswarm/swarm/review/collect"
	"agentswarm/swarm/review/mark"
	"agentswarm/swarm/review/verdict"
	"agentswarm/swarm/task"
	"agentswarm/swarm/tui"
	"agentswarm/swarm/tui/reviewing"
)

// reviewDesk records the choices of a person who reviews a run.
type reviewDesk struct {
	*follow.CommandRunner
	s *selection.Selection

	mu    sync.Mutex // guards the fields below; held while a choice is recorded
	r     *collect.Review
	edits map[editName]*review.Edit
	shown map[editName]*reviewing.Edit
	names map[*reviewing.Edit]editName
	class map[*reviewing.Class]review.Fingerprint
}

// editName names an edit while the review is made anew.
type editName struct {
	patch string
	key   task.EditKey
}

// reviewAsked reviews a run with a person: on the whole terminal, or with --plain
// in questions and answers.
func reviewAsked(p *cmdline.Place, c *cli.Context, env cmdline.Env, s *selection.Selection) error {
	r, err := ReviewOfRun(c.Context, p, s)
	if err != nil {
		return err
	}
	if err := r.FindLeftovers(c.Context, reviewRequest(p, s.View)); c.Context.Err() != nil {
		return context.Cause(c.Context)
	} else if err != nil {
		fmt.Fprintf(p.Env.Stderr, "%s: places that still have removed words are not known: %s\n", cmdline.Program, termtext.Line(err.Error()))
	}
	for _, skipped := range r.Skipped {
		fmt.Fprintf(p.Env.Stderr, "%s: %s is not in the review: %s\n", cmdline.Program, skipped.ID, termtext.Line(skipped.Reason))
	}
	d := &reviewDesk{CommandRunner: follow.NewCommandRunner(p, c, env), s: s, r: r, shown: map[editName]*reviewing.Edit{}, names: map[*reviewing.Edit]editName{}, class: map[*reviewing.Class]review.Fingerprint{}}
	defer d.Close()
	book := d.book()
	if len(book.Classes) == 0 {
		fmt.Fprintln(p.Env.Stderr, noneChanged(s))
		return nil
	}
	if c.Bool("plain") {
		return d.plain(c.Context, book)
	}
	term := terminal.Detect(p.Env.Stdout, p.Env.Getenv)
	screen := reviewing.New(reviewing.Request{Book: book, Desk: d, Color: term.Color})
	return follow.Present(d.Ctx, p, tui.Program{Screen: screen, Color: term.Color, Title: cmdline.Program + " review " + s.Run.ID})
}

// index finds the edits of the present review by their names.
func (d *reviewDesk) index() {
	d.edits = map[editName]*review.Edit{}
	for _, c := range d.r.Classes {
		for _, e := range c.Members {
			d.edits[editName{e.Patch, e.Key()}] = e
		}
	}
}

// book is the review as views show it.
func (d *reviewDesk) book() *reviewing.Book {
	d.index()
	b := &reviewing.Book{Run: d.s.Run.ID}
	text := &reviewText{Review: d.r, s: d.s, stderr: io.Discard}
	for _, c := range d.r.ClassesOf(d.s.Agents()) {
		shown := &reviewing.Class{ID: c.ID, Head: classHead(c), Weight: c.Weight, Changed: c.Changed}
		d.class[shown] = c.Exact
		var about bytes.Buffer
		text.about(&about, c)
		for line := range strings.Lines(about.String()) {
			shown.Beside = append(shown.Beside, strings.TrimSpace(line))
		}
		for _, e := range c.Members {
			shown.Edits = append(shown.Edits, d.edit(e))
		}
		b.Classes = append(b.Classes, shown)
	}
	return b
}

func (d *reviewDesk) edit(e *review.Edit) *reviewing.Edit {
	shown := &reviewing.Edit{
		Patch: task.ID(e.Patch), Verdict: d.r.Verdict(e), Withheld: d.r.Withheld(e),
		Hunk: tui.Hunk{
			Path: e.Path, Language: review.Language(e.Path), About: e.About, OldLine: e.OldLine, NewLine: e.NewLine,
			Before: e.Before, Removed: e.Removed, Added: e.Added, After: e.After,
		},
	}
	marks := slices.Clone(d.r.Marks[e])
	if odd := d.r.Odd[e]; odd != "" {
		marks = append(marks, mark.Mark{Weight: review.OddWeight, Reason: odd})
	}
	for _, m := range marks {
		reason := fmt.Sprintf("mark %d: %s", m.Weight, m.Reason)
		if m.Detail != "" {
			reason += ": " + m.Detail
		}
		shown.Reasons = append(shown.Reasons, reason)
	}
	for _, r := range d.r.Remarks(e) {
		shown.Remarks = append(shown.Remarks, r.Text)
	}
	name := editName{e.Patch, e.Key()}
	d.shown[name], d.names[shown] = shown, name
	return shown
}

// Decide journals a verdict or a remark.
func (d *reviewDesk) Decide(ctx context.Context, choice reviewing.Choice) (reviewing.Outcome, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.Place.Personal("reviewing"); err != nil {
		return reviewing.Outcome{}, err
	}
	view, err := d.s.Run.View()
	if err != nil {
		return reviewing.Outcome{}, err
	}
	if view.Died {
		return reviewing.Outcome{}, fmt.Errorf("the process of run %s died; %s gc puts the run in order", view.Identity.Run, cmdline.Program)
	}
	d.s.View = view
	if choice.Verdict == "" {
		return d.remark(choice)
	}
	req := verdict.Request{Verdict: choice.Verdict, Reason: choice.Text}
	if choice.Edit != nil {
		req.Hunks = []*review.Edit{d.edits[d.names[choice.Edit]]}
	} else {
		exact := d.class[choice.Class]
		at := slices.IndexFunc(d.r.Classes, func(c *review.Class) bool { return c.Exact == exact })
		req.Classes = []*review.Class{d.r.Classes[at]}
	}
	if err := cmdline.CheckMessage("review: the reason", choice.Text); err != nil {
		return reviewing.Outcome{}, err
	}
	spread := d.r.Spread(req)
	if spread.Covered == 0 && len(spread.Patches) == 0 {
		return reviewing.Outcome{}, nothingCovered("review", d.s, spread, nil)
	}
	if err := recordVerdicts(d.Place, d.Context, d.s, engine.ReviewRequest{Marks: spread.Patches, Edits: spread.Edits}); err != nil {
		return reviewing.Outcome{}, err
	}
	d.apply(spread)
	return d.outcome(spread), nil
}

// apply makes the review anew with a verdict.
func (d *reviewDesk) apply(spread *verdict.Spread) {
	d.r.Record(spread, time.Now())
	d.index()
}

func (d *reviewDesk) outcome(spread *verdict.Spread) reviewing.Outcome {
	var out reviewing.Outcome
	for _, record := range spread.Edits {
		for _, key := range record.Edits {
			if e := d.shown[editName{string(record.Agent), key}]; e != nil {
				out.Covered = append(out.Covered, e)
			}
		}
	}
	var whole []string
	word := ""
	for _, m := range spread.Patches {
		whole, word = append(whole, string(m.Agent)), string(m.Verdict)
	}
	if len(whole) > 0 {
		out.Said = fmt.Sprintf("%s %s: %s", termtext.Count(len(whole), "patch is", "patches are"), word, termtext.List(whole, 12))
	}
	return out
}

// remark journals a remark on an edit.
func (d *reviewDesk) remark(choice reviewing.Choice) (reviewing.Outcome, error) {
	if err := cmdline.CheckMessage("review: the remark", choice.Text); err != nil {
		return reviewing.Outcome{}, err
	}
	e := d.edits[d.names[choice.Edit]]
	made, err := d.r.NewRemark(e.Place(), []task.ID{choice.Edit.Patch}, choice.Text)
	if err != nil {
		return reviewing.Outcome{}, err
	}
	made.ID = d.s.View.Agent(made.Agent).NextRemark()
	return reviewing.Outcome{Said: fmt.Sprintf("remark %d on %s; S sends it", made.ID, made.Agent)},
		recordVerdicts(d.Place, d.Context, d.s, engine.ReviewRequest{Remarks: []event.Remarked{made}})
}

func (d *reviewDesk) address(e *reviewing.Edit) string { return d.s.Run.ID + "/" + string(e.Patch) }

// Send has agents tried again with the remarks that were not sent.
func (d *reviewDesk) Send(ctx context.Context) (string, error) {
	said, err := d.InFront(ctx, "retry", d.s.Run.ID, "--remarks")
	if err == nil && said == "" {
		said = "the remarks are sent; leave and review again once the agents have ended"
	}
	return said, err
}

// Open opens an edit in the person's editor.
func (d *reviewDesk) Open(ctx context.Context, e *reviewing.Edit) (string, error) {
	return d.CommandRunner.Edit(ctx, d.address(e), review.Place{Path: e.Hunk.Path, Line: e.Hunk.NewLine})
}

// Shell opens a shell at the patch of an edit.
func (d *reviewDesk) Shell(ctx context.Context, e *reviewing.Edit) (string, error) {
	return d.InFront(ctx, "shell", d.address(e))
}

// plain asks about each class that has an edit without a verdict.
func (d *reviewDesk) plain(ctx context.Context, book *reviewing.Book) error {
	in, out := bufio.NewReader(cmdline.Input(d.Place.Env)), d.Place.Env.Stdout
	for _, shown := range book.Classes {
		if !slices.ContainsFunc(shown.Edits, func(e *reviewing.Edit) bool { return e.Verdict == "" }) {
			continue
		}
		text := &reviewText{Review: d.r, s: d.s, stderr: io.Discard}
		class := d.r.Find(shown.ID)
		text.head(out, class)
		text.about(out, class)
		if err := text.example(out, class.Example); err != nil {
			return err
		}
		over, err := d.ask(ctx, in, shown)
		if over || err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(out, "no class is left")
	return err
}

// ask asks for the verdict on a class until there is a verdict, or the person
// skips it.
func (d *reviewDesk) ask(ctx context.Context, in *bufio.Reader, c *reviewing.Class) (over bool, err error) {
	out := d.Place.Env.Stdout
	for {
		fmt.Fprintf(out, "%s: accept, reject, reject REASON, skip or quit? ", c.ID)
		line, err := in.ReadString('\n')
		if err != nil && (line == "" || !errors.Is(err, io.EOF)) {
			fmt.Fprintln(out)
			if errors.Is(err, io.EOF) {
				return true, nil
			}
			return true, err
		}
		word, reason, _ := strings.Cut(strings.TrimSpace(line), " ")
		choice := reviewing.Choice{Class: c, Text: strings.TrimSpace(reason)}
		switch word {
		case "accept", "a":
			choice.Verdict = task.Accepted
		case "reject", "x":
			choice.Verdict = task.Rejected
		case "skip", "s":
			return false, nil
		case "quit", "q":
			return true, nil
		default:
			continue
		}
		done, err := d.decideOpen(ctx, choice)
		if err != nil {
			fmt.Fprintln(out, termtext.Line(err.Error()))
			continue
		}
		fmt.Fprintf(out, "%s %s\n", termtext.Count(done, "edit", "edits"), choice.Verdict)
		return false, nil
	}
}

// decideOpen decides a class and, if a verdict on the class covers no edit,
// each of its edits. It returns their number.
func (d *reviewDesk) decideOpen(ctx context.Context, choice reviewing.Choice) (int, error) {
	covers := slices.ContainsFunc(choice.Class.Edits, func(e *reviewing.Edit) bool { return e.Verdict == "" && !e.Withheld })
	if covers {
		out, err := d.Decide(ctx, choice)
		return len(out.Covered), err
	}
	if len(choice.Class.Edits) > 1 {
		return 0, fmt.Errorf("%d edits in files with a mark: decide each with %s %s AGENT --hunk FILE:LINE", len(choice.Class.Edits), cmdline.Program, verbOf(choice.Verdict))
	}
	choice.Edit = choice.Class.Edits[0]
	out, err := d.Decide(ctx, choice)
	return len(out.Covered), err
}

func verbOf(v task.Verdict) string {
	if v == task.Accepted {
		return "accept"
	}
	return "reject"
}
