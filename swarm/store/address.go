package store

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"agentswarm/swarm/event"
	words "agentswarm/swarm/nearest"
	"agentswarm/swarm/task"
)

// Address is a run, or an agent of it, that a text names.
type Address struct {
	Run   *Run
	Agent task.ID // empty: the whole run
}

func (a Address) String() string {
	if a.Agent == "" {
		return a.Run.ID
	}
	return a.Run.ID + "/" + string(a.Agent)
}

// AmbiguousError is an address with several meanings.
type AmbiguousError struct {
	Text     string
	Meanings []string // addresses, with the label where it exists
}

func (e *AmbiguousError) Error() string {
	shown, more := e.Meanings, ""
	if len(shown) > 8 {
		shown, more = shown[:7], fmt.Sprintf(" and %d more", len(e.Meanings)-7)
	}
	return fmt.Sprintf("%q could be %s%s", e.Text, strings.Join(shown, ", "), more)
}

// NotFoundError is an address without a meaning.
type NotFoundError struct {
	Text string // empty: the repository has no run yet
	// Nearest are names like it, the best first.
	Nearest []string
	// Elsewhere is the repository that has such a run; empty for none.
	Elsewhere string
}

func (e *NotFoundError) Error() string {
	switch {
	case e.Text == "":
		return "this repository has no run yet"
	case e.Elsewhere != "":
		return fmt.Sprintf("run %s belongs to another repository, %s", e.Text, e.Elsewhere)
	case len(e.Nearest) > 0:
		return fmt.Sprintf("no run or agent %q; did you mean %s?", e.Text, strings.Join(e.Nearest, " or "))
	default:
		return fmt.Sprintf("no run or agent %q", e.Text)
	}
}

// Hint says how to begin a first run, or how to reach a run of another repository;
// it may be empty.
func (e *NotFoundError) Hint() string {
	switch {
	case e.Text == "":
		return "`swarm run` starts one"
	case e.Elsewhere == "":
		return "`swarm ls` lists the runs, and `swarm status RUN` the agents of a run"
	}
	return "give -C " + e.Elsewhere
}

// meaning is a way to read an address. A lower rank beats a higher one.
type meaning struct {
	Address
	label string
	rank  rank
}

// rank says how well a name matches.
type rank int

const (
	noMatch rank = iota
	exactID
	exactLabel
	prefix
)

// Resolve finds the run or the agent that a text names: RUN, RUN/AGENT, or
// AGENT of the latest run; an empty text is the latest run. Agents go by id or
// label, and a unique prefix is enough for either. An id beats a label and both
// beat a prefix. It returns an [*AmbiguousError] for two other meanings, and a
// [*NotFoundError] for none.
func (s *State) Resolve(text string) (Address, error) {
	entries, err := s.Runs()
	if err != nil {
		return Address{}, err
	}
	if text == "" {
		return latest(entries)
	}
	var found []meaning
	runText, agentText, two := strings.Cut(text, "/")
	for i, e := range entries {
		if m := match(text, e.Run.ID, ""); m != noMatch {
			found = append(found, meaning{Address: Address{Run: e.Run}, rank: m})
		}
		within := match(runText, e.Run.ID, "")
		if two && agentText != "" && within != noMatch {
			agents, err := e.find(agentText, within)
			if err != nil {
				return Address{}, err
			}
			found = append(found, agents...)
		}
		if i == len(entries)-1 && !slices.ContainsFunc(found, isExact) {
			agents, err := e.find(text, exactID)
			if err != nil {
				return Address{}, err
			}
			found = append(found, agents...)
		}
	}
	return s.choose(text, entries, found)
}

func latest(entries []Entry) (Address, error) {
	if len(entries) == 0 {
		return Address{}, &NotFoundError{}
	}
	e := entries[len(entries)-1]
	// The run before it may not be the run that the user meant.
	return Address{Run: e.Run}, e.Damage
}

func isExact(m meaning) bool { return m.rank < prefix }

