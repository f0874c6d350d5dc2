package landing

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"agentswarm/swarm/event"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree/git"
)

// TestMissing: after a reset of the branch to before a landing, the landing is gone and
// its patches are taken again. Patches of a landing whose commit is elsewhere are taken
// again by name only.
func TestMissing(t *testing.T) {
	t.Parallel()
	merged := func(id int, commit string, agents ...task.ID) []event.Event {
		return []event.Event{
			&event.Intended{ID: id, Verb: VerbMerge, Ref: onMain, New: commit, Agents: agents},
			&event.Landed{ID: id, OK: true},
		}
	}
	copied := merged(1, "c1", "a1", "a2")
	copied[0].(*event.Intended).Copies = []string{"a1-1"}
	elsewhere := merged(1, "c1", "a1")
	elsewhere[0].(*event.Intended).Ref = "refs/heads/other"
	there := merged(1, "c1", "a1")
	there[0].(*event.Intended).There = []task.ID{"a2"}
	found := &event.Conflicted{Ref: onMain, Tip: "new", There: []task.ID{"a1"}}
	// Each line is a history, the oldest commit first. The line "rebased" has other
	// commits than c1 and c2 with the same changes.
	lines := [][]string{{"base", "c1", "c2"}, {"base", "new", "c3"}, {"base", "c1", "mine"}, {"base", "rebased"}}
	for _, tt := range []struct {
		name    string
		events  []event.Event
		tip     git.Hash
		gone    string
		unknown string
		chosen  string          // without names
		named   map[string]bool // whether a named agent is taken
	}{
		{"on the tip", merged(1, "c1", "a1", "a2"), "c1", "", "", "", map[string]bool{"a1": false}},
		{"below the tip", merged(1, "c1", "a1", "a2"), "mine", "", "", "", map[string]bool{"a1": false}},
		{"reset", merged(1, "c1", "a1", "a2"), "base", "a1 a2", "", "a1 a2", map[string]bool{"a1": true, "a2": true}},
		{"deleted", merged(1, "c1", "a1", "a2"), "", "a1 a2", "", "a1 a2", map[string]bool{"a1": true}},
		{"rewritten", merged(1, "c1", "a1", "a2"), "rebased", "", "a1:c1 a2:c1", "", map[string]bool{"a1": true}},
		{"reset, and a commit since", merged(1, "c1", "a1", "a2"), "new", "", "a1:c1 a2:c1", "", map[string]bool{"a2": true}},
		{
			"the second of two", append(merged(1, "c1", "a1"), merged(2, "c2", "a2")...), "c1",
			"a2", "", "a2", map[string]bool{"a1": false, "a2": true},
		},
		{
			"landed again", append(merged(1, "c1", "a1", "a2"), merged(2, "c3", "a1", "a2")...), "c3",
			"", "", "", map[string]bool{"a1": false},
		},
		{
			"the second time gone", append(merged(1, "c1", "a1", "a2"), merged(2, "c3", "a1", "a2")...), "new",
			"a1 a2", "", "a1 a2", map[string]bool{"a1": true},
		},
		{"found with it", there, "base", "a1", "", "a1 a2", map[string]bool{"a2": true}},
		{"found, and rewritten", there, "rebased", "", "a1:c1", "", map[string]bool{"a1": true, "a2": true}},
		{"found since", append(merged(1, "c1", "a1", "a2"), found), "rebased", "", "a1:c1 a2:c1", "", map[string]bool{"a1": true}},
		{"a copy", copied, "base", "a2", "a1:c1", "a2", map[string]bool{"a1": true}},
		{"another branch", elsewhere, "base", "", "", "a1 a2", map[string]bool{"a1": true}},
		{"undone", append(merged(1, "c1", "a1"), &event.Undone{ID: 1}), "base", "", "", "a1 a2", map[string]bool{"a1": true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			v := viewOf(tt.events)
			m, err := FindMissing(MissingRequest{View: v, Ref: onMain, Tip: tt.tip, Contains: within(lines)})
			if err != nil {
				t.Fatal(err)
			}
			m.Forget(v)
			var gone, unknown []string
			for _, id := range m.Gone {
				gone = append(gone, string(id))
			}
			for _, u := range m.Unknown {
				unknown = append(unknown, string(u.ID)+":"+string(u.Commit))
			}
			if got := strings.Join(gone, " "); got != tt.gone {
				t.Errorf("gone are %q, want %q", got, tt.gone)
			}
			if got := strings.Join(unknown, " "); got != tt.unknown {
				t.Errorf("unknown are %q, want %q", got, tt.unknown)
			}
			s, err := Select(SelectRequest{View: v, Ref: onMain, Missing: m})
			if got := ids(s.Chosen); err != nil || got != tt.chosen {
				t.Errorf("a merge takes %q with %v, want %q", got, err, tt.chosen)
			}
			for id, want := range tt.named {
				s, err := Select(SelectRequest{View: v, Ref: onMain, Missing: m, Named: []task.ID{task.ID(id)}})
				if not, ok := errors.AsType[*RefusedError](err); (ids(s.Chosen) == id) != want || ok == want || ok && not.Why != HasLanded {
					t.Errorf("named, %s: %q with %v, want taken %t", id, ids(s.Chosen), err, want)
				}
			}
		})
	}
}

