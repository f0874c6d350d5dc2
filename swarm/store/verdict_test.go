package store

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// TestVerdictsOn: the end of a landing forgets its failures and makes its passes
// earlier ones. An interrupted landing has no end.
func TestVerdictsOn(t *testing.T) {
	t.Parallel()
	passed := &event.Verified{Tree: "t", Command: "make", Passed: true}
	failed := &event.Verified{Tree: "t", Command: "make"}
	other := &event.Verified{Tree: "t", Command: "make test", Passed: true}
	elsewhere := &event.Verified{Tree: "u", Command: "make", Passed: true}
	there := &event.Verified{Tree: "t", Command: "make", Tip: "tip", Passed: true}
	moved := &event.Verified{Tree: "t", Command: "make", Tip: "other tip", Passed: true}
	movedFailed := &event.Verified{Tree: "t", Command: "make", Tip: "other tip"}
	refused := &event.Refused{Ref: "refs/heads/main"}
	intended := &event.Intended{ID: 1, Verb: "merge", Ref: "refs/heads/main"}
	for _, tt := range []struct {
		name   string
		events []event.Event
		want   string
	}{
		{"none", nil, ""},
		{"other trees and commands", []event.Event{other, elsewhere}, ""},
		{"interrupted", []event.Event{failed, passed}, "failed passed"},
		{"nothing landed", []event.Event{failed, passed, refused}, "earlier"},
		{"landed", []event.Event{failed, passed, intended}, "earlier"},
		{"interrupted after another", []event.Event{passed, intended, failed}, "earlier failed"},
		{"on this tip", []event.Event{there, refused}, "earlier"},
		{"interrupted on this tip", []event.Event{there}, "passed"},
		{"on another tip", []event.Event{moved, movedFailed}, ""},
		{"on another tip earlier", []event.Event{moved, intended}, ""},
		{"passed in both", []event.Event{passed, refused, passed}, "earlier passed"},
	} {
		var records []event.Record
		for i, e := range tt.events {
			records = append(records, event.Record{N: int64(i + 1), Event: e})
		}
		v := Fold(Identity{}, records)
		var got []string
		for _, e := range v.VerdictsOn("t", "make", "tip") {
			switch {
			case e.Earlier:
				got = append(got, "earlier")
			case e.Passed:
				got = append(got, "passed")
			default:
				got = append(got, "failed")
			}
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: VerdictsOn = %v, want %s", tt.name, got, tt.want)
		}
		tried := slices.DeleteFunc(v.Tried("make", "tip"), func(e Verdict) bool { return e.Tree == "t" })
		if len(tried) > 0 || len(v.Tried("make", "tip")) != strings.Count(tt.name, "interrupted on this tip") {
			t.Errorf("%s: Tried = %v", tt.name, v.Tried("make", "tip"))
		}
	}
}

// TestRefusalsEnd: the refusal of a patch ends those of patches that only need it. A
// copy has a refusal of its own.
func TestRefusalsEnd(t *testing.T) {
	t.Parallel()
	const ref = "refs/heads/main"
	refused := &event.Refused{Ref: ref, Refused: []event.Refusal{
		{Agent: "a1", Kind: "failed"}, {Agent: "a1", Copy: "a1-2", Kind: "failed"},
		{Agent: "a2", Kind: "dependency", Needs: []task.ID{"a1"}}, {Agent: "a3", Kind: "dependency", Needs: []task.ID{"a2"}},
		{Agent: "a4", Kind: "failed"},
	}}
	landed := func(ref string, copies ...string) []event.Event {
		in := &event.Intended{ID: 1, Verb: "merge", Ref: ref, Agents: []task.ID{"a1"}, Copies: copies}
		return []event.Event{in, &event.Landed{ID: 1, OK: true}}
	}
	for _, tt := range []struct {
		name   string
		events []event.Event
		want   string // agents with a refusal, and the copy
	}{
		{"refused", nil, "a1 a2 a3 a4 a1-2"},
		{"landed", landed(ref), "a4 a1-2"},
		{"landed elsewhere", landed("refs/heads/other"), "a1 a2 a3 a4 a1-2"},
		{"the copy landed", landed(ref, "a1-2"), "a4"},
	} {
		var records []event.Record
		all := []event.Event{refused}
		for _, id := range []task.ID{"a4", "a3", "a2", "a1"} {
			all = append([]event.Event{&event.Called{Agent: id, Call: &task.Call{}}}, all...)
		}
		for i, e := range append(all, tt.events...) {
			records = append(records, event.Record{N: int64(i + 1), Event: e})
		}
		v := Fold(Identity{}, records)
		var got []string
		for _, id := range []task.ID{"a1", "a2", "a3", "a4"} {
			if v.about(id).Refusal != nil {
				got = append(got, string(id))
			}
		}
		if a := v.about("a1"); a.AtCopy(2, nil).Refusal != nil {
			got = append(got, "a1-2")
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: refused are %v, want %s", tt.name, got, tt.want)
		}
	}
}

