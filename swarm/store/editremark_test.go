package store

import (
	"testing"

	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// TestEditRemarks: a draft is sent by the retry that names it, or withdrawn; none
// is lost, not even a remark whose ID another has.
func TestEditRemarks(t *testing.T) {
	t.Parallel()
	remark := func(id int, text string) *event.Remarked {
		return &event.Remarked{ID: id, Agent: "a1", Attempt: 1, Text: text}
	}
	var records []event.Record
	for i, e := range []event.Event{
		&event.Called{Agent: "a1", Call: &task.Call{Input: &task.TypedAgentInput{Prompt: "p"}}},
		&event.Leased{Agent: "a1", Attempt: 1},
		&event.Captured{Agent: "a1", Attempt: 1, Patch: &task.Patch{Ref: "one"}},
		&event.Settled{Agent: "a1", Attempt: 1, Result: &task.Completed{}},
		remark(1, "first"), remark(2, "second"), remark(2, "at the same time"), remark(4, "withdrawn"), remark(4, ""), remark(9, ""),
		&event.RetryAsked{Agent: "a1", After: 1, Feedback: "f", Remarks: []int{1, 3}},
		remark(1, ""), // it was sent
		&event.Leased{Agent: "a1", Attempt: 2},
		&event.Captured{Agent: "a1", Attempt: 2, Patch: &task.Patch{Ref: "two"}},
		&event.Leased{Agent: "a1", Attempt: 3},
	} {
		records = append(records, event.Record{N: int64(i + 1), Event: e})
	}
	a := Fold(Identity{}, records).Agent("a1")
	want := []EditRemark{{Remarked: remark(1, "first"), Sent: 2}, {Remarked: remark(2, "second")}, {Remarked: remark(3, "at the same time"), Sent: 2}}
	if len(a.OnEdits) != len(want) {
		t.Fatalf("%d remarks, want %d", len(a.OnEdits), len(want))
	}
	for i, r := range a.OnEdits {
		if r.ID != want[i].ID || r.Text != want[i].Text || r.Sent != want[i].Sent {
			t.Errorf("remark %d: %d %q sent %d, want %+v", i, r.ID, r.Text, r.Sent, want[i])
		}
	}
	if drafts := a.Drafts(); len(drafts) != 1 || drafts[0].ID != 2 || a.NextRemark() != 4 {
		t.Errorf("drafts %v, next %d", drafts, a.NextRemark())
	}
	// Attempt 2 was not reviewed.
	if before := a.ReviewedBefore(); before == nil || before.Attempt != 1 {
		t.Errorf("reviewed before: %+v", before)
	}
}
