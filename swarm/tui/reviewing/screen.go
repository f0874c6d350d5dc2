package reviewing

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/task"
	"agentswarm/swarm/tui"
)

// Screen is the review. Make it with [New].
//
// The last verdict waits for the next verdict, so that a person can undo it; it
// is recorded then, or when the person leaves.
type Screen struct {
	book    *Book
	desk    Desk
	palette tui.Palette

	width, height int
	list          tui.List
	classes       []*Class // as the list shows them: all, or those of a search
	at            int      // the edit of the class that is shown
	pane          tui.DiffPane
	page          page
	scroll        int
	search        string
	read          map[*Edit]bool
	pending       *pending
	queue         []*pending // to be recorded, one at a time
	working       bool
	after         tui.Effect // once the queue is empty
	prompt        *tui.Prompt
	said          string
	wrong         bool
}

// page is the right side of the view.
type page int

const (
	editPage page = iota
	membersPage
	besidePage
	helpPage
)

// Request holds the book and the desk of a screen, and whether to use colors.
type Request struct {
	Book  *Book
	Desk  Desk
	Color bool
}

// New is a review that shows its first class without a verdict on all edits.
func New(r Request) *Screen {
	s := &Screen{book: r.Book, desk: r.Desk, palette: tui.NewPalette(r.Color), width: 80, height: 24, read: map[*Edit]bool{}}
	if r.Color {
		s.pane.Code = tui.NewCode()
	}
	s.arrange()
	if c := s.class(); c != nil {
		if open, _ := c.open(); open == 0 {
			s.next()
		}
	}
	return s
}

// recorded is the end of recording a choice, done of another action.
type (
	recorded struct {
		outcome Outcome
		of      *pending
		err     error
	}
	done struct {
		said string
		err  error
	}
)

// Resize tells the size of the terminal.
func (s *Screen) Resize(width, height int) { s.width, s.height = width, height }

// Update takes a key or a message.
func (s *Screen) Update(message any) tui.Effect {
	switch m := message.(type) {
	case recorded:
		return s.record(m)
	case done:
		s.notice(m.said, m.err)
	case tui.Paste:
		if s.prompt != nil {
			_, e := s.prompt.Update(m)
			return e
		}
	case tui.Key:
		return s.key(m)
	}
	return nil
}

func (s *Screen) key(k tui.Key) tui.Effect {
	if s.prompt != nil {
		open, e := s.prompt.Update(k)
		if !open {
			s.prompt = nil
		}
		return e
	}
	s.said, s.wrong = "", false
	if b := s.bindings().Find(k); b != nil {
		return b.Do()
	}
	return nil
}

func (s *Screen) notice(text string, err error) {
	s.said, s.wrong = text, false
	if err != nil {
		s.said, s.wrong = err.Error(), true
	}
}

// arrange makes the list: the classes that the search takes.
func (s *Screen) arrange() {
	s.classes = nil
	var entries []tui.Entry
	for _, c := range s.book.Classes {
		if s.search == "" || c.has(strings.ToLower(s.search)) {
			s.classes = append(s.classes, c)
			entries = append(entries, tui.Entry{Key: c.ID})
		}
	}
	s.list.Set(entries)
	s.turn(s.at)
}

// mostSearched bounds the part of a line that is searched, in bytes.
const mostSearched = 2 << 10

// has reports whether an edit of a class has a text, in lower case.
func (c *Class) has(text string) bool {
	in := func(lines []string) bool {
		for _, line := range lines {
			if strings.Contains(strings.ToLower(line[:min(len(line), mostSearched)]), text) {
				return true
			}
		}
		return false
	}
	if in([]string{c.ID + " " + c.Head}) {
		return true
	}
	for i, e := range c.Edits {
		if in([]string{e.Hunk.Path, string(e.Patch)}) {
			return true
		}
		if i == 0 && (in(e.Hunk.Removed) || in(e.Hunk.Added)) {
			return true
		}
	}
	return false
}

// class is the selected class; nil where there is none.
func (s *Screen) class() *Class {
	if i := s.list.Index(); i < len(s.classes) {
		return s.classes[i]
	}
	return nil
}

// edit is the edit that is shown; nil where there is none.
func (s *Screen) edit() *Edit {
	if c := s.class(); c != nil && s.at < len(c.Edits) {
		return c.Edits[s.at]
	}
	return nil
}

// turn shows an edit of the selected class.
func (s *Screen) turn(at int) {
	c := s.class()
	if c == nil {
		s.pane.Set(nil)
		return
	}
	s.at = min(max(at, 0), len(c.Edits)-1)
	s.pane.Set([]tui.Hunk{c.Edits[s.at].Hunk})
}

// move shows another edit: of the class, or the first or last of the next class.
func (s *Screen) move(by int) {
	s.scroll = 0
	c := s.class()
	switch {
	case c == nil:
	case s.at+by >= 0 && s.at+by < len(c.Edits):
		s.turn(s.at + by)
	case by > 0 && s.list.Move(1):
		s.turn(0)
	case by < 0 && s.list.Move(-1):
		s.turn(1 << 30)
	}
}

func (s *Screen) moveClass(by int) {
	s.scroll = 0
	if s.list.Move(by) {
		s.turn(0)
	}
}

