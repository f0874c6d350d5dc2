package view

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"agentswarm/internal/terminal"
	"agentswarm/internal/termtext"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/event"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/landing/lander"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// PrintTable prints the agents of a run with their results and the sizes of their patches. It
// returns the error of the writer.
func PrintTable(w io.Writer, size TableSize, v *store.View, now time.Time) error {
	if len(v.Agents) == 0 {
		return nil // a script may start none
	}
	return AgentTable(size.Terminal, v, now).Print(w, size.Width)
}

// TableSize is the width of a table in columns, where 0 is no limit, and the terminal with its
// colors.
type TableSize struct {
	Width    int
	Terminal terminal.Output
}

// AgentTable returns the table of a run's agents.
func AgentTable(term terminal.Output, v *store.View, now time.Time) *terminal.Table {
	t := &terminal.Table{Term: term, Columns: []terminal.Column{
		{Title: "AGENT"}, {Title: "LABEL", Flex: true}, {Title: "RESULT", Style: terminal.StateStyle},
		{Title: "FILES", Right: true}, {Title: "+", Right: true}, {Title: "-", Right: true},
		{Title: "VERIFIED", Style: terminal.StateStyle}, {Title: "LANDED"}, {Title: "TIME", Right: true}, {Title: "WAITED", Right: true},
	}}
	for _, a := range v.Agents {
		o := NewAgentObject(engine.Config{}, v, a, now)
		files, added, deleted := "", "", ""
		if o.Patch != nil {
			f, plus, minus := o.Patch.of.Size()
			files, added, deleted = fmt.Sprint(f), fmt.Sprint(plus), fmt.Sprint(minus)
		}
		t.Row(o.ID, engine.Title(a.ID, a.Call), ResultText(o), files, added, deleted,
			cmdline.YesNo(o.Verified), cmdline.YesNo(o.Landed), termtext.Duration(time.Duration(o.Worked)*time.Millisecond), waitedText(o))
	}
	t.DropEmpty()
	return t
}

// leastWait is how long an agent must have waited for the table to say so.
const leastWait = time.Second

// waitedText is how long an agent has waited; empty for no time worth telling.
func waitedText(o AgentObject) string {
	waited := time.Duration(o.Waited) * time.Millisecond
	if waited < leastWait {
		return ""
	}
	return termtext.Duration(waited)
}

// ResultText returns the state of an agent, with its check, review and landing.
func ResultText(o AgentObject) string {
	text := o.StateText
	if o.Retry != nil {
		text += ", retry"
	}
	if o.Reviewed != nil && !*o.Reviewed {
		text += ", review not passed"
	}
	if o.Review != nil {
		text += ", " + o.Review.Verdict
	}
	if o.Conflict != nil {
		text += ", conflict"
	}
	if r := o.refusal; r != nil && r.Kind != event.RefusedStale {
		text += ", merge refused"
	}
	switch o.Choice {
	case task.Selected:
		text += ", chosen"
	case task.PassedOver:
		text += ", not chosen"
	}
	if o.Patch != nil && len(o.Patch.OutOfScope) > 0 {
		text += ", out of scope"
	}
	if o.Patch != nil && len(o.Patch.Marked) > 0 {
		text += ", look at it"
	}
	return text
}

// NoLimit stands for all lines of a part.
const NoLimit = 1 << 30

// MaxNotes bounds the notes that status tells; show has the rest.
const MaxNotes = 10

// LongestNote is how many characters status prints of a note; show prints all.
const LongestNote = 400

// shortNote leaves out the middle of a long note: a path may be very long, and the
// end says how it was captured.
func shortNote(text string) string {
	runes := []rune(text)
	if len(runes) <= LongestNote {
		return text
	}
	const half = LongestNote / 2
	return string(runes[:half]) + "…" + string(runes[len(runes)-half+1:])
}

// PrintNotes prints the files that captures could not take or took differently.
func PrintNotes(w io.Writer, v *store.View, limit int) {
	told := 0
	for _, a := range v.Agents {
		if a.Captured == nil {
			continue
		}
		for _, note := range a.Captured.Notes {
			if told++; told > limit {
				continue
			}
			fmt.Fprintf(w, "%s: note: %s\n", a.ID, shortNote(termtext.Line(note)))
		}
	}
	if told > limit {
		fmt.Fprintf(w, "and %s; `swarm show` prints all\n", termtext.Count(told-limit, "more note", "more notes"))
	}
}

