package store

import (
	"time"

	"agentswarm/swarm/task"
)

// leastEnded is how many agents must have ended before the time of the others
// is estimated.
const leastEnded = 3

// Growing reports whether the run may yet get more agents: its script has not
// returned.
func (v *View) Growing() bool {
	return v.Status == RunRunning && (v.Script != nil || v.Identity.Workflow.Kind == WorkflowScript) && v.Returned == nil
}

// Left estimates how long the agents of the run that have not ended still take:
// as long as those that have ended took on average, at as many at once as are at
// work now. It is false where that cannot be told: too few have ended, a script
// may start more, or no agent is at work. The quickest agents end first, so it is
// false also while more agents have outlived the average than have ended.
func (v *View) Left(now time.Time) (left time.Duration, ok bool) {
	var all time.Duration
	ended, busy := 0, 0
	for _, a := range v.Agents {
		switch s := a.Status.(type) {
		case *task.Running:
			if s.State == task.Working || s.State == task.Checking {
				busy++
			}
		case *task.Completed, *task.Failed:
			if took := a.busy(now); took > 0 {
				ended++
				all += took
			}
		case *task.Cancelled:
		}
	}
	if ended < leastEnded || busy == 0 || v.Pause != nil || v.Growing() || v.Status != RunRunning {
		return 0, false
	}
	average := all / time.Duration(ended)
	var sum, longest time.Duration
	outlived := 0
	for _, a := range v.Agents {
		if _, live := a.Status.(*task.Running); !live {
			continue
		}
		if a.busy(now) > average {
			outlived++
		}
		// An agent that takes longer than the average is about to end.
		part := max(average-a.busy(now), average/10)
		sum, longest = sum+part, max(longest, part)
	}
	if outlived > ended {
		return 0, false
	}
	return max(sum/time.Duration(busy), longest), true
}

// busy is how long the agent has worked and was checked.
func (a *Agent) busy(now time.Time) time.Duration {
	times := a.Times(now)
	return times.Worked + times.Checked
}

// Counts is how many agents of a run are in each state.
type Counts struct {
	Of                           map[task.State]int // that have not ended
	Completed, Failed, Cancelled int
}

// Counts counts the agents of the run by state.
func (v *View) Counts() Counts {
	n := Counts{Of: map[task.State]int{}}
	for _, a := range v.Agents {
		switch s := a.Status.(type) {
		case *task.Running:
			n.Of[s.State]++
		case *task.Completed:
			n.Completed++
		case *task.Failed:
			n.Failed++
		case *task.Cancelled:
			n.Cancelled++
		}
	}
	return n
}

// Done is how many have come to their own end.
func (n Counts) Done() int { return n.Completed + n.Failed }

// Total is how many there are.
func (n Counts) Total() int {
	sum := n.Completed + n.Failed + n.Cancelled
	for _, k := range n.Of {
		sum += k
	}
	return sum
}
