package store

import (
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
		{"passed in both", []event.Event{passed, refused, passed}, "earlier passed"},
	} {
		var records []event.Record
		for i, e := range tt.events {
			records = append(records, event.Record{N: int64(i + 1), Event: e})
		}
		v := Fold(Identity{}, records)
		var got []string
		for _, e := range v.VerdictsOn("t", "make") {
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
