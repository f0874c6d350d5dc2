package watching

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/task"
	"agentswarm/swarm/tui"
)

// Screen is the view. Make it with [New].
type Screen struct {
	source  Source
	actions Actions
	palette tui.Palette
	code    *tui.Code
	clock   func() time.Time

	width, height int
	snap          *Snapshot // nil before the first
	rows          []*Row    // as the list shows them
	list          tui.List
	order         order
	filter        string
	search        string
	page          page
	scroll        int // of the page
	diff          tui.DiffPane
	diffOf        task.ID
	prompt        *tui.Prompt
	confirm       *confirm
	said          string
	wrong         bool // said is an error
	// sighted is when the question of the selected row was first shown, whole
	// whether all of it was.
	question string
	sighted  time.Time
	whole    string
	err      error
}

// page is the part of the view below its head.
type page int

const (
	agentsPage page = iota
	timelinePage
	landingsPage
	agentPage
	diffPage
	helpPage
)

// order is how rows are sorted within their groups.
type order int

const (
	byState order = iota // the longest in its state first
	byName
	byTokens
	byMoney
	orders
)

func (o order) String() string { return [...]string{"time", "name", "tokens", "money"}[o] }

// confirm is an action that waits for y.
type confirm struct {
	text string
	do   func() tui.Effect
}

// Request holds the sources and actions of a screen. All fields are required but Clock.
type Request struct {
	Source  Source
	Actions Actions
	Color   bool
	// Clock is the time of keys; nil: the time of the machine.
	Clock func() time.Time
}

// New is a screen before its first snapshot.
func New(r Request) *Screen {
	s := &Screen{source: r.Source, actions: r.Actions, palette: tui.NewPalette(r.Color), clock: r.Clock, width: 80, height: 24}
	if r.Color {
		s.code = tui.NewCode()
	}
	s.diff.Code = s.code
	if s.clock == nil {
		s.clock = time.Now
	}
	return s
}

// Begin asks for the first snapshot.
func (s *Screen) Begin() tui.Effect { return s.next() }

// Err is the error that ended the view; nil where a person closed it.
func (s *Screen) Err() error { return s.err }

// Select selects an agent, if it is there.
func (s *Screen) Select(id task.ID) {
	s.list.Select(string(id))
	s.sight()
}

// Snapshot is the latest; nil before the first.
func (s *Screen) Snapshot() *Snapshot { return s.snap }

func (s *Screen) next() tui.Effect {
	return &tui.Work{Do: func(ctx context.Context) any {
		snap, err := s.source.Next(ctx)
		if ctx.Err() != nil {
			return nil
		}
		return loaded{snap, err}
	}}
}

// loaded is a snapshot, done the end of an action, patch the patch of an agent.
type (
	loaded struct {
		snap *Snapshot
		err  error
	}
	done struct {
		said string
		err  error
	}
	patch struct {
		of    task.ID
		hunks []tui.Hunk
		err   error
	}
)

// Resize tells the size of the terminal.
func (s *Screen) Resize(width, height int) { s.width, s.height = width, height }

// Update takes a key or a message.
func (s *Screen) Update(message any) tui.Effect {
	switch m := message.(type) {
	case loaded:
		if m.err != nil {
			s.err = m.err
			return &tui.Quit{}
		}
		s.Show(m.snap)
		return s.next()
	case done:
		s.notice(m.said, m.err)
		return nil
	case patch:
		s.showPatch(m)
		return nil
	case tui.Paste:
		if s.prompt != nil {
			_, e := s.prompt.Update(m)
			return e
		}
		return nil // a paste must not act on agents
	case tui.Key:
		return s.key(m)
	}
	return nil
}

func (s *Screen) key(k tui.Key) tui.Effect {
	switch {
	case s.prompt != nil:
		open, e := s.prompt.Update(k)
		if !open {
			s.prompt = nil
		}
		return e
	case s.confirm != nil:
		ask := s.confirm
		s.confirm = nil
		if k == "y" || k == "Y" {
			return ask.do()
		}
		return nil
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

// Show takes a snapshot.
func (s *Screen) Show(snap *Snapshot) {
	s.snap = snap
	s.arrange()
}

// arrange makes the rows of the list: those that the filter takes, in groups.
func (s *Screen) arrange() {
	s.rows = s.rows[:0]
	if s.snap == nil {
		return
	}
	for i := range s.snap.Rows {
		if r := &s.snap.Rows[i]; matches(r, s.filter) {
			s.rows = append(s.rows, r)
		}
	}
	rank := map[Group]int{}
	for i, g := range groups() {
		rank[g] = i
	}
	slices.SortStableFunc(s.rows, func(a, b *Row) int {
		return cmp.Or(cmp.Compare(rank[a.Group], rank[b.Group]), s.order.compare(a, b))
	})
	entries := make([]tui.Entry, len(s.rows))
	for i, r := range s.rows {
		entries[i] = tui.Entry{Key: r.Key(), Group: string(r.Group)}
	}
	s.list.Set(entries)
	s.sight()
}

func (o order) compare(a, b *Row) int {
	switch o {
	case byTokens:
		return cmp.Compare(b.Tokens, a.Tokens)
	case byMoney:
		return cmp.Compare(b.USD, a.USD)
	case byState:
		if a.Group == NeedsYou || a.Group == Working {
			return cmp.Compare(b.For.Round(time.Second), a.For.Round(time.Second))
		}
	default: // by name, as those above where they are equal
	}
	return cmp.Compare(a.ID.Number(), b.ID.Number())
}

// matches reports whether a row has each word of a filter, in any case.
func matches(r *Row, filter string) bool {
	if filter == "" {
		return true
	}
	text := strings.ToLower(strings.Join([]string{string(r.ID), r.Label[:min(len(r.Label), 500)], string(r.Group), r.State, r.Landing, r.Doing[:min(len(r.Doing), 500)]}, " "))
	for word := range strings.FieldsSeq(strings.ToLower(filter)) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// selected is the selected row; nil where there is none.
func (s *Screen) selected() *Row {
	if i := s.list.Index(); i < len(s.rows) {
		return s.rows[i]
	}
	return nil
}

// sight notes which question is shown, and since when.
func (s *Screen) sight() {
	id := ""
	if r := s.selected(); r != nil && r.Question != nil {
		id = r.Question.ID
	}
	if id != s.question {
		s.question, s.sighted = id, s.clock()
	}
}

func (s *Screen) move(rows int) tui.Effect {
	s.list.Move(rows)
	s.scroll = 0
	s.sight()
	return nil
}

// find selects the next row that the search takes.
func (s *Screen) find(forward bool) {
	n := len(s.rows)
	for i := 1; i <= n; i++ {
		at := (s.list.Index() + i) % n
		if !forward {
			at = (s.list.Index() - i + 2*n) % n
		}
		if matches(s.rows[at], s.search) {
			s.list.Select(s.rows[at].Key())
			s.sight()
			return
		}
	}
	s.notice("no agent matches "+termtext.Line(s.search), nil)
}

func (s *Screen) showPatch(m patch) {
	if m.err != nil {
		s.notice("", m.err)
		return
	}
	s.page, s.diffOf, s.scroll = diffPage, m.of, 0
	s.diff.Set(m.hunks)
}