// match compares the typed text with the names of a run or an agent.
func match(text, id, label string) rank {
	switch {
	case text == "":
		return noMatch
	case text == id:
		return exactID
	case text == label:
		return exactLabel
	case strings.HasPrefix(id, text) || strings.HasPrefix(label, text):
		return prefix
	default:
		return noMatch
	}
}

// find lists the agents of a run that the text could name. A name is only as
// exact as that of the run before it.
func (e Entry) find(text string, run rank) ([]meaning, error) {
	calls, err := e.Run.calls()
	if err != nil {
		return nil, err
	}
	var found []meaning
	for _, c := range calls {
		if m := match(text, string(c.Agent), c.Call.Label); m != noMatch {
			found = append(found, meaning{
				Address: Address{Run: e.Run, Agent: c.Agent},
				label:   c.Call.Label, rank: max(m, run),
			})
		}
	}
	return found, nil
}

// calls are the agents of a run, in call order.
func (r *Run) calls() ([]*event.Called, error) {
	records, err := r.Records()
	if err != nil {
		return nil, err
	}
	var calls []*event.Called
	for _, rec := range records {
		if c, ok := rec.Event.(*event.Called); ok {
			calls = append(calls, c)
		}
	}
	return calls, nil
}

// choose takes the only meaning of the best rank.
func (s *State) choose(text string, entries []Entry, found []meaning) (Address, error) {
	if len(found) == 0 {
		return Address{}, s.missing(text, entries)
	}
	best := slices.MinFunc(found, func(a, b meaning) int { return int(a.rank - b.rank) }).rank
	var left []meaning
	for _, m := range found {
		same := func(o meaning) bool { return o.String() == m.String() }
		if m.rank == best && !slices.ContainsFunc(left, same) {
			left = append(left, m)
		}
	}
	if len(left) == 1 {
		return left[0].Address, nil
	}
	e := &AmbiguousError{Text: text}
	for _, m := range left {
		name := m.String()
		if m.label != "" {
			name += " (" + m.label + ")"
		}
		e.Meanings = append(e.Meanings, name)
	}
	return Address{}, e
}

// missing is the error for a text that names nothing here.
func (s *State) missing(text string, entries []Entry) error {
	e := &NotFoundError{Text: text}
	id, _, _ := strings.Cut(text, "/")
	if e.Elsewhere = s.elsewhere(id); e.Elsewhere != "" {
		e.Text = id
		return e
	}
	var names []string
	for i, entry := range entries {
		names = append(names, entry.Run.ID)
		if i < len(entries)-1 {
			continue
		}
		calls, _ := entry.Run.calls() // a hint less where it cannot be read
		for _, c := range calls {
			names = append(names, string(c.Agent), c.Call.Label)
		}
	}
	e.Nearest = nearest(text, names)
	return e
}

// elsewhere finds the repository that has a run of this id.
func (s *State) elsewhere(id string) string {
	if !isRunID(id) {
		return ""
	}
	all, _ := s.siblings() // without them the hint is left out
	for _, other := range all {
		r := &Run{ID: id, Dir: filepath.Join(other.runs(), id), state: other}
		if info, err := os.Lstat(r.Dir); err != nil || !info.IsDir() || other.Dir == s.Dir {
			continue
		}
		identity, err := r.Identity()
		switch {
		case err != nil:
			return other.Dir
		case identity.TopLevel != "":
			return identity.TopLevel
		default:
			return identity.CommonDir
		}
	}
	return ""
}

// nearest are the up to three names within a third of their length of edits.
func nearest(text string, names []string) []string {
	type candidate struct {
		name  string
		edits int
	}
	var near []candidate
	for _, name := range names {
		// Long texts are not typing mistakes, and comparing them costs.
		if name == "" || len(name) > 100 || len(text) > 100 {
			continue
		}
		if d := words.Distance(text, name); d <= max(1, len(name)/3) {
			near = append(near, candidate{name, d})
		}
	}
	slices.SortStableFunc(near, func(a, b candidate) int { return a.edits - b.edits })
	var best []string
	for _, c := range near {
		if len(best) < 3 && !slices.Contains(best, c.name) {
			best = append(best, c.name)
		}
	}
	return best
}
