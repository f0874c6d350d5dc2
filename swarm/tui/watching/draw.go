package watching

import (
	"fmt"
	"strings"
	"time"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/task"
	"agentswarm/swarm/tui"
)

// detailLines is how many lines tell of the selected agent below the list.
const detailLines = 2

// Lines is the picture.
func (s *Screen) Lines() []string {
	if s.snap == nil {
		return []string{termtext.CutEnd("reading the run…", s.width)}
	}
	top := s.head()
	bottom := s.foot()
	room := max(0, s.height-len(top)-len(bottom))
	body := s.body(room)
	for len(body) < room {
		body = append(body, "")
	}
	all := append(append(top, body[:room]...), bottom...)
	return all[:min(len(all), s.height)]
}

// head is the first lines: the run with its figures, and the groups.
func (s *Screen) head() []string {
	p, n := s.palette, s.snap
	figures := fmt.Sprintf("%d/%d done", n.Done, n.Total)
	if n.Growing {
		figures = fmt.Sprintf("%d done of %d so far", n.Done, n.Total)
	}
	parts := []string{figures, termtext.Duration(n.Took)}
	if n.Left > 0 {
		parts = append(parts, "~"+termtext.Duration(n.Left.Round(time.Second))+" left")
	}
	if n.Spent != "" {
		parts = append(parts, n.Spent)
	}
	if n.Phase != "" {
		parts = append(parts, "phase "+termtext.Head(n.Phase, 30))
	}
	title := "run " + n.Run + " " + termtext.Head(n.Status, 60)
	first := termtext.CutEnd(title+"  "+strings.Join(parts, "  "), s.width)
	return []string{p.Paint(tui.Title, first), s.counts()}
}

// counts names the groups with their numbers of agents.
func (s *Screen) counts() string {
	count := map[Group]int{}
	for i := range s.snap.Rows {
		count[s.snap.Rows[i].Group]++
	}
	line, left := "", s.width
	add := func(role tui.Role, text string) {
		if line != "" {
			text = " · " + text
		}
		if n := termtext.Columns(text); n <= left {
			line += s.palette.Paint(role, text)
			left -= n
		}
	}
	for _, g := range groups() {
		if count[g] > 0 {
			add(roleOf(g), fmt.Sprintf("%d %s", count[g], g))
		}
	}
	if s.filter != "" {
		add(tui.Accent, fmt.Sprintf("filter %q: %d", termtext.Head(s.filter, 24), len(s.rows)))
	}
	if s.order != byState {
		add(tui.Quiet, "by "+s.order.String())
	}
	return line
}

func roleOf(g Group) tui.Role {
	switch g {
	case NeedsYou:
		return tui.Warning
	case Failed:
		return tui.Bad
	case Ready:
		return tui.Good
	case Queued, Done:
		return tui.Quiet
	default:
		return tui.Plain
	}
}

// foot is the last lines: the selected agent, a message, prompt or question, and
// the keys.
func (s *Screen) foot() []string {
	var lines []string
	if s.page == agentsPage && s.height >= 12 && s.width < wideList {
		lines = s.detail()
	}
	message := ""
	switch {
	case s.prompt != nil:
		message = s.prompt.Line(s.width)
	case s.confirm != nil:
		message = s.palette.Paint(tui.Warning, termtext.CutEnd(s.confirm.text, s.width))
	case s.said != "":
		role := tui.Accent
		if s.wrong {
			role = tui.Bad
		}
		message = s.palette.Paint(role, termtext.Head(s.said, s.width))
	case s.snap.Note != "":
		message = s.palette.Paint(tui.Warning, termtext.Head(s.snap.Note, s.width))
	case !s.snap.Live:
		message = s.palette.Paint(tui.Quiet, termtext.CutEnd("the run has ended; q leaves, swarm review opens its patches", s.width))
	}
	position := s.list.Position()
	keys := s.bindings().Line(max(0, s.width-len(position)-2))
	last := termtext.Pad(keys, s.width-len(position)) + position
	return append(lines, message, s.palette.Paint(tui.Quiet, termtext.CutEnd(last, s.width)))
}

