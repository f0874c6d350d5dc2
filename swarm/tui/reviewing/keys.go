package reviewing

import (
	"context"
	"strings"

	"agentswarm/swarm/task"
	"agentswarm/swarm/tui"
)

// bindings are the keys of the review.
func (s *Screen) bindings() tui.Bindings {
	quiet := func(do func()) func() tui.Effect {
		return func() tui.Effect { do(); return nil }
	}
	return tui.Bindings{
		{Keys: []tui.Key{"?"}, Short: "help", Help: "show or leave this list of keys", Do: quiet(func() { s.toggle(helpPage) })},
		{Keys: []tui.Key{"a"}, Short: "accept", Help: "accept the class: its edits that have no verdict, and no file with a mark; where no such edit is left, or members are listed: this edit", Do: func() tui.Effect { return s.decide(task.Accepted, "") }},
		{Keys: []tui.Key{"x"}, Short: "reject", Help: "reject the class, or this edit, in the same way; a reason may be typed", Do: quiet(s.askReason)},
		{Keys: []tui.Key{"space"}, Short: "read", Help: "mark the edit as read, for this view; go to the next", Do: quiet(s.markRead)},
		{Keys: []tui.Key{"u"}, Short: "undo", Help: "undo the last verdict, before the next", Do: quiet(s.undo)},
		{Keys: []tui.Key{"q", "ctrl+c"}, Short: "leave", Help: "leave; verdicts and remarks are kept", Do: s.leave},
		{Keys: []tui.Key{"c"}, Help: "note a remark on the edit, a draft until S", Do: quiet(s.askRemark)},
		{Keys: []tui.Key{"S"}, Help: "send the remarks: retry the agents that have some", Do: func() tui.Effect { return s.then(s.desk.Send) }},
		{Keys: []tui.Key{"j", "down"}, Help: "next edit", Do: quiet(func() { s.move(1) })},
		{Keys: []tui.Key{"k", "up"}, Help: "previous edit", Do: quiet(func() { s.move(-1) })},
		{Keys: []tui.Key{"J"}, Help: "next class", Do: quiet(func() { s.moveClass(1) })},
		{Keys: []tui.Key{"K"}, Help: "previous class", Do: quiet(func() { s.moveClass(-1) })},
		{Keys: []tui.Key{"]"}, Help: "next patch", Do: quiet(func() { s.movePatch(1) })},
		{Keys: []tui.Key{"["}, Help: "previous patch", Do: quiet(func() { s.movePatch(-1) })},
		{Keys: []tui.Key{"v"}, Help: "list the edits of the class", Do: quiet(func() { s.toggle(membersPage) })},
		{Keys: []tui.Key{"b"}, Help: "beside the class: edits elsewhere, agents that lack it, places left over", Do: quiet(func() { s.toggle(besidePage) })},
		{Keys: []tui.Key{"o"}, Help: "open the edit in your editor", Do: func() tui.Effect { return s.enter(s.desk.Open) }},
		{Keys: []tui.Key{"t"}, Help: "open a shell at the patch", Do: func() tui.Effect { return s.enter(s.desk.Shell) }},
		{Keys: []tui.Key{"/"}, Help: "only classes with some text; empty for all", Do: quiet(s.askSearch)},
		{Keys: []tui.Key{"esc"}, Help: "back to the edit; there, drop the search", Do: quiet(s.back)},
		{Keys: []tui.Key{"pgdown", "ctrl+d"}, Help: "scroll down", Do: quiet(func() { s.shift(s.height / 2) })},
		{Keys: []tui.Key{"pgup", "ctrl+u"}, Help: "scroll up", Do: quiet(func() { s.shift(-s.height / 2) })},
		{Keys: []tui.Key{"right", "l"}, Help: "scroll to the right", Do: quiet(func() { s.pane.Shift(8) })},
		{Keys: []tui.Key{"left", "h"}, Help: "scroll to the left", Do: quiet(func() { s.pane.Shift(-8) })},
		{Keys: []tui.Key{"ctrl+z"}, Help: "suspend", Do: quiet(func() {})},
	}
}

// toggle shows a page, or leaves it.
func (s *Screen) toggle(to page) {
	if s.page == to {
		to = editPage
	}
	s.page, s.scroll = to, 0
}

func (s *Screen) back() {
	if s.page != editPage {
		s.page, s.scroll = editPage, 0
		return
	}
	s.search = ""
	s.arrange()
}

func (s *Screen) shift(lines int) {
	if s.page == editPage {
		s.pane.Scroll(lines)
		return
	}
	s.scroll = max(0, s.scroll+lines) // drawing bounds it
}

func (s *Screen) markRead() {
	e := s.edit()
	if e == nil {
		return
	}
	s.read[e] = true
	s.next()
}

func (s *Screen) askReason() {
	if s.edit() == nil {
		return
	}
	s.prompt = &tui.Prompt{Label: "reject, because (may be empty): ", Done: func(text string) tui.Effect {
		return s.decide(task.Rejected, strings.TrimSpace(text))
	}}
}

func (s *Screen) askRemark() {
	c, e := s.class(), s.edit()
	if e == nil {
		return
	}
	s.prompt = &tui.Prompt{Label: "remark for " + string(e.Patch) + ": ", Done: func(text string) tui.Effect {
		if text = strings.TrimSpace(text); text == "" {
			return nil
		}
		effect := s.flush()
		s.queue = append(s.queue, &pending{Choice: Choice{Text: text, Class: c, Edit: e}})
		e.Remarks = append(e.Remarks, text)
		if effect != nil {
			return effect
		}
		return s.work()
	}}
}

func (s *Screen) askSearch() {
	s.prompt = &tui.Prompt{Label: "only classes with: ", Text: s.search, Changed: func(text string) {
		s.search = text
		s.arrange()
	}}
}

// enter gives the terminal to an action on the edit that is shown.
func (s *Screen) enter(do func(context.Context, *Edit) (string, error)) tui.Effect {
	e := s.edit()
	if e == nil {
		return nil
	}
	return s.then(func(ctx context.Context) (string, error) { return do(ctx, e) })
}
