package engine

import (
	"context"
	"testing"

	"agentswarm/swarm/task"
)

// namer makes the calls for subjects by a function, and reads the plain answer.
type namer func(context.Context) (*task.Call, error)

func (n namer) Ask(ctx context.Context, _ SubjectRequest) (*task.Call, error) { return n(ctx) }

func (namer) Read(done *task.Completed) (string, error) { return done.Answer, nil }

// named waits for the subject of the next commit.
func (r *rig) named(e *Engine) {
	r.t.Helper()
	for {
		if _, known := (<-e.News()).(*Named); known {
			return
		}
	}
}

// TestSubjectOfAStoppedRun checks that a run stopped before the request for a
// subject records nothing about it, and that a resume asks.
func TestSubjectOfAStoppedRun(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.deps.Warn = func(text string) { t.Errorf("it warned: %s", text) }
	asked := make(chan struct{})
	r.deps.Subjects = namer(func(ctx context.Context) (*task.Call, error) {
		close(asked)
		<-ctx.Done()
		return nil, ctx.Err()
	})
	e := r.start(sh("touch f"))
	settled(e)
	<-asked
	if err := e.Stop(&Halt{Cause: task.CauseStopped, Reason: "signal"}); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if titled := r.view().Agent("a1").Titled; len(titled) > 0 {
		t.Fatalf("on record is why: %+v", titled[0])
	}

	r.deps.Subjects = namer(func(context.Context) (*task.Call, error) { return sh("printf 'Name it'"), nil })
	e = Open(t.Context(), r.deps, r.config, r.view())
	if _, err := e.Start(sh("touch f")); err != nil {
		t.Fatal(err)
	}
	r.named(e)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	subject, known := r.view().Agent("a1").Subject("commit-of-a1.1")
	is(t, "subject", subject, "Name it")
	is(t, "known", known, true)
}

// TestSubjectIsTriedOnce checks that a failed request for a subject is not
// repeated with another model.
func TestSubjectIsTriedOnce(t *testing.T) {
	t.Parallel()
	for _, said := range []string{
		`{"type":"result","text":"no JSON"}`, `{"type":"error","kind":"quota","message":"no"}`,
	} {
		r := newRig(t)
		r.config.Agents = specs("mine", `read -r p; printf '%s\n' '`+said+`'`)
		r.deps.Subjects = namer(func(context.Context) (*task.Call, error) {
			call := mine()
			call.Schema, call.Fallbacks = []byte(oneNumber), []task.Choice{{Model: "b"}, {Model: "c"}}
			return call, nil
		})
		e := r.start(sh("touch f"))
		r.named(e)
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		v := r.view()
		is(t, "attempts", v.Agent("a2").Attempts, 1)
		is(t, "switches", r.switches("a2"), "")
		if titled := v.Agent("a1").Titled; len(titled) != 1 || titled[0].Reason == "" {
			t.Errorf("what is on record of it: %+v", titled)
		}
	}
}
