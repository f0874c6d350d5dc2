package store

import (
	"strings"
	"testing"

	"agentswarm/swarm/event"
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
