package follow

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"agentswarm/internal/terminal"
	"agentswarm/internal/termtext"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/view"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// Row is an agent in a frame.
type Row struct {
	ID, Label, State string
	Style            terminal.Style
	For              time.Duration // in its state
	Tokens           int64
	USD              float64
	Doing            string // the latest tool or line; of a failed agent the cause
}

// Frame is the state of a run at a moment. The caller fills it.
type Frame struct {
	Elapsed time.Duration // since this process began; never goes back
	Counts  store.Counts
	Slots   string // why agents wait for a slot, such as p/m: 4 of 4
	// Growing is set where more agents may start: the total is no total yet.
	Growing bool
	Phase   string        // of its script; empty: none
	Left    time.Duration // until all have ended; 0: not known
	Spent   string        // tokens and money; empty: none
	Failed  []Row         // the latest first
	Live    []Row         // in the order in which they are shown
	Note    string        // a further notice; empty: none
	Hint    string        // a command or key that helps
	// Typing is set where the user may be typing below the picture.
	Typing bool
}

// drawFrame draws a frame in at most height-1 lines of at most width-1 columns.
// The last line is the cursor's, and the last column stays empty because
// terminals disagree about when a full line wraps. Failed agents come first, and
// take at most a third of the rows while others are live.
func drawFrame(t terminal.Output, f Frame, width, height int) []string {
	width, height = max(width-1, 1), max(height-1, 1)
	lines := []string{progressBar(t, f, width)}
	counts := countLines(t, f, width)
	lines = append(lines, counts[:min(len(counts), height-1)]...)
	notes := noteLines(f, width, height-len(lines))
	rows := agentLines(t, f, width, height-len(lines)-len(notes))
	return slices.Concat(lines, rows, notes)
}

// agentLines are the rows of agents, failed agents first, in at most room lines.
func agentLines(t terminal.Output, f Frame, width, room int) []string {
	if room < 1 {
		return nil
	}
	failed, live := f.Failed, f.Live
	if most := max(1, room/3); len(failed) > most && len(failed)+len(live) > room {
		failed = failed[:max(most, min(len(failed), room-len(live)))]
	}
	live = live[:min(len(live), room-len(failed))]
	hidden := len(f.Failed) + len(f.Live) - len(failed) - len(live)
	if hidden > 0 && room > 1 { // the line that says so takes a row
		if hidden++; len(live) > 0 {
			live = live[:len(live)-1]
		} else {
			failed = failed[:len(failed)-1]
		}
	}
	shown := slices.Concat(failed, live)
	lines := rowLines(shown, width)
	for i, text := range lines {
		lines[i] = t.Paint(shown[i].Style, text)
	}
	if hidden > 0 && room > 1 {
		more := fmt.Sprintf("  and %s: %s status", termtext.Count(hidden, "more agent", "more agents"), cmdline.Program)
		lines = append(lines, t.Paint(terminal.StyleQuiet, terminal.ShortenEnd(more, width)))
	}
	return lines
}

// rowLines lists agents in columns. A column that is empty in all rows is left
// out. Where space is short, the middle of the longest text is cut.
func rowLines(rows []Row, width int) []string {
	if len(rows) == 0 {
		return nil
	}
	t := terminal.Table{Columns: []terminal.Column{{}, {Flex: true}, {}, {Right: true}, {Right: true}, {Right: true}, {Flex: true}}}
	for _, r := range rows {
		t.Row("  "+r.ID, r.Label, r.State, termtext.Duration(r.For), termtext.Tokens(r.Tokens), view.DollarsText(r.USD), r.Doing)
	}
	t.DropEmpty()
	return t.Lines(width)[1:] // no titles
}

// countLines names the states that occur, those that need a person first, in as
// few lines as the width allows.
func countLines(t terminal.Output, f Frame, width int) []string {
	n := f.Counts
	slot := task.WaitingSlot.Text()
	if f.Slots != "" {
		slot += " (" + termtext.Line(f.Slots) + ")"
	}
	var lines []string
	for _, p := range []struct {
		name  string
		n     int
		style terminal.Style
	}{
		{"failed", n.Failed, terminal.StyleError},
		{task.Waiting.Text(), n.Of[task.Waiting], terminal.StyleWarning},
		{task.Working.Text(), n.Of[task.Working], terminal.StylePlain},
		{task.Checking.Text(), n.Of[task.Checking], terminal.StylePlain},
		{task.WaitingCheck.Text(), n.Of[task.WaitingCheck], terminal.StylePlain},
		{slot, n.Of[task.WaitingSlot], terminal.StylePlain},
		{task.WaitingQuota.Text(), n.Of[task.WaitingQuota], terminal.StyleWarning},
		{task.Queued.Text(), n.Of[task.Queued], terminal.StylePlain},
		{"completed", n.Completed, terminal.StyleGood},
		{"cancelled", n.Cancelled, terminal.StyleWarning},
	} {
		if p.n == 0 {
			continue
		}
		part := t.Paint(p.style, terminal.ShortenEnd(fmt.Sprintf("%d %s", p.n, p.name), width))
		last := len(lines) - 1
		if last >= 0 && terminal.Columns(lines[last])+len(", ")+terminal.Columns(part) <= width {
			lines[last] += ", " + part
		} else {
			lines = append(lines, part)
		}
	}
	return lines
}

// progressBar is `[####x-----]  37/100  12.3s`; where there is little room the
// figures stay and the bar goes. Failed agents are the x. Cancelled agents are not
// done. Without a total that holds there is no bar.
func progressBar(t terminal.Output, f Frame, width int) string {
	const least, most = 10, 60
	n := f.Counts
	total := n.Total()
	figures := figuresText(f)
	room := min(width-terminal.Columns(figures)-len("[]  "), most)
	if room < least || f.Growing {
		return terminal.ShortenEnd(figures, width)
	}
	completed, failed := 0, 0
	if total > 0 {
		completed = room * n.Completed / total
		failed = room*n.Done()/total - completed
	}
	good, bad := strings.Repeat("#", completed), strings.Repeat("x", failed)
	rest := strings.Repeat("-", room-completed-failed) + "]  " + figures
	return "[" + t.Paint(terminal.StyleGood, good) + t.Paint(terminal.StyleError, bad) + rest
}

// figuresText is how many are done of how many, for how long, how long it still
// takes, the costs, and the phase of a script.
func figuresText(f Frame) string {
	figures := fmt.Sprintf("%d/%d", f.Counts.Done(), f.Counts.Total())
	if f.Growing {
		figures = fmt.Sprintf("%d done of %d so far", f.Counts.Done(), f.Counts.Total())
	}
	parts := []string{figures, termtext.Duration(f.Elapsed)}
	if f.Left > 0 {
		parts = append(parts, "~"+termtext.Duration(f.Left.Round(time.Second))+" left")
	}
	if f.Spent != "" {
		parts = append(parts, f.Spent)
	}
	if f.Phase != "" {
		parts = append(parts, termtext.Line(f.Phase))
	}
	return strings.Join(parts, "  ")
}