// TestRefusalsOfDependants: a patch that was left out because it builds on refused
// patches is tried again once each of these was accepted, landed or is tried again.
func TestRefusalsOfDependants(t *testing.T) {
	t.Parallel()
	const ref = "refs/heads/main"
	refused := &event.Refused{Ref: ref, Refused: []event.Refusal{
		{Agent: "a1", Kind: "failed"}, {Agent: "a2", Kind: "failed"},
		{Agent: "a3", Kind: "dependency", Needs: []task.ID{"a1"}},
		{Agent: "a4", Kind: "dependency", Needs: []task.ID{"a1", "a2"}},
		{Agent: "a5", Kind: "dependency", Needs: []task.ID{"a4"}},
		{Agent: "a5", Copy: "a5-1", Kind: "dependency", Needs: []task.ID{"a1", "a2"}},
		{Agent: "a5", Copy: "a5-2", Kind: "failed"},
	}}
	again := func(id task.ID) event.Event { return &event.Leased{Agent: id, Attempt: 2} }
	started := func(id task.ID) event.Event { return &event.Started{Agent: id, Attempt: 2, Step: "agent"} }
	continued := func(id task.ID) event.Event { return &event.Continued{Agent: id, Attempt: 2} }
	accepted := func(id task.ID) event.Event {
		return &event.Reviewed{Agent: id, Attempt: 1, Verdict: task.Accepted}
	}
	landed := func(ref string, copies ...string) []event.Event {
		in := &event.Intended{ID: 1, Verb: "merge", Ref: ref, Agents: []task.ID{"a5"}, Copies: copies}
		return []event.Event{in, &event.Landed{ID: 1, OK: true}}
	}
	for _, tt := range []struct {
		name   string
		events []event.Event
		want   string // the refused agents and copies, with the patches they need
	}{
		{"refused", nil, "a1[] a2[] a3[a1] a4[a1 a2] a5[a4] a5-1[a1 a2] a5-2[]"},
		{"one is retried", []event.Event{again("a1")}, "a2[] a4[a2] a5[a4] a5-1[a2] a5-2[]"},
		{"one is started", []event.Event{started("a1")}, "a2[] a4[a2] a5[a4] a5-1[a2] a5-2[]"},
		{"one is continued", []event.Event{continued("a1")}, "a2[] a4[a2] a5[a4] a5-1[a2] a5-2[]"},
		{"the same attempt", []event.Event{&event.Leased{Agent: "a1", Attempt: 1}}, "a1[] a2[] a3[a1] a4[a1 a2] a5[a4] a5-1[a1 a2] a5-2[]"},
		{"one is accepted", []event.Event{accepted("a2")}, "a1[] a3[a1] a4[a1] a5[a4] a5-1[a1] a5-2[]"},
		{"both", []event.Event{again("a1"), accepted("a2")}, "a5-2[]"},
		{"refused again", []event.Event{again("a1"), accepted("a2"), refused}, "a1[] a2[] a3[a1] a4[a1 a2] a5[a4] a5-1[a1 a2] a5-2[]"},
		{"a copy landed", landed(ref, "a5-2"), "a1[] a2[] a3[a1] a4[a1 a2] a5-1[a1 a2]"},
		{"a copy landed elsewhere", landed("refs/heads/other", "a5-2"), "a1[] a2[] a3[a1] a4[a1 a2] a5[a4] a5-1[a1 a2] a5-2[]"},
	} {
		var all []event.Event
		ids := []task.ID{"a1", "a2", "a3", "a4", "a5"}
		for _, id := range ids {
			all = append(all, &event.Called{Agent: id, Call: &task.Call{}}, &event.Leased{Agent: id, Attempt: 1},
				&event.Settled{Agent: id, Attempt: 1, Result: &task.Completed{}})
		}
		var records []event.Record
		for i, e := range append(append(all, refused), tt.events...) {
			records = append(records, event.Record{N: int64(i + 1), Event: e})
		}
		v := Fold(Identity{}, records)
		var got []string
		add := func(name string, r *Refusal) {
			if r != nil {
				got = append(got, fmt.Sprintf("%s%v", name, r.Needs))
			}
		}
		for _, id := range ids {
			a := v.about(id)
			add(string(id), a.Refusal)
			for _, n := range []int{1, 2} {
				add((&Copy{Agent: id, N: n}).Name(), a.CopyRefusals[n])
			}
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: refused are %v, want %s", tt.name, got, tt.want)
		}
	}
}

