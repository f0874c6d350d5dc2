package landing

import (
	"errors"
	"strings"
	"testing"

	"agentswarm/swarm/event"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree/git"
)

// TestFindDrop: only the last landing can be made again, on the branch where it is.
func TestFindDrop(t *testing.T) {
	t.Parallel()
	const ref = "refs/heads/main"
	verified := &event.Verified{Tree: "tree of c1", Command: "make", Passed: true}
	landed := &event.Intended{ID: 1, Verb: VerbMerge, Ref: ref, New: "c1", Agents: []task.ID{"a1", "a2", "a3"}, Copies: []string{"a2-1"}}
	applied := &event.Intended{ID: 2, Verb: "apply", Agents: []task.ID{"a4"}}
	undone := &event.Undone{ID: 1}
	ok := func(id int) event.Event { return &event.Landed{ID: id, OK: true} }
	for _, tt := range []struct {
		name    string
		events  []event.Event
		ref     string
		drop    []task.ID
		left    string
		command string
		err     string
	}{
		{"one of three", []event.Event{verified, landed, ok(1)}, ref, []task.ID{"a3"}, "a1 a2-1", "make", ""},
		{"without a check", []event.Event{landed, ok(1)}, ref, []task.ID{"a2"}, "a1 a3", "", ""},
		{"all", []event.Event{landed, ok(1)}, ref, []task.ID{"a1", "a2", "a3"}, "", "", ""},
		{"not in it", []event.Event{landed, ok(1)}, ref, []task.ID{"a4"}, "", "", "a4 is not in"},
		{"nothing landed", nil, ref, []task.ID{"a1"}, "", "", "no merge"},
		{"taken back", []event.Event{landed, ok(1), undone}, ref, []task.ID{"a1"}, "a2-1 a3", "", "taken back already"},
		{"taken back, with its check", []event.Event{verified, landed, ok(1), undone}, ref, []task.ID{"a2"}, "a1 a3", "make", "taken back already"},
		{"taken back, with all", []event.Event{landed, ok(1), undone}, ref, []task.ID{"a1", "a2", "a3"}, "", "", "taken back already"},
		{"taken back, not in it", []event.Event{landed, ok(1), undone}, ref, []task.ID{"a4"}, "", "", "no merge"},
		{"taken back, another branch", []event.Event{landed, ok(1), undone}, "refs/heads/other", []task.ID{"a1"}, "", "", "no merge"},
		{"taken back, an apply since", []event.Event{landed, ok(1), undone, applied, ok(2)}, ref, []task.ID{"a1"}, "", "", "not a merge onto"},
		{"another branch", []event.Event{landed, ok(1)}, "refs/heads/other", []task.ID{"a1"}, "", "", "not a merge onto"},
		{"an apply since", []event.Event{landed, ok(1), applied, ok(2)}, ref, []task.ID{"a1"}, "", "", "not a merge onto"},
	} {
		var records []event.Record
		for i, e := range tt.events {
			records = append(records, event.Record{N: int64(i + 1), Event: e})
		}
		d, err := FindDrop(DropRequest{
			View: store.Fold(store.Identity{}, records), Ref: tt.ref, Agents: tt.drop,
			TreeOf: func(c git.Hash) (git.Hash, error) { return "tree of " + c, nil },
		})
		not, refused := errors.AsType[*DropError](err)
		if refused != (tt.err != "") || refused && !strings.Contains(not.Reason, tt.err) || err != nil && !refused {
			t.Errorf("%s: FindDrop gives %v, want %q", tt.name, err, tt.err)
		}
		if refused && (not.Undone != nil) != strings.HasPrefix(tt.err, "taken back") {
			t.Errorf("%s: the refusal has %+v", tt.name, not.Undone)
		}
		if refused && not.Undone != nil {
			d, err = *not.Undone, nil
		}
		if err == nil && (strings.Join(d.Left, " ") != tt.left || d.Command != tt.command) {
			t.Errorf("%s: %v are left, with %q; want %s, %q", tt.name, d.Left, d.Command, tt.left, tt.command)
		}
	}
}