// TestMissingUnknownIsTold: a merge without names counts such patches as landed, and
// names those that no merge has found on the branch since.
func TestMissingUnknownIsTold(t *testing.T) {
	t.Parallel()
	v := viewOf([]event.Event{
		&event.Intended{ID: 1, Verb: VerbMerge, Ref: onMain, New: "c1", Agents: []task.ID{"a1", "a2"}}, &event.Landed{ID: 1, OK: true},
		&event.Conflicted{Ref: onMain, Tip: "rebased", There: []task.ID{"a1"}},
	})
	m := Missing{Unknown: []MissingAgent{{ID: "a1", Commit: "c1"}, {ID: "a2", Commit: "c1"}}, ref: onMain}
	s, err := Select(SelectRequest{View: v, Ref: onMain, Missing: m})
	if err != nil || s.Landed != 2 || !slices.Equal(s.Unknown, m.Unknown[1:]) {
		t.Errorf("Select = %+v, %v; want 2 that landed, and a2 unknown", s, err)
	}
}

// TestMissingFails: an error of git ends it.
func TestMissingFails(t *testing.T) {
	t.Parallel()
	v := viewOf([]event.Event{
		&event.Intended{ID: 1, Verb: VerbMerge, Ref: onMain, New: "c1", Agents: []task.ID{"a1"}}, &event.Landed{ID: 1, OK: true},
	})
	broken := errors.New("broken")
	_, err := FindMissing(MissingRequest{View: v, Ref: onMain, Tip: "c1", Contains: func(_, _ git.Hash) (bool, error) { return false, broken }})
	if !errors.Is(err, broken) {
		t.Errorf("FindMissing gives %v", err)
	}
}

// viewOf is a run with two agents that left a patch, after these events.
func viewOf(events []event.Event) *store.View {
	var all []event.Event
	for _, id := range []task.ID{"a1", "a2"} {
		done := &task.Completed{Work: task.Work{Patch: &task.Patch{Commit: "p-" + string(id)}}}
		all = append(all, &event.Called{Agent: id, Call: &task.Call{}}, &event.Leased{Agent: id, Attempt: 1},
			&event.Settled{Agent: id, Attempt: 1, Result: done})
	}
	var records []event.Record
	for i, e := range append(all, events...) {
		records = append(records, event.Record{N: int64(i + 1), Event: e})
	}
	return store.Fold(store.Identity{}, records)
}

// within looks a commit up in lines of history.
func within(lines [][]string) func(commit, ancestor git.Hash) (bool, error) {
	return func(commit, ancestor git.Hash) (bool, error) {
		for _, line := range lines {
			at, before := slices.Index(line, string(commit)), slices.Index(line, string(ancestor))
			if before >= 0 && at >= before {
				return true, nil
			}
		}
		return false, nil
	}
}
