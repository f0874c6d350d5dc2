package store

import (
	"testing"

	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// TestRounds checks the view of an agent whose attempt has several processes.
func TestRounds(t *testing.T) {
	t.Parallel()
	began := func(step string, round, pid int) *event.Started {
		return &event.Started{Agent: "a1", Attempt: 1, Step: step, Round: round, Pid: pid}
	}
	records := record(
		called(1, "one"), &event.Leased{Agent: "a1", Attempt: 1, Dir: "d1"},
		began("setup", 0, 1), began("agent", 0, 2), &event.Ended{Agent: "a1", Attempt: 1, Code: 7}, // 5
		began("agent", 2, 3), &event.Ended{Agent: "a1", Attempt: 1, Code: 8},
		began("verify", 0, 4), &event.Leased{Agent: "a1", Attempt: 2, Dir: "d2"},
	)
	for n, want := range map[int]struct {
		round, exit, supervisors int // -1: none
	}{3: {-1, -1, 1}, 4: {0, -1, 2}, 5: {0, 7, 0}, 6: {2, -1, 1}, 7: {2, 8, 0}, 8: {2, 8, 1}, 9: {-1, -1, 1}} {
		a := Fold(Identity{}, records[:n]).Agent(task.ID("a1"))
		round, exit := -1, -1
		if a.Round != nil {
			round = a.Round.Round
		}
		if a.Exit != nil {
			exit = a.Exit.Code
		}
		if round != want.round || exit != want.exit || len(a.Supervisors) != want.supervisors {
			t.Errorf("after %d records: round %d, exit %d, %d supervisors, want %+v", n, round, exit, len(a.Supervisors), want)
		}
	}
}