// TestLastLanding checks that an undo is no landing, and that an undone landing
// does not stand.
func TestLastLanding(t *testing.T) {
	t.Parallel()
	var records []event.Record
	for i, step := range []struct {
		event.Event
		want int
	}{
		{&event.Intended{ID: 1, Verb: "merge"}, 0},
		{&event.Landed{ID: 1, OK: true}, 1},
		{&event.Intended{ID: 2, Verb: "apply"}, 1},
		{&event.Landed{ID: 2, OK: true}, 2},
		{&event.Intended{ID: 3, Verb: "merge"}, 2},
		{&event.Landed{ID: 3}, 2},
		{&event.Intended{ID: 4, Verb: "undo", Of: 2}, 2},
		{&event.Undone{ID: 2}, 1},
		{&event.Landed{ID: 4, OK: true}, 1},
	} {
		records = append(records, event.Record{N: int64(i + 1), Event: step.Event})
		got := 0
		if l := Fold(Identity{}, records).LastLanding(); l != nil {
			got = l.ID
		}
		if got != step.want {
			t.Errorf("after record %d the last landing is %d, want %d", i+1, got, step.want)
		}
	}
}

// TestSeries checks that the landings of a merge that moves the branch several
// times are joined. An undo takes back all of them, and an interrupted merge
// continues.
func TestSeries(t *testing.T) {
	t.Parallel()
	const ref, check = "refs/heads/main", "make"
	move := func(id, continues int, more bool) []event.Event {
		return []event.Event{
			&event.Intended{
				ID: id, Verb: "merge", Ref: ref, Old: fmt.Sprint("c", id-1), New: fmt.Sprint("c", id), Continues: continues,
				More: more, Command: check, Agents: []task.ID{task.ID(fmt.Sprint("a", id))},
			},
			&event.Landed{ID: id, OK: true},
		}
	}
	end := &event.Refused{Ref: ref}
	failed := &event.Intended{ID: 3, Verb: "merge", Ref: ref, Old: "c2", New: "c9", Continues: 2, More: true, Command: check}
	for _, tt := range []struct {
		name   string
		events []event.Event
		last   string // id, ends and agents of the last landing
		open   int    // landings that a merge continues from
	}{
		{"one move", move(1, 0, false), "1 c0 c1 [a1]", 0},
		{"the first of several", move(1, 0, true), "1 c0 c1 [a1]", 1},
		{"two", slices.Concat(move(1, 0, true), move(2, 1, true)), "2 c0 c2 [a1 a2]", 2},
		{"ended", slices.Concat(move(1, 0, true), move(2, 1, true), []event.Event{end}), "2 c0 c2 [a1 a2]", 0},
		{"gone on with", slices.Concat(move(1, 0, true), move(2, 1, false)), "2 c0 c2 [a1 a2]", 0},
		{"two merges", slices.Concat(move(1, 0, true), []event.Event{end}, move(2, 0, true)), "2 c1 c2 [a2]", 1},
		{
			"a move that did not happen",
			slices.Concat(move(1, 0, true), move(2, 1, true), []event.Event{failed, &event.Landed{ID: 3}}), "2 c0 c2 [a1 a2]", 2,
		},
		{"undone", slices.Concat(move(1, 0, true), move(2, 1, true), []event.Event{&event.Undone{ID: 2}}), "", 0},
	} {
		var records []event.Record
		for i, e := range tt.events {
			records = append(records, event.Record{N: int64(i + 1), Event: e})
		}
		v, last, tip := Fold(Identity{}, records), "", ""
		if l := v.LastLanding(); l != nil {
			last, tip = fmt.Sprint(l.ID, " ", l.Old, " ", l.New, " ", l.Agents), l.New
		}
		if last != tt.last {
			t.Errorf("%s: the last landing is %q, want %q", tt.name, last, tt.last)
		}
		if got := v.OpenSeries(ref, tip, check); len(got) != tt.open {
			t.Errorf("%s: %d landings are open, want %d", tt.name, len(got), tt.open)
		}
		if len(v.OpenSeries(ref, "c7", check))+len(v.OpenSeries(ref, tip, "make test"))+len(v.OpenSeries("refs/heads/x", tip, check)) > 0 {
			t.Errorf("%s: a merge goes on from another branch, tip or check", tt.name)
		}
	}
	all := slices.Concat([]event.Event{&event.Verified{Tree: "t", Command: check, Passed: true}}, move(1, 0, true))
	var records []event.Record
	for i, e := range all {
		records = append(records, event.Record{N: int64(i + 1), Event: e})
	}
	if got := Fold(Identity{}, records).VerdictsOn("t", check, ""); len(got) != 1 || got[0].Earlier {
		t.Errorf("after a move within a merge its verdicts are %+v", got)
	}
}