// movePatch shows the next edit of the class that is of another patch.
func (s *Screen) movePatch(by int) {
	c, from := s.class(), s.edit()
	if c == nil {
		return
	}
	for i := s.at; i >= 0 && i < len(c.Edits); i += by {
		if c.Edits[i].Patch != from.Patch {
			s.turn(i)
			return
		}
	}
	s.moveClass(by)
}

// next shows the next edit that a person has neither decided nor read, the class
// first; where there is none it stays.
func (s *Screen) next() {
	s.scroll, s.page = 0, editPage
	n := len(s.classes)
	for i := range n {
		c := s.classes[(s.list.Index()+i)%n]
		for k, e := range c.Edits {
			if e.Verdict == "" && !s.read[e] {
				s.list.Select(c.ID)
				s.turn(k)
				return
			}
		}
	}
	s.notice("no edit is left; q leaves, S sends remarks", nil)
}

// decide makes the verdict on the class or on the edit that is shown: on the edit
// where members are listed, and where a verdict on the class covers none.
func (s *Screen) decide(v task.Verdict, reason string) tui.Effect {
	c, e := s.class(), s.edit()
	if e == nil {
		return nil
	}
	choice := Choice{Verdict: v, Text: reason, Class: c}
	if _, covered := c.open(); s.page == membersPage || covered == 0 || len(c.Edits) == 1 {
		choice.Edit = e
	}
	effect := s.flush()
	s.pending = &pending{Choice: choice}
	for _, m := range c.Edits {
		if m == choice.Edit || choice.Edit == nil && m.Verdict == "" && !m.Withheld {
			s.pending.edits = append(s.pending.edits, m)
			s.pending.were = append(s.pending.were, m.Verdict)
			m.Verdict = v
		}
	}
	left, _ := c.open()
	s.notice(fmt.Sprintf("%s: %s %s; u undoes it", c.ID, termtext.Count(len(s.pending.edits), "edit", "edits"), v), nil)
	if left > 0 && choice.Edit == nil {
		s.notice(s.said+fmt.Sprintf("; %d in files with a mark are left: read each", left), nil)
	}
	said := s.said
	if s.page == membersPage && s.at+1 < len(c.Edits) {
		s.turn(s.at + 1)
		return effect
	}
	s.next()
	if s.said != said {
		s.said = said + "; " + s.said
	}
	return effect
}

// pending is a choice that may be undone, with the edits that it decided and
// their verdicts before.
type pending struct {
	Choice
	edits []*Edit
	were  []task.Verdict
}

// undo takes the last choice back.
func (s *Screen) undo() {
	p := s.pending
	if p == nil {
		s.notice("the last verdict is recorded; a or x decides an edit again: v lists them", nil)
		return
	}
	for i, e := range p.edits {
		e.Verdict = p.were[i]
	}
	s.pending = nil
	s.show(p.Class, p.edits)
	s.notice("undone", nil)
}

// show selects a class and an edit of it.
func (s *Screen) show(c *Class, edits []*Edit) {
	s.list.Select(c.ID)
	at := 0
	for i, e := range c.Edits {
		if len(edits) > 0 && e == edits[0] {
			at = i
			break
		}
	}
	s.turn(at)
}

// flush has the last choice recorded: it can no longer be undone.
func (s *Screen) flush() tui.Effect {
	if s.pending != nil {
		s.queue = append(s.queue, s.pending)
		s.pending = nil
	}
	return s.work()
}

// work records the next choice, if none is being recorded.
func (s *Screen) work() tui.Effect {
	if s.working {
		return nil
	}
	if len(s.queue) == 0 {
		e := s.after
		s.after = nil
		return e
	}
	p := s.queue[0]
	s.queue, s.working = s.queue[1:], true
	return &tui.Work{Do: func(ctx context.Context) any {
		outcome, err := s.desk.Decide(context.WithoutCancel(ctx), p.Choice)
		return recorded{outcome, p, err}
	}}
}

// record takes the effect of a choice: the edits that it really covered.
func (s *Screen) record(m recorded) tui.Effect {
	s.working = false
	m.of.settle(m.outcome.Covered)
	switch {
	case m.err != nil:
		s.notice("", m.err)
		s.after = nil                           // a person is to see it
		if e := m.of.Edit; m.of.Verdict == "" { // the remark is not kept
			e.Remarks = slices.DeleteFunc(e.Remarks, func(text string) bool { return text == m.of.Text })
		}
	case m.outcome.Said != "" && s.pending == nil:
		s.notice(m.outcome.Said, nil)
	}
	return s.work()
}

// settle gives the edits that a choice did not cover their verdicts back.
func (p *pending) settle(covered []*Edit) {
	is := map[*Edit]bool{}
	for _, e := range covered {
		is[e] = true
		e.Verdict = p.Verdict
	}
	for i, e := range p.edits {
		if !is[e] && e.Verdict == p.Verdict {
			e.Verdict = p.were[i]
		}
	}
}

// leave ends the review once all choices are recorded.
func (s *Screen) leave() tui.Effect {
	s.after = &tui.Quit{}
	return s.flush()
}

// then gives the terminal to an action once all choices are recorded.
func (s *Screen) then(do func(context.Context) (string, error)) tui.Effect {
	s.after = &tui.Foreground{Do: func(ctx context.Context) any {
		said, err := do(ctx)
		return done{said, err}
	}}
	return s.flush()
}