// PrintCauses prints why agents did not complete and why patches are merged only by name,
// grouped by cause.
func PrintCauses(w io.Writer, v *store.View, limit int) {
	var order []string
	who := map[string][]string{}
	add := func(a *store.Agent, cause string) {
		if cause == "" {
			return
		}
		if who[cause] == nil {
			order = append(order, cause)
		}
		who[cause] = append(who[cause], string(a.ID))
	}
	review := session.ReviewOf(v)
	for _, a := range v.Agents {
		if r := a.Result(); r != nil {
			add(a, CauseOf(r))
		}
		if err := landing.Landable(review, a); v.Status != store.RunRunning && errors.Is(err, landing.ErrUnreviewed) {
			add(a, "not reviewed")
		}
		if found := a.Appraisal; found != nil && !found.Pass {
			add(a, AppraisalWord(found)+": "+AppraisalText(found))
		}
		add(a, a.Held)
		if v.Status == store.RunRunning {
			add(a, AgainText(a.NextTry()))
		}
		if a.Review != nil && a.Review.Reason != "" {
			add(a, string(a.Review.Verdict)+": "+a.Review.Reason)
		}
		if p := a.Patch(); p != nil && len(p.OutOfScope) > 0 {
			add(a, "changed files outside its paths: "+termtext.List(p.OutOfScope, 3))
		}
		add(a, markedText(a))
		add(a, ConflictText(v, a))
		add(a, refusalCause(a))
	}
	for i, cause := range order {
		if i == limit {
			fmt.Fprintf(w, "and %s\n", termtext.Count(len(order)-i, "more cause", "more causes"))
			break
		}
		fmt.Fprintf(w, "%s: %s\n", termtext.List(who[cause], 5), termtext.Line(cause))
	}
}

// AppraisalWord returns the verdict of a reviewer in a word.
func AppraisalWord(e *event.Appraised) string {
	if e.Pass {
		return "review passed"
	}
	return "review not passed"
}

// AppraisalText returns the first finding of a reviewer.
func AppraisalText(e *event.Appraised) string {
	if e.Pass || len(e.Problems) == 0 {
		return ""
	}
	first, _, _ := strings.Cut(e.Problems[0], "\n")
	if more := len(e.Problems) - 1; more > 0 {
		first += fmt.Sprintf(" (and %d more)", more)
	}
	return first
}

// markedText says that a person has to look at a patch's changes of certain
// files; empty if it has no such change.
func markedText(a *store.Agent) string {
	p := a.Patch()
	if p == nil || len(p.Marked) == 0 {
		return ""
	}
	return "changed what agents, git or CI go by; look at it: " + termtext.List(p.Marked, 3)
}

// SayMarked warns of an agent's patch with marked files before a merge.
func SayMarked(p *cmdline.Place, a *store.Agent) {
	if text := markedText(a); text != "" {
		fmt.Fprintf(p.Env.Stderr, "%s: %s\n", a.ID, termtext.Line(text))
	}
}

// maxSummary is how many lines the end of a run may take on the screen: the
// text above must still be in sight. All else is in a file that it names.
const maxSummary = 40

// PrintSummary prints the end of a run: the table, causes of failures, the merge, and the next
// commands. It returns an error if the whole summary cannot be written to its file.
func PrintSummary(p *cmdline.Place, run *store.Run, v *store.View, merged *lander.Report) error {
	w := p.Env.Stderr
	term := terminal.Detect(w, p.Env.Getenv)
	width, _ := term.Size()
	all := summarySize{width: width, rows: NoLimit, causes: NoLimit, notes: NoLimit, merged: NoLimit}
	whole, err := summary(p, v, merged, all)
	if err != nil {
		return err
	}
	if RowsOf(whole, width) > maxSummary {
		file := filepath.Join(run.Dir, "summary.txt")
		if err := os.WriteFile(file, []byte(strings.Join(whole, "\n")+"\n"), 0o600); err != nil {
			return fmt.Errorf("keep the summary: %w", err)
		}
		// 13 rows with their titles and the line that counts the rest, 6 causes
		// and 3 notes with theirs, 7 lines of a merge with theirs. With the
		// last line, the run's line and up to three lines of next steps they
		// are 40.
		last := "all of it: " + file
		size := summarySize{width: width, rows: 13, causes: 6, notes: 3, merged: 7, term: term}
		short, err := summary(p, v, merged, size)
		if err != nil {
			return err
		}
		end := append(slices.Clone(short[uncut(short, v):]), last)
		if wraps := RowsOf(end, width) - len(end); wraps > 0 {
			size.rows = max(1, size.rows-wraps)
			if short, err = summary(p, v, merged, size); err != nil {
				return err
			}
		}
		for i := range uncut(short, v) {
			if width > 0 && terminal.Columns(short[i]) > width {
				short[i] = terminal.ShortenEnd(short[i], width)
			}
		}
		whole = append(short, last)
	} else if term.Color {
		all.term = term
		if whole, err = summary(p, v, merged, all); err != nil {
			return err
		}
	}
	_, err = io.WriteString(w, strings.Join(whole, "\n")+"\n")
	return err
}

