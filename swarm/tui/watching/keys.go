package watching

import (
	"context"
	"fmt"
	"strings"
	"time"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/tui"
)

// sightTime is how long a question must have been in sight to be answered.
const sightTime = 500 * time.Millisecond

// bindings are the keys of the present page.
func (s *Screen) bindings() tui.Bindings {
	quiet := func(do func()) func() tui.Effect {
		return func() tui.Effect { do(); return nil }
	}
	all := tui.Bindings{
		{Keys: []tui.Key{"?"}, Short: "help", Help: "show or leave this list of keys", Do: quiet(func() { s.turn(helpPage) })},
		{Keys: []tui.Key{"q", "ctrl+c"}, Short: "leave", Help: "leave; the run continues", Do: func() tui.Effect { return &tui.Quit{} }},
		{Keys: []tui.Key{"a"}, Short: "approve", Help: "allow the action of the agent", Do: func() tui.Effect { return s.answer(true) }},
		{Keys: []tui.Key{"x"}, Short: "deny", Help: "deny it", Do: func() tui.Effect { return s.answer(false) }},
		{Keys: []tui.Key{"c"}, Short: "answer", Help: "answer a question in words", Do: func() tui.Effect { return s.askWords() }},
		{Keys: []tui.Key{"d"}, Short: "diff", Help: "show the patch of the agent", Do: s.readPatch},
		{Keys: []tui.Key{"m"}, Short: "send", Help: "send a message to the running agent", Do: func() tui.Effect { return s.askText(Send, "message to ") }},
		{Keys: []tui.Key{"r"}, Short: "retry", Help: "give an ended agent another attempt, with feedback", Do: func() tui.Effect { return s.askText(Retry, "feedback for the retry of ") }},
		{Keys: []tui.Key{"X"}, Short: "cancel", Help: "end the agent; its work is captured", Do: s.askCancel},
		{Keys: []tui.Key{"A"}, Help: "attach this terminal to that of the agent; ctrl-] leaves it", Do: func() tui.Effect { return s.enter(Attach) }},
		{Keys: []tui.Key{"t"}, Help: "open a shell in the workspace, or in a copy of it", Do: func() tui.Effect { return s.enter(Shell) }},
		{Keys: []tui.Key{"o"}, Help: "open your editor there", Do: func() tui.Effect { return s.enter(Edit) }},
		{Keys: []tui.Key{"enter"}, Help: "show all about the agent, with the whole question", Do: quiet(func() { s.turn(agentPage) })},
		{Keys: []tui.Key{"esc"}, Help: "go back; at the list, drop the filter", Do: quiet(s.back)},
		{Keys: []tui.Key{"tab"}, Help: "agents, timeline, landings", Do: quiet(s.turnOver)},
		{Keys: []tui.Key{"f"}, Help: "show only agents with some words, such as failed or parser", Do: quiet(s.askFilter)},
		{Keys: []tui.Key{"/"}, Help: "search; n and N: next and previous", Do: quiet(s.askSearch)},
		{Keys: []tui.Key{"n"}, Help: "next match", Do: quiet(func() { s.find(true) })},
		{Keys: []tui.Key{"N"}, Help: "previous match", Do: quiet(func() { s.find(false) })},
		{Keys: []tui.Key{"s"}, Help: "sort groups by time, name, tokens, money", Do: quiet(s.sort)},
		{Keys: []tui.Key{"j", "down"}, Help: "down", Do: func() tui.Effect { return s.down(1) }},
		{Keys: []tui.Key{"k", "up"}, Help: "up", Do: func() tui.Effect { return s.down(-1) }},
		{Keys: []tui.Key{"J"}, Help: "next group; in a diff, next change", Do: quiet(func() { s.leap(true) })},
		{Keys: []tui.Key{"K"}, Help: "previous group or change", Do: quiet(func() { s.leap(false) })},
		{Keys: []tui.Key{"pgdown", "ctrl+d"}, Help: "down half a page", Do: func() tui.Effect { return s.down(s.height / 2) }},
		{Keys: []tui.Key{"pgup", "ctrl+u"}, Help: "up half a page", Do: func() tui.Effect { return s.down(-s.height / 2) }},
		{Keys: []tui.Key{"g", "home"}, Help: "to the first", Do: func() tui.Effect { return s.down(-1 << 30) }},
		{Keys: []tui.Key{"G", "end"}, Help: "to the last", Do: func() tui.Effect { return s.down(1 << 30) }},
		{Keys: []tui.Key{"left", "h"}, Help: "in a diff, to the left", Do: quiet(func() { s.diff.Shift(-8) })},
		{Keys: []tui.Key{"right", "l"}, Help: "in a diff, to the right", Do: quiet(func() { s.diff.Shift(8) })},
		{Keys: []tui.Key{"ctrl+z"}, Help: "suspend", Do: quiet(func() {})},
	}
	return all
}

