package follow

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"agentswarm/internal/terminal"
	"agentswarm/internal/termtext"
	"agentswarm/swarm/cli/cmdline"
)

// Change is a change of an agent's state.
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
		parts = append(parts, termtext.Duration(c.For))
	}
	line := strings.Join(parts, " ")
	if c.Note != "" {
		line += ": " + c.Note
	}
	return termtext.Line(line)
}

// noteLines are the note and its hint: the note in at most a third of the room,
// the hint in the room that is left.
func noteLines(f Frame, width, room int) []string {
	if f.Note == "" || room < 1 {
		return nil
	}
	rest := termtext.Line(f.Note)
	var lines []string
	for most := max(1, room/3); len(lines) < most-1 && terminal.Columns(rest) > width; {
		line := terminal.FirstColumns(rest, width)
		if line == "" {
			break // a letter wider than the terminal
		}
		lines = append(lines, line)
		rest = rest[len(line):]
	}
	lines = append(lines, terminal.ShortenEnd(rest, width))
	if f.Hint != "" && len(lines) < room {
		lines = append(lines, terminal.ShortenEnd(termtext.Line(f.Hint), width))
	}
	return lines
}

// frameGap makes ten frames a second at most: each is bytes over a line that
// may be slow.
const frameGap = 100 * time.Millisecond

// Progress shows how a run goes on: as a picture redrawn in place where the
// terminal can, else as a line for each change. Its methods may be called from
// several goroutines; it has none of its own, so frames come from the caller's
// clock. Nothing it writes is worth failing for, so write errors are dropped.
type Progress struct {
	term terminal.Output
	w    io.Writer

	mu     sync.Mutex // guards the fields below, and keeps writes whole
	drawn  []string   // the lines that are on the screen
	shown  time.Duration
	latest *Frame // newer than the drawn frame
	closed bool
	quiet  bool // changes of agents are neither drawn nor printed
}

// newProgress shows progress on w, whose abilities are term.
func newProgress(w io.Writer, term terminal.Output) *Progress {
	return &Progress{w: w, term: term}
}

// Show draws a frame, unless the last frame has only just been drawn. Then it
// keeps the frame for [Progress.Close] or the next frame.
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

// Due reports whether a frame of this moment would be drawn at once, so that no
// frame is made in vain.
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
	if p.closed || p.term.Motion || p.quiet {
		return
	}
	_, _ = io.WriteString(p.w, c.line()+"\n")
}

// Say prints a line that stays, above the picture.
func (p *Progress) Say(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	text = termtext.Line(text)
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

// draw replaces the screen's picture by f in a single write, so that no reader
// of the terminal ever sees half a picture.
//
// If a person may be typing, the line below the picture is theirs, as long as
// the picture keeps its height.
func (p *Progress) draw(f Frame) {
	const saveCursor, restoreCursor = "\x1b7", "\x1b8"
	width, height := p.term.Size()
	up, rows := p.up(width, height), p.rows(width, height)
	drawn := p.drawn != nil
	p.drawn, p.shown, p.latest = drawFrame(p.term, f, width, height), f.Elapsed, nil
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
	rows := terminal.Columns(termtext.Line(line))/max(width, 1) + 1
	_, _ = fmt.Fprintf(p.w, "\r\x1b[%dA\x1b[J", rows)
}

// TellWidth bounds the text of a notification.
const TellWidth = 200

// Notify has the terminal tell somebody who looks elsewhere, if it can (OSC 9).
// With bell it rings, too. It says nothing where nothing can be drawn.
func (p *Progress) Notify(text string, bell bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	// The console of Linux would print the sequence.
	if p.closed || !p.term.Motion || p.term.Getenv("TERM") == "linux" {
		return
	}
	text = "\x1b]9;" + cmdline.Program + ": " + terminal.ShortenEnd(termtext.Line(text), TellWidth) + "\a"
	if bell {
		text += "\a"
	}
	_, _ = io.WriteString(p.w, text)
}

// picture is the lines to draw, each over the earlier text, and a clear area
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
		rows += max(1, (terminal.Columns(line)+width-1)/max(width, 1))
	}
	return min(rows, max(height-1, 0)) // rows above the screen cannot be reached
}
