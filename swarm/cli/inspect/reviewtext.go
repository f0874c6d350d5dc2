package inspect

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"agentswarm/internal/diffcolor"
	"agentswarm/internal/terminal"
	"agentswarm/internal/termtext"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/selection"
	"agentswarm/swarm/review"
	"agentswarm/swarm/review/collect"
	"agentswarm/swarm/review/mark"
	"agentswarm/swarm/store"
)

// reviewWidth is the width of text about edits, in columns. Lines of code keep
// their length.
const reviewWidth = 80

// reviewText prints a review for people.
type reviewText struct {
	*collect.Review
	s      *selection.Selection
	term   terminal.Output
	brief  bool            // neither members nor marks
	all    bool            // nothing is left out for its length
	named  []*review.Class // with their members; nil: all classes
	stderr io.Writer
}

// Bounds of a review that is printed without --all.
const (
	mostClasses      = 50
	mostExampleLines = 40
	mostLineBytes    = 500
	mostNames        = 12 // names or places in a list
	mostMembers      = 40 // lines with members, where classes are named
)

// most is a bound, or none with --all.
func (t *reviewText) most(bound int) int {
	if t.all || t.brief {
		return math.MaxInt
	}
	return bound
}

// more says that something was left out for its length.
func (t *reviewText) more(w io.Writer, indent string, n int, one, many string) {
	if n > 0 {
		fmt.Fprintf(w, "%s… and %s; %s review %s --all\n", indent, termtext.Count(n, one, many), cmdline.Program, t.s.Run.ID)
	}
}

func (t *reviewText) print(w io.Writer) error {
	for _, skipped := range t.Skipped {
		fmt.Fprintf(t.stderr, "%s: %s is not in the review: %s\n", cmdline.Program, skipped.ID, termtext.Line(skipped.Reason))
	}
	classes := t.named
	if classes == nil {
		classes = t.ClassesOf(t.s.Agents())
	}
	if len(classes) == 0 {
		fmt.Fprintln(t.stderr, noneChanged(t.s))
		return nil
	}
	if !t.brief {
		t.summary(w)
	}
	for i, class := range classes {
		if i == t.most(mostClasses) {
			fmt.Fprintln(w)
			t.more(w, "", len(classes)-i, "more class", "more classes")
			break
		}
		if i > 0 || !t.brief {
			fmt.Fprintln(w)
		}
		t.head(w, class)
		if !t.brief {
			t.about(w, class)
		}
		if err := t.example(w, class.Example); err != nil {
			return err
		}
		if t.named != nil && len(class.Members) > 1 {
			t.members(w, class)
		}
	}
	return nil
}

// summary is the first line: how much there is, and how much is to be read.
func (t *reviewText) summary(w io.Writer) {
	text := fmt.Sprintf("run %s: %s, %s, %s changed; %s to read", t.s.Run.ID, termtext.Count(t.Patches, "patch", "patches"),
		termtext.Count(t.Edits, "edit", "edits"), termtext.Count(t.Lines, "line", "lines"), termtext.Count(t.ToRead, "line", "lines"))
	p := t.Progress()
	if p.LinesLeft < t.ToRead {
		text += fmt.Sprintf(", %s left", termtext.Number(p.LinesLeft))
	}
	t.wrapped(w, "", text)
	if p.EditsDone > 0 || len(t.s.Named) == 0 && p.LinesLeft > 0 {
		text := fmt.Sprintf("done: %s of %s, %d %% of the edits, %s of %s", termtext.Number(p.ClassesDone), termtext.Count(p.Classes, "class", "classes"),
			100*p.EditsDone/max(1, p.Edits), termtext.Number(p.PatchesDone), termtext.Count(p.Patches, "patch", "patches"))
		if p.MinutesLeft > 0 {
			text += ", about " + termtext.Count(p.MinutesLeft, "minute", "minutes") + " left"
		}
		t.wrapped(w, "", text)
	}
	t.outdated(w)
}

// outdated are the verdicts and remarks on edits that patches no longer have.
func (t *reviewText) outdated(w io.Writer) {
	for _, a := range t.s.Agents() {
		if outdated := t.Outdated(a.ID); len(outdated) > 0 {
			t.wrapped(w, "", fmt.Sprintf("%s: %s on edits that its patch no longer has", a.ID, termtext.Count(len(outdated), "verdict", "verdicts")))
		}
		for _, r := range t.OutdatedRemarks(a.ID) {
			t.remark(w, "", "outdated ", r)
		}
	}
}

// classHead says of which kind the edits of a class are, and how many.
func classHead(c *review.Class) string {
	text := fmt.Sprintf("%s, %s", termtext.Count(len(c.Members), "edit", "edits"), c.Kind)
	if c.Language != "" {
		text += ", " + termtext.Line(terminal.ShortenEnd(c.Language, 12))
	}
	if c.Space {
		text += ", white space"
	}
	if c.Changed {
		text += ", changed since you looked"
	}
	if n := len(c.Patches()); n > 1 {
		text += fmt.Sprintf(", in %d patches", n)
	}
	return text
}

// head is the line that names a class.
func (t *reviewText) head(w io.Writer, c *review.Class) {
	text := classHead(c)
	accepted, rejected := t.Counts(c)
	for _, part := range []struct {
		n    int
		word string
	}{{accepted, "accepted"}, {rejected, "rejected"}} {
		if part.n == len(c.Members) {
			text += ", " + part.word
		} else if part.n > 0 {
			text += fmt.Sprintf(", %d %s", part.n, part.word)
		}
	}
	fmt.Fprintf(w, "%s %s (%s)\n", t.term.Paint(terminal.StyleTitle, "== "+c.ID), text, c.Exact.Short())
}