// turn shows a page, or leaves it.
func (s *Screen) turn(to page) {
	if s.page == to {
		to = agentsPage
	}
	s.page, s.scroll = to, 0
}

func (s *Screen) turnOver() {
	s.scroll = 0
	switch s.page {
	case agentsPage:
		s.page = timelinePage
	case timelinePage:
		s.page = landingsPage
	default:
		s.page = agentsPage
	}
}

func (s *Screen) back() {
	if s.page != agentsPage {
		s.page, s.scroll = agentsPage, 0
		return
	}
	s.filter = ""
	s.arrange()
}

// down moves the selection, or scrolls the page that has none.
func (s *Screen) down(lines int) tui.Effect {
	switch s.page {
	case agentsPage, timelinePage:
		return s.move(lines)
	case diffPage:
		s.diff.Scroll(lines)
	default:
		s.scroll = max(0, min(s.scroll+lines, 1<<20)) // drawing bounds it
	}
	return nil
}

func (s *Screen) leap(forward bool) {
	if s.page == diffPage {
		s.diff.NextHunk(forward)
		return
	}
	s.list.NextGroup(forward)
	s.sight()
}

func (s *Screen) sort() {
	s.order = (s.order + 1) % orders
	s.arrange()
	s.notice("sorted by "+s.order.String(), nil)
}

func (s *Screen) askFilter() {
	s.page = agentsPage
	s.prompt = &tui.Prompt{Label: "filter: ", Text: s.filter, Changed: func(text string) {
		s.filter = text
		s.arrange()
	}}
}

func (s *Screen) askSearch() {
	s.prompt = &tui.Prompt{Label: "search: ", Done: func(text string) tui.Effect {
		if s.search = text; text != "" {
			s.find(true)
		}
		return nil
	}}
}

// agent is the selected agent; nil, with a message, where there is none.
func (s *Screen) agent() *Row {
	r := s.selected()
	if r == nil || r.ID == "" {
		s.notice("no agent is selected", nil)
		return nil
	}
	return r
}

// asks is the selected row, if a person may answer its question now.
func (s *Screen) asks() *Row {
	r := s.selected()
	switch {
	case r == nil || r.Question == nil:
		s.notice("no question waits here", nil)
	case s.clock().Sub(s.sighted) < sightTime:
		s.notice(r.Question.ID+" has only just been asked; look at it and press the key again", nil)
	case len(r.Question.Whole) > mostQuestion:
		s.notice("the question is too long to show here: swarm answer "+r.Question.ID, nil)
	case s.page != agentPage && !s.fits(r.Question) && s.whole != r.Question.ID:
		s.turn(agentPage)
		s.notice("this is the whole question; press the key again", nil)
	default:
		return r
	}
	return nil
}

// fits reports whether the line of a question says all of it.
func (s *Screen) fits(q *Question) bool {
	text := strings.TrimSpace(q.Whole)
	return len(text) <= 8*detailLines*s.width && !strings.Contains(text, "\n") && termtext.Columns(termtext.Line(text)) <= detailLines*(s.width-2)
}

