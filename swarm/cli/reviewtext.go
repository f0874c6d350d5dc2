package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"agentswarm/internal/diffcolor"
	"agentswarm/swarm/review"
	"agentswarm/swarm/review/mark"
	"agentswarm/swarm/review/verdict"
)

// reviewWidth is the width of text about edits, in columns. Lines of code keep
// their length.
const reviewWidth = 80

// reviewText prints a review for people.
type reviewText struct {
	*runReview
	s      *selection
	term   Terminal
	brief  bool // neither members nor marks
	stderr io.Writer
}

func (t *reviewText) print(w io.Writer) error {
	for _, skipped := range t.skipped {
		fmt.Fprintf(t.stderr, "%s: %s is not in the review: %s\n", program, skipped.ID, Printable(skipped.Reason))
	}
	classes := t.classes(t.s)
	if len(classes) == 0 {
		fmt.Fprintln(t.stderr, noneChanged(t.s))
		return nil
	}
	if !t.brief {
		t.summary(w)
	}
	for i, class := range classes {
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
	}
	return nil
}

// summary is the first line: how much there is, and how much is to be read.
func (t *reviewText) summary(w io.Writer) {
	text := fmt.Sprintf("run %s: %s, %s, %s changed; %s to read", t.s.run.ID, Count(t.Patches, "patch", "patches"),
		Count(t.Edits, "edit", "edits"), Count(t.Lines, "line", "lines"), Count(t.ToRead, "line", "lines"))
	if left := t.LinesLeft(); left < t.ToRead {
		text += fmt.Sprintf(", %s left", Number(left))
	}
	t.wrapped(w, "", text)
	for _, a := range t.s.agents() {
		if outdated := t.Outdated(a.ID); len(outdated) > 0 {
			t.wrapped(w, "", fmt.Sprintf("%s: %s on edits that its patch no longer has", a.ID, Count(len(outdated), "verdict", "verdicts")))
		}
	}
}

// head is the line that names a class.
func (t *reviewText) head(w io.Writer, c *review.Class) {
	text := fmt.Sprintf("%s, %s", Count(len(c.Members), "edit", "edits"), c.Kind)
	if c.Language != "" {
		text += ", " + Printable(shortenEnd(c.Language, 12))
	}
	if c.Space {
		text += ", white space"
	}
	if n := len(c.Patches()); n > 1 {
		text += fmt.Sprintf(", in %d patches", n)
	}
	accepted, rejected := t.verdictCounts(c)
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
	fmt.Fprintf(w, "%s %s (%s)\n", t.term.paint(styleTitle, "== "+c.ID), text, c.Exact.Short())
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
	const most = 5
	for i, r := range reasons {
		if i == most {
			t.wrapped(w, "  ", fmt.Sprintf("and %s more", Count(len(reasons)-most, "mark", "marks")))
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
		t.wrapped(w, "  ", "in "+listed(c.Patches(), 12))
	}
	if len(c.Missing) > 0 {
		t.wrapped(w, "  ", "missing in "+listed(c.Missing, 12))
	}
	if len(c.Elsewhere) > 0 {
		var places []string
		for _, e := range c.Elsewhere {
			places = append(places, e.Patch+" "+verdict.Place(e))
		}
		t.wrapped(w, "  ", fmt.Sprintf("after %q in most places; not in: %s", c.Follows, listed(places, 5)))
	}
	if len(c.Alike) > 0 {
		t.wrapped(w, "  ", "of the same shape: "+listed(c.Alike, 12))
	}
}

// example prints an edit of a class with the lines around it.
func (t *reviewText) example(w io.Writer, e *review.Edit) error {
	t.wrapped(w, "  ", fmt.Sprintf("%s, %s", e.Patch, verdict.Place(e)))
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
	for _, part := range []struct {
		sign  string
		lines []string
	}{{" ", e.Before}, {"-", e.Removed}, {"+", e.Added}, {" ", e.After}} {
		for _, line := range part.lines {
			text.WriteString(part.sign + line + "\n")
		}
	}
	_, err := io.WriteString(safe, text.String())
	return errors.Join(err, safe.flush())
}

// wrapped prints foreign text in lines of at most [reviewWidth] columns.
func (t *reviewText) wrapped(w io.Writer, indent, text string) {
	width := reviewWidth
	if n, _ := t.term.Size(); n > 0 {
		width = min(width, n)
	}
	for i, line := range wrap(Printable(text), width-len(indent)) {
		if i > 0 && indent != "" {
			line = "  " + line
		}
		fmt.Fprintln(w, shortenMiddle(indent+line, width))
	}
}