// about says why a class is read where it is, and where else it stands.
func (t *reviewText) about(w io.Writer, c *review.Class) {
	type reason struct {
		mark.Mark
		count int
	}
	var reasons []*reason
	byMark := map[mark.Mark]*reason{}
	note := func(m mark.Mark) {
		if byMark[m] == nil {
			byMark[m] = &reason{Mark: m}
			reasons = append(reasons, byMark[m])
		}
		byMark[m].count++
	}
	for _, m := range c.Members {
		for _, found := range t.Marks[m] {
			note(found)
		}
		if odd := t.Odd[m]; odd != "" {
			note(mark.Mark{Weight: review.OddWeight, Reason: odd})
		}
	}
	for i, r := range reasons {
		if i == t.most(5) {
			t.more(w, "  ", len(reasons)-i, "more mark", "more marks")
			break
		}
		text := fmt.Sprintf("mark %d: %s", r.Weight, r.Reason)
		if r.Detail != "" {
			text += ": " + r.Detail
		}
		if r.count < len(c.Members) {
			text += fmt.Sprintf(" (%d of %d)", r.count, len(c.Members))
		}
		t.wrapped(w, "  ", text)
	}
	if len(c.Members) > 1 {
		t.wrapped(w, "  ", "in "+termtext.List(c.Patches(), t.most(mostNames)))
	}
	if len(c.Missing) > 0 {
		t.wrapped(w, "  ", "missing in "+termtext.List(c.Missing, t.most(mostNames)))
	}
	if len(c.Elsewhere) > 0 {
		var places []string
		for _, e := range c.Elsewhere {
			places = append(places, e.Patch+" "+e.Place().String())
		}
		t.wrapped(w, "  ", fmt.Sprintf("after %q in most places; not in: %s", c.Follows, termtext.List(places, t.most(5))))
	}
	t.leftover(w, c)
	for _, m := range c.Members {
		for _, r := range t.Remarks(m) {
			t.remark(w, "  ", "", r)
		}
	}
	if len(c.Alike) > 0 {
		t.wrapped(w, "  ", "of the same shape: "+termtext.List(c.Alike, t.most(mostNames)))
	}
}

// leftover names the places that still have the words that a class removes.
func (t *reviewText) leftover(w io.Writer, c *review.Class) {
	left := t.Left.Class(c)
	if left == nil {
		return
	}
	var places []string
	for _, p := range left.Places {
		places = append(places, p.String())
	}
	more := ""
	if t.LeftMore {
		more = "at least "
	}
	t.wrapped(w, "  ", fmt.Sprintf("left over: %s%s with the removed words: %s", more, termtext.Count(left.Lines, "line", "lines"), termtext.List(places, t.most(5))))
}

// remark prints a remark of a person.
func (t *reviewText) remark(w io.Writer, indent, about string, r *store.EditRemark) {
	state := "draft"
	if r.Sent > 0 {
		state = fmt.Sprintf("sent for attempt %d", r.Sent)
	}
	place := r.Edit.Path
	if r.Line > 0 {
		place = review.Place{Path: r.Edit.Path, Line: r.Line}.String()
	}
	t.wrapped(w, indent, fmt.Sprintf("%sremark %d on %s, %s (%s): %s", about, r.ID, r.Agent, place, state, r.Text))
}

// example prints an edit of a class with the lines around it.
func (t *reviewText) example(w io.Writer, e *review.Edit) error {
	t.wrapped(w, "  ", fmt.Sprintf("%s, %s", e.Patch, e.Place().String()))
	if e.About != "" {
		t.wrapped(w, "  ", e.About)
		return nil
	}
	safe := &safeLines{w: w}
	if t.term.Color {
		safe.colour = (&diffcolor.Patch{}).Line
	}
	old, added := len(e.Before)+len(e.Removed)+len(e.After), len(e.Before)+len(e.Added)+len(e.After)
	var text strings.Builder
	fmt.Fprintf(&text, "@@ -%d,%d +%d,%d @@\n", max(0, e.OldLine-len(e.Before)), old, max(0, e.NewLine-len(e.Before)), added)
	left, cut := t.most(mostExampleLines), 0
	for _, part := range []struct {
		sign  string
		lines []string
	}{{" ", e.Before}, {"-", e.Removed}, {"+", e.Added}, {" ", e.After}} {
		for _, line := range part.lines {
			if left--; left < 0 {
				cut++
				continue
			}
			text.WriteString(part.sign + t.line(line) + "\n")
		}
	}
	_, err := io.WriteString(safe, text.String())
	err = errors.Join(err, safe.flush())
	t.more(w, "  ", cut, "more line", "more lines")
	return err
}

// line is a line of code of bounded length.
func (t *reviewText) line(text string) string {
	if most := t.most(mostLineBytes); len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

// members lists the edits of a class, each on a line.
func (t *reviewText) members(w io.Writer, c *review.Class) {
	for i, e := range c.Members {
		if i == t.most(mostMembers) {
			t.more(w, "  ", len(c.Members)-i, "more edit", "more edits")
			return
		}
		text := e.Patch + " " + e.Place().String()
		if v := t.Verdict(e); v != "" {
			text += ", " + string(v)
		}
		if t.Withheld(e) {
			text += ", in a file with a mark"
		}
		t.wrapped(w, "  ", text)
	}
}

// wrapped prints foreign text in lines of at most [reviewWidth] columns.
func (t *reviewText) wrapped(w io.Writer, indent, text string) {
	width := reviewWidth
	if n, _ := t.term.Size(); n > 0 {
		width = min(width, n)
	}
	for i, line := range terminal.Wrap(termtext.Line(text), width-len(indent)) {
		if i > 0 && indent != "" {
			line = "  " + line
		}
		fmt.Fprintln(w, terminal.ShortenMiddle(indent+line, width))
	}
}
