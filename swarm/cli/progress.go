package cli

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// Counts is how many agents are in each state.
type Counts struct {
	Queued, Running, Waiting, Completed, Failed, Cancelled int
}

func (c Counts) done() int { return c.Completed + c.Failed + c.Cancelled }

// lines names the states that occur, what needs somebody first and then what
// is going on, in as few lines as the width allows.
func (c Counts) lines(width int) []string {
	var lines []string
	for _, p := range []struct {
		name string
		n    int
	}{
		{"waiting for you", c.Waiting},
		{"running", c.Running},
		{"queued", c.Queued},
		{"completed", c.Completed},
		{"failed", c.Failed},
		{"cancelled", c.Cancelled},
	} {
		if p.n == 0 {
			continue
		}
		part := fmt.Sprintf("%d %s", p.n, p.name)
		last := len(lines) - 1
		if last >= 0 && columns(lines[last])+len(", ")+len(part) <= width {
			lines[last] += ", " + part
		} else {
			lines = append(lines, shortenEnd(part, width))
		}
	}
	return lines
}

// Slow is an agent that has been in its state for long.
type Slow struct {
	ID, Label, State string
	For              time.Duration
}

// Frame is the state of a run at one moment. The caller fills it.
type Frame struct {
	Elapsed time.Duration // since this process began; never goes back
	Counts  Counts
	Total   int
	Spent   string // of the budget; empty where there is none
	Slowest []Slow // longest first
	Note    string // what else there is to say, or nothing
	Hint    string // what can be done about it
	// Typing is set where somebody may be typing below the picture.
	Typing bool
}

// Change is one agent's step into another state.
type Change struct {
	ID, Label, State string
	For              time.Duration // 0: not worth telling
	Note             string        // such as the cause of a failure
}

// line is how a change reads where nothing can be redrawn.
func (c Change) line() string {
	parts := []string{c.ID}
	if c.Label != "" && c.Label != c.ID {
		parts = append(parts, c.Label)
	}
	parts = append(parts, c.State)
	if c.For > 0 {
		parts = append(parts, Duration(c.For))
	}
	line := strings.Join(parts, " ")
	if c.Note != "" {
		line += ": " + c.Note
	}
	return Printable(line)
}

// mostSlow is how many slow agents are worth a line each.
const mostSlow = 8

// render draws a frame in at most height-1 lines of at most width-1 columns.
// The last line is the cursor's, and the last column stays empty because
// terminals disagree about when a full line wraps.
func render(f Frame, width, height int) []string {
	width, height = max(width-1, 1), max(height-1, 1)
	lines := []string{shortenEnd(progressBar(f, width), width)}
	counts := f.Counts.lines(width)
	lines = append(lines, counts[:min(len(counts), height-1)]...)
	notes := noteLines(f, width, height-len(lines))
	slow := min(len(f.Slowest), mostSlow, max(1, height/4), height-len(lines)-len(notes))
	if slow > 0 {
		lines = append(lines, slowLines(f.Slowest[:slow], width)...)
	}
	lines = append(lines, notes...)
	return lines
}

// noteLines are the note and its hint: the note in at most a third of what
// there is room for, the hint where there is room left.
func noteLines(f Frame, width, room int) []string {
	if f.Note == "" || room < 1 {
		return nil
	}
	rest := Printable(f.Note)
	var lines []string
	for most := max(1, room/3); len(lines) < most-1 && columns(rest) > width; {
		line := firstColumns(rest, width)
		if line == "" {
			break // a letter wider than the terminal
		}
		lines = append(lines, line)
		rest = rest[len(line):]
	}
	lines = append(lines, shortenEnd(rest, width))
	if f.Hint != "" && len(lines) < room {
		lines = append(lines, shortenEnd(Printable(f.Hint), width))
	}
	return lines
}

// progressBar is `[#####-----]  37/100  12.3s`; where there is little room the
// figures stay and the bar goes.
func progressBar(f Frame, width int) string {
	const least, most = 10, 60
	done, total := f.Counts.done(), max(f.Total, f.Counts.done())
	figures := fmt.Sprintf("%d/%d  %s", done, total, Duration(f.Elapsed))
	if f.Spent != "" {
		figures += "  " + f.Spent
	}
	room := min(width-columns(figures)-len("[]  "), most)
	if room < least {
		return figures
	}
	full := 0
	if total > 0 {
		full = room * done / total
	}
	return "[" + strings.Repeat("#", full) + strings.Repeat("-", room-full) + "]  " + figures
}

// slowLines lists agents in columns: what is cut where space is short is the
// middle of the label.
func slowLines(slow []Slow, width int) []string {
	t := Table{Columns: []Column{{}, {Flex: true}, {}, {Right: true}}}
	for _, s := range slow {
		t.Row("  "+s.ID, s.Label, s.State, Duration(s.For))
	}
	return t.Lines(width)[1:] // no titles
}

// frameGap makes ten frames a second at most: each is bytes over a line that
// may be slow.
const frameGap = 100 * time.Millisecond

