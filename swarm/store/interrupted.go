package store

import "agentswarm/swarm/task"

// notRecovered is the reason of an agent whose run waits for recovery.
const notRecovered = "swarm ended while it ran; recovery is pending"

// Interrupted completes the view of a run whose owner died, for commands that
// only read. Agents that were at work count as lost, and the run has the status
// and the exit code that recovery will journal. Recovery may learn more, such
// as an answer that was given. A run that has an owner, or was closed, is left
// as it is.
func (v *View) Interrupted() {
	if !v.Died {
		return
	}
	v.Code = 1
	if v.Pause != nil && v.Stop == nil {
		v.Status, v.Reason, v.Code = RunPaused, v.Pause.Reason, 6
	}
	for _, a := range v.Agents {
		if a.Attempt == 0 || a.Pending() || a.Parked != "" || a.Result() != nil {
			continue
		}
		work := task.Work{Attempts: a.Attempt, Started: a.Began, Ended: v.LastTime}
		if a.Captured != nil {
			work.Patch, work.Notes = a.Captured.Patch, a.Captured.Notes
			work.Large, work.LargeMore = a.Captured.Large, a.Captured.LargeMore
		}
		a.Status = &task.Failed{Kind: task.Lost, Reason: notRecovered, Work: work}
	}
}

// Uncaptured is how many workspaces a run left whose owner died. Recovery
// captures them.
func (v *View) Uncaptured() int {
	if !v.Died {
		return 0
	}
	n := 0
	if v.Shared != nil {
		n++
	}
	for _, a := range v.Agents {
		for _, l := range a.Leases {
			if !l.Shared {
				n++
			}
		}
	}
	return n
}