// TestEarlierAttemptLands: a landing of an earlier attempt is none of the agent. The patch
// of the latest attempt improves it as long as the landing stands.
func TestEarlierAttemptLands(t *testing.T) {
	t.Parallel()
	first := &task.Patch{Base: "b", Commit: "one"}
	all := []event.Event{
		&event.Called{Agent: "a1", Call: &task.Call{}}, &event.Leased{Agent: "a1", Attempt: 1},
		&event.Captured{Agent: "a1", Attempt: 1, Patch: first}, &event.Leased{Agent: "a1", Attempt: 2},
		&event.Captured{Agent: "a1", Attempt: 2, Patch: &task.Patch{Base: "b", Commit: "two"}},
		&event.Intended{ID: 1, Verb: "merge", Ref: "refs/heads/main", Agents: []task.ID{"a1"}, Earlier: []string{"a1.1"}},
		&event.Landed{ID: 1, OK: true},
	}
	for _, undone := range []bool{false, true} {
		if undone {
			all = append(all, &event.Undone{ID: 1})
		}
		var records []event.Record
		for i, e := range all {
			records = append(records, event.Record{N: int64(i + 1), Event: e})
		}
		a := Fold(Identity{}, records).Agent("a1")
		if a.Landed() || (a.Improved == first) == undone {
			t.Errorf("undone %v: landed %v, improves %+v", undone, a.Landed(), a.Improved)
		}
	}
	for name, want := range map[string]bool{"a1.1": true, "a12.3": true, "a1-1": false, "a1": false, "a1.0": false, "b1.1": false, "a1.01": false} {
		if _, _, ok := AttemptOf(name); ok != want {
			t.Errorf("AttemptOf(%s) = %t", name, ok)
		}
	}
}
