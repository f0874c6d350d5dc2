package reviewing

import (
	"fmt"
	"strings"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/task"
	"agentswarm/swarm/tui"
)

// listWidth is the width of the list of classes.
const listWidth = 26

// Lines is the picture.
func (s *Screen) Lines() []string {
	head := fmt.Sprintf("review of run %s  %s", s.book.Run, s.book.progress(s.read))
	lines := []string{s.palette.Paint(tui.Title, termtext.CutEnd(head, s.width))}
	room := max(0, s.height-3)
	left := min(listWidth, s.width/3)
	list := s.list.Draw(room, func(string) string { return "" }, func(i int, selected bool) string { return s.row(s.classes[i], left-1, selected) })
	body := s.body(max(1, s.width-left), room)
	if s.page == helpPage {
		list, left = nil, 0
		body, _ = s.bindings().Help(s.width, room, s.scroll)
	}
	for i := range room {
		a, b := "", ""
		if i < len(list) {
			a = list[i]
		}
		if i < len(body) {
			b = body[i]
		}
		lines = append(lines, a+strings.Repeat(" ", max(0, left-termtext.Columns(a)))+b)
	}
	lines = append(lines, s.message(), s.foot())
	return lines[:min(len(lines), s.height)]
}

// row is a class in the list.
func (s *Screen) row(c *Class, width int, selected bool) string {
	mark := "  "
	if selected {
		mark = "> "
	}
	sign := c.state(s.read)
	text := fmt.Sprintf("%s%s %d× %s", mark, c.ID, len(c.Edits), termtext.Head(c.Edits[0].Hunk.Path, 80))
	if c.Weight > 0 {
		text = fmt.Sprintf("%s%s %d× !%d %s", mark, c.ID, len(c.Edits), c.Weight, termtext.Head(c.Edits[0].Hunk.Path, 80))
	}
	text = termtext.Pad(termtext.CutEnd(text, max(1, width-len(sign)-1)), max(0, width-len(sign)-1))
	text = termtext.CutEnd(text+" "+sign, width)
	switch {
	case selected:
		return s.palette.Paint(tui.Selected, termtext.Pad(text, width))
	case sign == "+":
		return s.palette.Paint(tui.Good, text)
	case sign == "-":
		return s.palette.Paint(tui.Bad, text)
	case c.Weight > 0 || c.Changed:
		return s.palette.Paint(tui.Warning, text)
	}
	return text
}

// body is the right side: the edit, the members of the class, or notes about it.
func (s *Screen) body(width, room int) []string {
	c, e := s.class(), s.edit()
	if e == nil {
		text := "there is no edit"
		if s.search != "" {
			text = "no class has " + s.search + "; esc shows all"
		}
		return []string{termtext.Head(text, width)}
	}
	lines := s.about(c, e, width)
	lines = lines[:min(len(lines), max(0, room/2))]
	room = max(0, room-len(lines))
	switch s.page {
	case membersPage:
		return append(lines, s.members(c, width, room)...)
	case besidePage:
		return append(lines, s.notes(c, width, room)...)
	default:
		return append(lines, s.pane.Draw(s.palette, width, room)...)
	}
}

// about is the head of the right side.
func (s *Screen) about(c *Class, e *Edit, width int) []string {
	var lines []string
	add := func(role tui.Role, text string) {
		for i, part := range termtext.Wrap(termtext.Head(text, 4*width), width-1) {
			if i < 2 {
				lines = append(lines, s.palette.Paint(role, termtext.CutEnd(part, width)))
			}
		}
	}
	add(tui.Title, c.ID+": "+c.Head)
	state := fmt.Sprintf("%s, edit %d of %d", e.Patch, s.at+1, len(c.Edits))
	if e.Verdict != "" {
		state += ", " + string(e.Verdict)
	}
	if e.Withheld {
		state += ", in a file with a mark: decided by itself"
	}
	if s.read[e] {
		state += ", read"
	}
	add(verdictRole(e.Verdict), state)
	for _, text := range e.Reasons {
		add(tui.Warning, text)
	}
	for _, text := range e.Remarks {
		add(tui.Accent, "remark: "+text)
	}
	return lines
}

func verdictRole(v task.Verdict) tui.Role {
	switch v {
	case task.Accepted:
		return tui.Good
	case task.Rejected:
		return tui.Bad
	}
	return tui.Quiet
}

// members lists the edits of a class around the shown edit.
func (s *Screen) members(c *Class, width, room int) []string {
	from := max(0, min(s.at-room/2, len(c.Edits)-room))
	var lines []string
	for i := from; i < len(c.Edits) && len(lines) < room; i++ {
		e := c.Edits[i]
		mark := "  "
		if i == s.at {
			mark = "> "
		}
		place := e.Hunk.Path
		if e.Hunk.NewLine > 0 {
			place = fmt.Sprintf("%s:%d", place, e.Hunk.NewLine)
		}
		text := termtext.CutEnd(fmt.Sprintf("%s%-5s %-8s %s", mark, e.Patch, e.Verdict, termtext.Head(place, width)), width)
		lines = append(lines, s.palette.Paint(verdictRole(e.Verdict), text))
	}
	return lines
}

func (s *Screen) notes(c *Class, width, room int) []string {
	var lines []string
	for _, note := range c.Beside {
		for _, part := range termtext.Wrap(termtext.Line(note), width-1) {
			lines = append(lines, termtext.CutEnd(part, width))
		}
	}
	if len(lines) == 0 {
		lines = []string{termtext.CutEnd("no edits are beside this class", width)}
	}
	s.scroll = min(s.scroll, max(0, len(lines)-room))
	return lines[s.scroll:min(len(lines), s.scroll+room)]
}

// message is the line above the keys.
func (s *Screen) message() string {
	switch {
	case s.prompt != nil:
		return s.prompt.Line(s.width)
	case s.wrong:
		return s.palette.Paint(tui.Bad, termtext.Head(s.said, s.width))
	}
	return s.palette.Paint(tui.Accent, termtext.Head(s.said, s.width))
}

func (s *Screen) foot() string {
	position := s.list.Position()
	keys := s.bindings().Line(max(0, s.width-len(position)-2))
	return s.palette.Paint(tui.Quiet, termtext.CutEnd(termtext.Pad(keys, s.width-len(position))+position, s.width))
}
