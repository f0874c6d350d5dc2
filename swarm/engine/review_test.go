package engine

import (
	"errors"
	"testing"

	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// TestReviewIsOfOneAttempt checks that a person cannot accept unseen work.
func TestReviewIsOfOneAttempt(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	e := Open(t.Context(), r.deps, r.config, nil)
	if _, err := e.Start(sh(`touch f$SWARM_ATTEMPT; test $SWARM_ATTEMPT = 1 || { touch "$RIG/up"; while ! test -e "$RIG/go"; do :; done; }`)); err != nil {
		t.Fatal(err)
	}
	settled(e)
	good := event.Reviewed{Agent: "a1", Attempt: 1, Verdict: task.Accepted}
	if err := e.Review(ReviewRequest{Marks: []event.Reviewed{good}}); err != nil {
		t.Fatal(err)
	}
	if a := r.view().Agent("a1"); a.Review == nil || a.Review.Verdict != task.Accepted {
		t.Errorf("the review is %+v", a.Review)
	}
	if err := e.Retry(RetryRequest{Agents: []task.ID{"a1"}}); err != nil {
		t.Fatal(err)
	}
	r.await("up")
	var moved *MovedOnError
	if err := e.Review(ReviewRequest{Marks: []event.Reviewed{good}}); !errors.As(err, &moved) || moved.Attempt != 2 {
		t.Errorf("a review of an attempt that is over = %v", err)
	}
	if err := e.Review(ReviewRequest{Marks: []event.Reviewed{{Agent: "a9", Attempt: 1, Verdict: task.Accepted}}}); err == nil {
		t.Error("an unknown agent was accepted")
	}
	// Such a review, journaled by an older version, counts for nothing.
	r.append(&good)
	r.touch("go")
	settled(e)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if a := r.view().Agent("a1"); a.Review != nil {
		t.Errorf("the new attempt has the review %+v", a.Review)
	}
}