// detail tells of the selected agent below the list.
func (s *Screen) detail() []string {
	lines := []string{s.palette.Paint(tui.Quiet, strings.Repeat("─", s.width))}
	r := s.selected()
	text := ""
	role := tui.Plain
	switch {
	case r == nil:
	case r.Question != nil:
		role = tui.Warning
		text = r.Question.Whole
		if !s.fits(r.Question) {
			text = r.Question.Wants + " (enter shows all)"
		}
		text = r.Question.ID + " wants " + text
	default:
		text = r.Doing
	}
	wrapped := termtext.Wrap(termtext.Head(text, detailLines*s.width), s.width-1)
	for i := range detailLines {
		line := ""
		if i < len(wrapped) {
			line = s.palette.Paint(role, termtext.CutEnd(wrapped[i], s.width))
		}
		lines = append(lines, line)
	}
	return lines
}

// body is the page in at most room lines.
func (s *Screen) body(room int) []string {
	switch s.page {
	case timelinePage:
		return s.timeline(room)
	case landingsPage:
		return s.paged(room, s.landings())
	case agentPage:
		return s.paged(room, s.about())
	case diffPage:
		return s.diff.Draw(s.palette, s.width, room)
	case helpPage:
		lines, total := s.bindings().Help(s.width, room, s.scroll)
		s.scroll = min(s.scroll, max(0, total-room))
		return lines
	case agentsPage:
	}
	if s.width < wideList {
		return s.agents(s.width, room)
	}
	left := s.width * 3 / 5
	list, about := s.agents(left-2, room), s.aboutIn(s.width-left)
	lines := make([]string, room)
	for i := range lines {
		a, b := "", ""
		if i < len(list) {
			a = list[i]
		}
		if i < len(about) {
			b = about[i]
		}
		lines[i] = a + strings.Repeat(" ", max(0, left-2-termtext.Columns(a))) + s.palette.Paint(tui.Quiet, "│ ") + b
	}
	return lines
}

// wideList is the width from which the selected agent is told beside the list.
const wideList = tui.SideBySide

func (s *Screen) paged(room int, lines []string) []string {
	s.scroll = min(s.scroll, max(0, len(lines)-room))
	if s.page == agentPage && s.scroll+room >= len(lines) {
		if r := s.selected(); r != nil && r.Question != nil {
			s.whole = r.Question.ID
		}
	}
	return lines[s.scroll:min(len(lines), s.scroll+room)]
}

// agents is the list.
func (s *Screen) agents(width, room int) []string {
	if len(s.rows) == 0 {
		text := "no agent so far"
		if s.filter != "" {
			text = "no agent matches the filter; esc drops it"
		}
		return []string{termtext.CutEnd(text, width)}
	}
	n := s.columns(width)
	return s.list.Draw(room, func(group string) string {
		return s.palette.Paint(roleOf(Group(group)), termtext.CutEnd(group, width))
	}, func(i int, selected bool) string {
		line := s.row(s.rows[i], n, selected)
		line = termtext.CutEnd(line, width)
		if selected {
			return s.palette.Paint(tui.Selected, termtext.Pad(line, width))
		}
		return s.palette.Paint(rowRole(s.rows[i]), line)
	})
}

func rowRole(r *Row) tui.Role {
	switch r.Group {
	case NeedsYou, Failed:
		return roleOf(r.Group)
	case Queued, Done:
		return tui.Quiet
	default:
		return tui.Plain
	}
}

// widths are those of the columns of the list.
type widths struct{ id, label, state, took, tokens, money, doing int }

// columns divides a width among the columns.
func (s *Screen) columns(width int) widths {
	w := widths{}
	for _, r := range s.rows {
		w.id = max(w.id, len(r.Key()))
		w.state = max(w.state, len(stateOf(r)))
		w.took = max(w.took, len(termtext.Duration(r.For)))
		w.tokens = max(w.tokens, len(termtext.Tokens(r.Tokens)))
		w.money = max(w.money, len(dollars(r.USD)))
	}
	w.state = min(w.state, 16)
	rest := width - 2 - w.id - w.state - w.took - w.tokens - w.money - 6
	w.label = min(max(rest*2/5, 8), 40)
	w.doing = max(rest-w.label, 0)
	return w
}