func (s *Screen) answer(allow bool) tui.Effect {
	r := s.asks()
	if r == nil {
		return nil
	}
	if r.Question.Words {
		return s.askWords()
	}
	return s.give(*r.Question, Answer{Allow: allow})
}

func (s *Screen) give(q Question, a Answer) tui.Effect {
	return &tui.Work{Do: func(ctx context.Context) any {
		said, err := s.actions.Answer(ctx, q, a)
		return done{said, err}
	}}
}

func (s *Screen) askWords() tui.Effect {
	r := s.asks()
	if r == nil {
		return nil
	}
	q := *r.Question
	label := "answer " + q.ID + ": "
	if !q.Words {
		label = "answer " + q.ID + ", yes or no, and why: "
	}
	s.prompt = &tui.Prompt{Label: label, Done: func(text string) tui.Effect {
		text = strings.TrimSpace(text)
		if text == "" {
			return nil
		}
		return s.give(q, Answer{Text: text})
	}}
	return nil
}

// askText asks for the text of an action on the selected agent.
func (s *Screen) askText(v Verb, label string) tui.Effect {
	r := s.agent()
	switch {
	case r == nil:
		return nil
	case v == Send && !r.Running:
		s.notice(string(r.ID)+" has ended; r tries it again with a text", nil)
		return nil
	case v == Retry && r.Running:
		s.notice(string(r.ID)+" has not ended; m sends it a message", nil)
		return nil
	}
	id := r.ID
	s.prompt = &tui.Prompt{Label: label + string(id) + ": ", Done: func(text string) tui.Effect {
		text = strings.TrimSpace(text)
		if text == "" && v == Send {
			return nil
		}
		act := Act{Verb: v, Agent: id, Text: text}
		if v == Retry && !s.snap.Live {
			return s.inFront(act) // the attempt runs in the command
		}
		return s.beside(act)
	}}
	return nil
}

func (s *Screen) askCancel() tui.Effect {
	r := s.agent()
	if r == nil {
		return nil
	}
	if !r.Running {
		s.notice(string(r.ID)+" has ended", nil)
		return nil
	}
	act := Act{Verb: Cancel, Agent: r.ID}
	s.confirm = &confirm{
		text: fmt.Sprintf("cancel %s (%s)? y cancels it", r.ID, termtext.Head(r.Label, 40)),
		do:   func() tui.Effect { return s.beside(act) },
	}
	return nil
}

func (s *Screen) beside(act Act) tui.Effect {
	s.notice(string(act.Verb)+" "+string(act.Agent)+"…", nil)
	return &tui.Work{Do: func(ctx context.Context) any {
		said, err := s.actions.Do(ctx, act)
		return done{said, err}
	}}
}

// enter gives the terminal to an action on the selected agent.
func (s *Screen) enter(v Verb) tui.Effect {
	r := s.agent()
	if r == nil {
		return nil
	}
	act := Act{Verb: v, Agent: r.ID}
	if h := s.diff.Current(); v == Edit && s.page == diffPage && h != nil {
		act.Agent, act.Text, act.Line = s.diffOf, h.Path, h.NewLine
	}
	return s.inFront(act)
}

func (s *Screen) inFront(act Act) tui.Effect {
	return &tui.Foreground{Do: func(ctx context.Context) any {
		said, err := s.actions.Enter(ctx, act)
		return done{said, err}
	}}
}

func (s *Screen) readPatch() tui.Effect {
	if s.page == diffPage {
		s.back()
		return nil
	}
	r := s.agent()
	if r == nil {
		return nil
	}
	if !r.Patch {
		s.notice(string(r.ID)+" has no patch so far; t opens a shell in its workspace", nil)
		return nil
	}
	id := r.ID
	return &tui.Work{Do: func(ctx context.Context) any {
		hunks, err := s.actions.Diff(ctx, id)
		return patch{id, hunks, err}
	}}
}
