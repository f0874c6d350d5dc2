package follow

import (
	"reflect"
	"testing"
	"time"

	"agentswarm/swarm/cli/view"
	"agentswarm/swarm/task"
)

// TestTimeless holds that the clock alone brings no new object of a watched run,
// and that a change of an agent does.
func TestTimeless(t *testing.T) {
	t.Parallel()
	w, now := hundred()
	w.View.Opened.Budget = &task.Amount{Time: time.Hour}
	first := view.NewRunObject(w.View, now)
	later := view.NewRunObject(w.View, now.Add(time.Minute))
	if reflect.DeepEqual(first, later) {
		t.Fatal("the clock changes nothing in the object")
	}
	if got, want := later.Timeless(), first.Timeless(); !reflect.DeepEqual(got, want) {
		t.Errorf("a minute later the object is %+v, want %+v", got, want)
	}
	if later.Budget.Spent.Time == 0 || later.Duration == 0 {
		t.Error("Timeless has changed the object itself")
	}
	later.Agents[0].Status = "cancelled"
	if reflect.DeepEqual(later.Timeless(), first.Timeless()) {
		t.Error("the state of an agent does not count")
	}
}
