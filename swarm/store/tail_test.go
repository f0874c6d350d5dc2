package store

import (
	"errors"
	"os"
	"reflect"
	"testing"

	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// TestTail compares each look with a reader of the whole journal.
func TestTail(t *testing.T) {
	t.Parallel()
	r, o := created(t, scratch(t))
	tail := r.Tail()
	defer func() {
		if err := tail.Close(); err != nil {
			t.Error(err)
		}
	}()
	look := func(what string, status Status, died bool) *View {
		t.Helper()
		got, err := tail.View()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		want, err := r.View()
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: View = %+v, want %+v, %v", what, got, want, err)
		}
		if got.Status != status || got.Died != died {
			t.Errorf("%s: it is %s, died %t", what, got.Status, got.Died)
		}
		return got
	}
	look("nothing", RunRunning, false)
	mustAppend(t, o, &event.Called{Agent: "a1", Call: &task.Call{Label: "one", Input: &task.TypedAgentInput{Prompt: "do"}}})
	look("a call", RunRunning, false)
	if v := look("the same", RunRunning, false); len(v.Agents) != 1 {
		t.Errorf("%d agents", len(v.Agents))
	}
	mustClose(t, o)
	look("its owner is gone", RunStopped, true)
	again, err := r.Own(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	look("another owner", RunRunning, false)
	mustAppend(t, again, &event.Called{Agent: "a2", Call: &task.Call{Label: "two", Input: &task.TypedAgentInput{Prompt: "do"}}})

	// Another file replaces the journal, and then a file that is no journal.
	text, err := os.ReadFile(r.Journal())
	if err != nil {
		t.Fatal(err)
	}
	if err := writeFile(r.Journal(), text); err != nil {
		t.Fatal(err)
	}
	if v := look("replaced", RunRunning, false); len(v.Agents) != 2 {
		t.Errorf("%d agents", len(v.Agents))
	}
	if err := writeFile(r.Journal(), []byte("x\ny\n")); err != nil {
		t.Fatal(err)
	}
	var corrupt *CorruptError
	for range 2 {
		if _, err := tail.View(); !errors.As(err, &corrupt) {
			t.Errorf("View = %v, want a corrupt journal", err)
		}
	}
	mustAppend(t, again, &event.Closed{Status: string(RunCompleted)})
	mustClose(t, again) // puts it back
	look("put back and closed", RunCompleted, false)
}
