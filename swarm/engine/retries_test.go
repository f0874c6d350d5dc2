package engine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"agentswarm/swarm/event"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// reasons lists the reasons for the retries of an agent.
func (r *rig) reasons(id task.ID) string {
	r.t.Helper()
	records, err := r.deps.Run.Records()
	if err != nil {
		r.t.Fatal(err)
	}
	var reasons []string
	for _, rec := range records {
		if e, ok := rec.Event.(*event.Retried); ok && e.Agent == id {
			reasons = append(reasons, fmt.Sprintf("%d:%s", e.Attempt, e.Error))
		}
	}
	return strings.Join(reasons, " ")
}

// supervisorOf is the supervisor's pid of a running agent.
func (r *rig) supervisorOf(id task.ID) int {
	r.t.Helper()
	supervisors := r.view().Agent(id).Supervisors
	if len(supervisors) != 1 {
		r.t.Fatalf("%s has %d supervisors, want one", id, len(supervisors))
	}
	return supervisors[0].Pid
}

// TestLostIsTriedAgain kills the supervisor of the first attempt. The end of
// its agent is unknown, so it is retried.
func TestLostIsTriedAgain(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		retries, attempts int
		want, reasons     string
	}{
		{1, 2, "completed", "1:lost"},
		{0, 1, "failed lost", ""},
	} {
		t.Run(fmt.Sprint(test.retries), func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.config.Retries = test.retries
			e := Open(t.Context(), r.deps, r.config, (*store.View)(nil))
			// The loop ends by itself if nothing ends it.
			if _, err := e.Start(sh(`
				test "$SWARM_ATTEMPT" = 2 && exit 0
				touch "$RIG/up"; while test -d "$RIG"; do :; done`)); err != nil {
				t.Fatal(err)
			}
			r.await("up")
			if err := syscall.Kill(r.supervisorOf("a1"), syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			result := settled(e).Result
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			is(t, "result", endOf(result), test.want)
			is(t, "attempts", result.Done().Attempts, test.attempts)
			is(t, "tried again after", r.reasons("a1"), test.reasons)
		})
	}
}

// TestStartFailedIsTriedAgain checks that a program that cannot be started is
// retried as often as configured, and no more.
func TestStartFailedIsTriedAgain(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name              string
		retries, attempts int
		comes             bool // the program, before the second attempt
		want, reasons     string
	}{
		{"it comes", 1, 2, true, "completed", "1:start_failed"},
		{"nobody waits for it", 0, 1, true, "failed start_failed", ""},
		{"it never comes", 1, 2, false, "failed start_failed", "1:start_failed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.config.Retries = test.retries
			program := filepath.Join(r.dir, "program")
			leases := 0
			r.spaces.lease = func(string) error {
				if leases++; leases == 2 && test.comes {
					return os.Symlink("/bin/sh", program)
				}
				return nil
			}
			call := sh("exit 0")
			call.Command[0] = program
			result := r.play(call)["a1"].Result
			is(t, "result", endOf(result), test.want)
			is(t, "attempts", result.Done().Attempts, test.attempts)
			is(t, "tried again after", r.reasons("a1"), test.reasons)
		})
	}
}

// TestNoWorkspaceIsTriedAgain is the same for a workspace that could not be
// made, of an error that does not say that it passes.
func TestNoWorkspaceIsTriedAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.config.Retries = 1
	leases := 0
	r.spaces.lease = func(string) error {
		if leases++; leases == 1 {
			return errors.New("no such thing")
		}
		return nil
	}
	result := r.play(sh("true"))["a1"].Result
	is(t, "result", endOf(result), "completed")
	is(t, "attempts", result.Done().Attempts, 2)
	is(t, "tried again after", r.reasons("a1"), "1:start_failed")
}

// endOf is the result of an agent in words.
func endOf(r task.Result) string {
	if f, ok := r.(*task.Failed); ok {
		return "failed " + string(f.Kind)
	}
	return task.Word(r)
}