// Progress shows how a run goes on: as a picture redrawn in place where the
// terminal can, else as a line for each change. Its methods may be called from
// several goroutines; it has none of its own, so frames come from the caller's
// clock. Nothing it writes is worth failing for, so write errors are dropped.
type Progress struct {
	term Terminal
	w    io.Writer

	mu     sync.Mutex // guards what follows, and keeps writes whole
	drawn  []string   // the lines that are on the screen
	shown  time.Duration
	latest *Frame // newer than what is drawn
	closed bool
}

// newProgress shows progress on w, whose abilities are term.
func newProgress(w io.Writer, term Terminal) *Progress {
	return &Progress{w: w, term: term}
}

// Show draws a frame, unless the last one is only just drawn: then the frame
// is kept for [Progress.Close] or replaced by the next.
func (p *Progress) Show(f Frame) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || !p.term.Motion {
		return
	}
	if p.early(f.Elapsed) {
		p.latest = &f
		return
	}
	p.draw(f)
}

// Draws reports whether frames are drawn at all.
func (p *Progress) Draws() bool { return p.term.Motion }

// Due reports whether a frame of this moment would be drawn at once, so that
// nobody need make one that is not.
func (p *Progress) Due(elapsed time.Duration) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.closed && p.term.Motion && !p.early(elapsed)
}

// early reports whether the last frame is only just drawn. The caller holds mu.
func (p *Progress) early(elapsed time.Duration) bool {
	gap := elapsed - p.shown
	return p.drawn != nil && gap >= 0 && gap < frameGap
}

// Line tells of a change. Where frames are drawn they show it already.
func (p *Progress) Line(c Change) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.term.Motion {
		return
	}
	_, _ = io.WriteString(p.w, c.line()+"\n")
}

// Say prints a line that stays, above the picture.
func (p *Progress) Say(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	text = Printable(text)
	if p.closed || p.drawn == nil {
		_, _ = io.WriteString(p.w, text+"\n")
		return
	}
	width, height := p.term.Size()
	_, _ = io.WriteString(p.w, p.up(width, height)+text+"\x1b[K\n"+p.picture())
}

// Close leaves the last frame on the screen with the cursor below it.
func (p *Progress) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	if p.latest != nil {
		p.draw(*p.latest)
	}
	p.closed = true
}

// draw replaces what is on the screen by f in one write, so that no reader of
// the terminal ever sees half a picture.
//
// Where somebody may be typing, the line below the picture is theirs, as long
// as the picture stays as high as it was.
func (p *Progress) draw(f Frame) {
	const saveCursor, restoreCursor = "\x1b7", "\x1b8"
	width, height := p.term.Size()
	up, rows := p.up(width, height), p.rows(width, height)
	drawn := p.drawn != nil
	p.drawn, p.shown, p.latest = render(f, width, height), f.Elapsed, nil
	if f.Typing && drawn && p.rows(width, height) == rows {
		_, _ = io.WriteString(p.w, saveCursor+up+p.lines()+restoreCursor)
		return
	}
	_, _ = io.WriteString(p.w, up+p.picture())
}

// Typed tells that a line was typed below the picture, which moved the cursor
// down.
func (p *Progress) Typed(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.drawn == nil {
		return
	}
	width, _ := p.term.Size()
	rows := columns(Printable(line))/max(width, 1) + 1
	_, _ = fmt.Fprintf(p.w, "\r\x1b[%dA\x1b[J", rows)
}

// tellWidth bounds what a terminal is asked to tell.
const tellWidth = 200

// Tell has the terminal tell somebody who looks elsewhere, if it can (OSC 9).
// With bell it rings, too. It says nothing where nothing can be drawn.
func (p *Progress) Tell(text string, bell bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	// The console of Linux would print the sequence.
	if p.closed || !p.term.Motion || p.term.getenv("TERM") == "linux" {
		return
	}
	text = "\x1b]9;" + program + ": " + shortenEnd(Printable(text), tellWidth) + "\a"
	if bell {
		text += "\a"
	}
	_, _ = io.WriteString(p.w, text)
}

// picture is the lines to draw, each over what was there before, and nothing
// below them.
func (p *Progress) picture() string {
	const clearBelow = "\x1b[J"
	return p.lines() + clearBelow
}

func (p *Progress) lines() string {
	const clearLine = "\x1b[K"
	return strings.Join(p.drawn, clearLine+"\n") + clearLine + "\n"
}

// up moves the cursor to where the picture begins.
func (p *Progress) up(width, height int) string {
	if p.drawn == nil {
		return ""
	}
	rows := p.rows(width, height)
	if rows == 0 {
		return "\r"
	}
	return fmt.Sprintf("\r\x1b[%dA", rows)
}

// rows is how many rows the picture takes. Terminals that became narrower
// have wrapped the old lines meanwhile, so rows are counted at today's width.
func (p *Progress) rows(width, height int) int {
	rows := 0
	for _, line := range p.drawn {
		rows += max(1, (columns(line)+width-1)/max(width, 1))
	}
	return min(rows, max(height-1, 0)) // what scrolled away cannot be reached
}
