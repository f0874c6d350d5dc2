package runcmd

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentswarm/swarm/cli/follow"
	"agentswarm/swarm/event"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// nextOwner is a closer after which another process owns the run, and reserves.
type nextOwner struct{ reserve string }

func (n nextOwner) Close() error {
	if _, err := os.Stat(n.reserve); err == nil {
		return errors.New("the reserve is still there")
	}
	return os.WriteFile(n.reserve, nil, 0o600)
}

// TestGiveUp leaves the reserve of the next owner alone.
func TestGiveUp(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	reserve := filepath.Join(dir, "reserve")
	if err := os.WriteFile(reserve, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cause := errors.New("a cause")
	if err := giveUp(dir, nextOwner{reserve}, cause); !errors.Is(err, cause) || err.Error() != cause.Error() {
		t.Errorf("giveUp = %v, want the cause alone", err)
	}
	if _, err := os.Stat(reserve); err != nil {
		t.Errorf("the next owner's reserve: %v", err)
	}
}

// TestShowsFromTheStart checks that a watcher gets the records before its
// start, too, and ends with the run.
func TestShowsFromTheStart(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	since := time.Now()
	for _, e := range []event.Event{
		&event.Called{Agent: "a1", Call: &task.Call{Label: "first", Input: &task.TypedAgentInput{Prompt: "x"}}},
		&event.Started{Agent: "a1", Attempt: 1, Step: "agent", Pid: 1 << 30},
		&event.Closed{Status: string(store.RunCompleted)},
	} {
		_, err := s.session.Owner.Append(e)
		s.ok(err)
	}
	var said strings.Builder
	p := *s.place
	p.Env.Stderr = &said
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // it ends by itself
	defer cancel()
	follow.ShowAt(ctx, &p, s.session.Run, nil, since)
	if got, want := said.String(), "a1 first running\n"; got != want {
		t.Errorf("it shows %q, want %q", got, want)
	}
}
