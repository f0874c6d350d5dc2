package landing

import (
	"testing"

	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

func TestRunCheck(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		give  string
		named bool
	}{
		{"", false},
		{"go test ./...", false},
		{"go test ./$SWARM_ITEM/...", true},
		{`make -C "${SWARM_ITEM}"`, true},
		{"echo $SWARM_ITEMS", false},
		{"echo SWARM_ITEM", false},
		{"test $SWARM_AGENT = a1", true},
	} {
		want := tt.give
		if tt.named {
			want = ""
		}
		if got, named := RunCheck(tt.give); got != want || named != tt.named {
			t.Errorf("RunCheck(%q) = %q, %t, want %q, %t", tt.give, got, named, want, tt.named)
		}
	}
}

func TestPassedAlone(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	for _, tt := range []struct {
		name   string
		status task.Status
		check  string
		want   bool
	}{
		{"passed", &task.Completed{Verified: &yes}, "make", true},
		{"failed", &task.Completed{Verified: &no}, "make", false},
		{"no check", &task.Completed{}, "make", false},
		{"another check", &task.Completed{Verified: &yes}, "make test", false},
		{"failed itself", &task.Failed{}, "make", false},
	} {
		if got := PassedAlone(&store.Agent{Status: tt.status}, "make", tt.check); got != tt.want {
			t.Errorf("%s: PassedAlone = %t", tt.name, got)
		}
	}
	if PassedAlone(&store.Agent{Status: &task.Completed{Verified: &yes}, Copy: 1}, "make", "make") {
		t.Error("the check of the agent counts for a copy of its work")
	}
}