func stateOf(r *Row) string {
	if r.Landing != "" {
		return r.Landing
	}
	return r.State
}

func dollars(usd float64) string {
	if usd <= 0 {
		return ""
	}
	return task.Dollars(usd)
}

// row is a row of the list without colors.
func (s *Screen) row(r *Row, w widths, selected bool) string {
	mark := "  "
	if selected {
		mark = "> "
	}
	doing := r.Doing
	if r.Questions > 1 {
		doing = fmt.Sprintf("(%d) %s", r.Questions, doing[:min(len(doing), 4000)])
	}
	parts := []string{
		mark + termtext.Pad(r.Key(), w.id), termtext.Pad(termtext.Head(r.Label, w.label), w.label),
		termtext.Pad(termtext.CutEnd(stateOf(r), w.state), w.state), right(termtext.Duration(r.For), w.took),
	}
	if w.tokens > 0 {
		parts = append(parts, right(termtext.Tokens(r.Tokens), w.tokens))
	}
	if w.money > 0 {
		parts = append(parts, right(dollars(r.USD), w.money))
	}
	return strings.TrimRight(strings.Join(append(parts, termtext.Head(doing, w.doing)), " "), " ")
}

func right(text string, width int) string {
	return strings.Repeat(" ", max(0, width-len(text))) + text
}

// about tells all of the selected agent.
func (s *Screen) about() []string { return s.aboutIn(s.width) }

// mostQuestion bounds the text of a question, in bytes.
const mostQuestion = 64 << 10

func (s *Screen) aboutIn(width int) []string {
	r := s.selected()
	if r == nil {
		return nil
	}
	var lines []string
	add := func(role tui.Role, text string) {
		for line := range strings.Lines(text) {
			for _, part := range termtext.Wrap(termtext.Line(strings.TrimRight(line, "\n")), width-1) {
				lines = append(lines, s.palette.Paint(role, termtext.CutEnd(part, width)))
			}
		}
	}
	add(tui.Title, r.Key()+"  "+r.Label[:min(len(r.Label), 2000)])
	state := r.State + ", " + termtext.Duration(r.For)
	if r.Attempt > 1 {
		state += fmt.Sprintf(", attempt %d", r.Attempt)
	}
	for _, text := range []string{r.Landing, termtext.Tokens(r.Tokens), dollars(r.USD)} {
		if text != "" {
			state += ", " + text
		}
	}
	add(rowRole(r), state)
	if r.Question == nil {
		add(tui.Plain, r.Doing[:min(len(r.Doing), 8000)])
		return lines
	}
	add(tui.Warning, "")
	more := ""
	if r.Questions > 1 {
		more = fmt.Sprintf(" (%d more questions wait)", r.Questions-1)
	}
	add(tui.Warning, r.Question.ID+" wants:"+more)
	whole := r.Question.Whole
	if len(whole) > mostQuestion {
		whole = whole[:mostQuestion] + "\nthe rest is too long to show: swarm answer " + r.Question.ID
	}
	add(tui.Plain, whole)
	return lines
}

// landings are the lines about landings.
func (s *Screen) landings() []string {
	if len(s.snap.Landings) == 0 {
		return []string{termtext.CutEnd("nothing has landed so far", s.width)}
	}
	var lines []string
	for _, text := range s.snap.Landings {
		role := tui.Plain
		switch {
		case strings.Contains(text, "failed") || strings.Contains(text, "refused") || strings.Contains(text, "did not"):
			role = tui.Bad
		case strings.Contains(text, "landed") || strings.Contains(text, "passed"):
			role = tui.Good
		}
		lines = append(lines, s.palette.Paint(role, termtext.Head(text, s.width)))
	}
	return lines
}
