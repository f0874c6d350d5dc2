package mcp

import "testing"

// TestLeavingAfterTheEnd holds that no timer waits to stop a run that has ended,
// whether its client gave it up before the end or after.
func TestLeavingAfterTheEnd(t *testing.T) {
	t.Parallel()
	for _, before := range []bool{true, false} {
		j := newJob(func(error) {})
		j.join()
		if before {
			j.leave(true)
			if j.leaving == nil {
				t.Fatal("a run that was given up is not to stop")
			}
		}
		j.settle(&Status{}, nil)
		if !before {
			j.leave(true)
		}
		if j.leaving != nil {
			t.Errorf("a timer runs for a run that has ended (given up before: %t)", before)
		}
	}
}

// TestJoinedAsTheTimerFires: a call that joins a run between the end of the time to
// linger and the stop keeps the run at work.
func TestJoinedAsTheTimerFires(t *testing.T) {
	t.Parallel()
	stopped := false
	j := newJob(func(error) { stopped = true })
	j.join()
	j.leave(true)
	j.join()
	j.abandon()
	if stopped {
		t.Error("a run that a call waits for was stopped")
	}
	j.leave(true)
	j.abandon()
	if !stopped {
		t.Error("a run that nobody waits for goes on")
	}
	j.settle(&Status{}, nil)
}