// uncut is where the part of a summary begins whose lines are not cut: the line of the
// run, and commands that are to be copied.
func uncut(lines []string, v *store.View) int {
	at := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "run "+v.Identity.Run) })
	if at < 0 {
		return len(lines)
	}
	return at
}

// summarySize bounds the parts of a summary, in lines.
type summarySize struct {
	width, rows, causes, notes, merged int
	term                               terminal.Output // whose colors it has
}

// summary is the end of a run in lines.
func summary(p *cmdline.Place, v *store.View, merged *lander.Report, size summarySize) ([]string, error) {
	var b strings.Builder
	some := *v
	if some.Agents = v.Agents; len(v.Agents) > size.rows {
		some.Agents = WorthSeeing(v)[:size.rows]
	}
	if err := PrintTable(&b, TableSize{Width: size.width, Terminal: size.term}, &some, time.Now()); err != nil {
		return nil, err
	}
	if more := len(v.Agents) - len(some.Agents); more > 0 {
		fmt.Fprintf(&b, "and %s: %s status %s\n", termtext.Count(more, "more agent", "more agents"), p.Env.Calls, v.Identity.Run)
	}
	PrintCauses(&b, v, size.causes)
	PrintNotes(&b, v, size.notes)
	printDenied(&b, v)
	fmt.Fprintln(&b, EndText(v, size.term))
	PrintNext(p, &b, v)
	if landing.ChangedNothing(v) {
		fmt.Fprintln(&b, "no agent changed a file")
	}
	if merged != nil {
		var m strings.Builder
		PrintMerge(p, &m, merged)
		lines := strings.Split(strings.TrimSuffix(m.String(), "\n"), "\n")
		if len(lines) > size.merged {
			more := len(lines) - size.merged
			lines = append(lines[:size.merged], fmt.Sprintf("and %s of the merge", termtext.Count(more, "more line", "more lines")))
		}
		b.WriteString(strings.Join(lines, "\n") + "\n")
	}
	return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n"), nil
}

// WorthSeeing returns the agents, those first that need a person.
func WorthSeeing(v *store.View) []*store.Agent {
	review := session.ReviewOf(v)
	agents := slices.Clone(v.Agents)
	slices.SortStableFunc(agents, func(a, b *store.Agent) int {
		return attention(review, b) - attention(review, a)
	})
	return agents
}

// attention is how much an agent needs to be looked at.
func attention(review string, a *store.Agent) int {
	switch r := a.Status.(type) {
	case *task.Failed:
		return 3
	case *task.Cancelled:
		return 2
	case *task.Completed:
		if r.Patch != nil && landing.Landable(review, a) != nil {
			return 1
		}
	}
	return 0
}

// RowsOf returns the number of screen rows of lines; a width of 0 is no limit.
func RowsOf(lines []string, width int) int {
	if width <= 0 {
		return len(lines)
	}
	n := 0
	for _, line := range lines {
		n += max(1, (terminal.Columns(line)+width-1)/width)
	}
	return n
}

func StatusText(v *store.View) string {
	if v.Waits() {
		return v.QuotaWait().Text(time.Now())
	}
	if v.Reason == "" {
		return string(v.Status)
	}
	if strings.HasPrefix(v.Reason, string(v.Status)+" ") {
		return termtext.Line(v.Reason)
	}
	return fmt.Sprintf("%s (%s)", v.Status, termtext.Line(v.Reason))
}
