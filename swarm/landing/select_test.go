package landing

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"agentswarm/swarm/event"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

const onMain = "refs/heads/main"

// TestSelect: a merge without names takes the patches that nothing speaks
// against, and counts those that it leaves out.
func TestSelect(t *testing.T) {
	t.Parallel()
	no := false
	patch := &task.Patch{Commit: "c"}
	good := &task.Completed{Work: task.Work{Patch: patch}}
	bad := &task.Completed{Work: task.Work{Patch: patch}, Verified: &no}
	reviewed := func(a *store.Agent, v task.Verdict) *store.Agent {
		a.Review = &event.Reviewed{Verdict: v}
		return a
	}
	found := func(a *store.Agent) *store.Agent {
		a.Found = []string{onMain}
		return a
	}
	for _, tt := range []struct {
		name   string
		agents []*store.Agent
		named  []task.ID
		want   string // chosen; skipped; landed; open; uncaptured, if there are any
		err    Refusal
	}{
		{"in plan order", []*store.Agent{endedAgent("a10", "", good), endedAgent("a9", "", good)}, nil, "a9 a10;;0;", 0},
		{"a failed check", []*store.Agent{endedAgent("a1", "", bad), endedAgent("a2", "", good)}, nil, "a2;a1;0;", 0},
		{"an accepted one", []*store.Agent{reviewed(endedAgent("a1", "", bad), task.Accepted)}, nil, "a1;;0;", 0},
		{"a rejected one", []*store.Agent{reviewed(endedAgent("a1", "", good), task.Rejected)}, nil, ";a1;0;", 0},
		{"on the branch", []*store.Agent{found(endedAgent("a1", "", good))}, nil, ";;1;", 0},
		{"on the branch by its name", []*store.Agent{found(endedAgent("a1", "", bad))}, nil, ";;1;", 0},
		{"no change", []*store.Agent{endedAgent("a1", "", &task.Completed{})}, nil, ";;0;", 0},
		{
			"not captured",
			[]*store.Agent{endedAgent("a1", "", &task.Failed{Kind: task.CaptureFailed}), endedAgent("a2", "", good)},
			nil, "a2;;0;;a1", 0,
		},
		{"alternatives", []*store.Agent{endedAgent("a1", "g", good), endedAgent("a2", "g", good)}, nil, ";;0;a1 a2", 0},
		{
			"one is accepted",
			[]*store.Agent{endedAgent("a1", "g", good), reviewed(endedAgent("a2", "g", good), task.Accepted)},
			nil, "a2;;0;", 0,
		},
		{"a rival landed", []*store.Agent{endedAgent("a1", "g", good), found(endedAgent("a2", "g", good))}, nil, ";;1;", 0},
		{"named", []*store.Agent{endedAgent("a1", "", bad), endedAgent("a2", "", good)}, []task.ID{"a1"}, "a1;;0;", 0},
		{"named without a patch", []*store.Agent{endedAgent("a1", "", &task.Completed{})}, []task.ID{"a1"}, ";;0;", NoPatch},
		{"named, rejected", []*store.Agent{reviewed(endedAgent("a1", "", good), task.Rejected)}, []task.ID{"a1"}, ";;0;", WasRejected},
		{"named, landed", []*store.Agent{found(endedAgent("a1", "", good))}, []task.ID{"a1"}, ";;0;", HasLanded},
		{
			"named, a rival landed",
			[]*store.Agent{endedAgent("a1", "g", good), found(endedAgent("a2", "g", good))},
			[]task.ID{"a1"}, ";;0;", RivalLanded,
		},
		{
			"both named", []*store.Agent{endedAgent("a1", "g", good), endedAgent("a2", "g", good)},
			[]task.ID{"a1", "a2"}, ";;0;", AreRivals,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			v := &store.View{Agents: tt.agents}
			s, err := Select(SelectRequest{View: v, Named: tt.named, Ref: onMain})
			got := strings.Join([]string{ids(s.Chosen), ids(s.Skipped), string(rune('0' + s.Landed)), ids(s.Open)}, ";")
			if len(s.Uncaptured) > 0 {
				got += ";" + ids(s.Uncaptured)
			}
			if got != tt.want {
				t.Errorf("Select = %q, want %q", got, tt.want)
			}
			var not *RefusedError
			if errors.As(err, &not) != (tt.err != 0) || not != nil && (not.Why != tt.err || not.Error() == "") {
				t.Errorf("error is %v, want refusal %d", err, tt.err)
			}
		})
	}
}

// TestDeclined: a person rejected the work, or the script passed it over.
func TestDeclined(t *testing.T) {
	t.Parallel()
	after := func(id task.ID, facts ...event.Event) store.Agent {
		var all []event.Event
		for _, id := range []task.ID{"a1", "a2"} {
			all = append(all, &event.Called{Agent: id, Call: &task.Call{}}, &event.Leased{Agent: id, Attempt: 1},
				&event.Settled{Agent: id, Attempt: 1, Result: &task.Completed{}})
		}
		var records []event.Record
		for i, fact := range append(all, facts...) {
			records = append(records, event.Record{N: int64(i + 1), Event: fact})
		}
		return *store.Fold(store.Identity{}, records).Agent(id)
	}
	race := &event.Chosen{Won: []task.ID{"a2"}, Lost: []task.ID{"a1"}}
	intended, landed := &event.Intended{ID: 1, Verb: "merge", Key: "k", Agents: []task.ID{"a2"}}, &event.Landed{ID: 1, OK: true}
	for name, tt := range map[string]struct {
		give store.Agent
		want bool
	}{
		"open":     {store.Agent{}, false},
		"accepted": {store.Agent{Review: &event.Reviewed{Verdict: task.Accepted}}, false},
		"rejected": {store.Agent{Review: &event.Reviewed{Verdict: task.Rejected}}, true},

		"lost a race":             {after("a1", race), true},
		"won a race":              {after("a2", race), false},
		"not landed by a script":  {after("a1", intended, landed), true},
		"landed by a script":      {after("a2", intended, landed), false},
		"rejected though it won":  {after("a2", race, &event.Reviewed{Agent: "a2", Attempt: 1, Verdict: task.Rejected}), true},
		"accepted though it lost": {after("a1", intended, landed, &event.Reviewed{Agent: "a1", Attempt: 1, Verdict: task.Accepted}), false},
	} {
		if got := Declined(&tt.give); got != tt.want {
			t.Errorf("%s: Declined = %t, want %t", name, got, tt.want)
		}
	}
}

// TestWorkers: neither reviewers nor the agents that name commits are workers.
func TestWorkers(t *testing.T) {
	t.Parallel()
	v := &store.View{Agents: []*store.Agent{
		{ID: "a1", Call: &task.Call{}},
		{ID: "a2", Call: &task.Call{Stage: &task.Stage{Name: ReviewStage}}},
		{ID: "a3", Call: &task.Call{SubjectOf: "a1"}},
		{ID: "a4", Call: &task.Call{Stage: &task.Stage{Name: "implementer"}}},
	}}
	if got := ids(Workers(v)); got != "a1 a4" {
		t.Errorf("Workers = %q, want a1 a4", got)
	}
}

func ids(agents []*store.Agent) string {
	var all []string
	for _, a := range agents {
		all = append(all, string(a.ID))
	}
	return strings.Join(slices.Clip(all), " ")
}
