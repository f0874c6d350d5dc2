package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentswarm/internal/testprogram"
	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

func TestCaptureFails(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.spaces.capture = func(name string) error {
		if name == "a1.1" {
			return errors.New("no space left")
		}
		return nil
	}
	all := r.play(sh("touch 1"), sh("touch 2"))
	failed, ok := all["a1"].Result.(*task.Failed)
	dir := filepath.Join(r.spaces.root, "a1.1")
	if !ok || failed.Kind != task.CaptureFailed || failed.Reason != "no space left; a resume tries again; its workspace is kept at "+dir {
		t.Errorf("a1 settled %+v", all["a1"].Result)
	}
	is(t, "released", r.spaces.released, "[a2.1]")
	is(t, "leases", len(r.view().Agent("a1").Leases), 1)
}

// TestWorkspaceGone has an agent that removes its workspace: there is nothing
// to keep, and nothing is left behind.
func TestWorkspaceGone(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	failed, ok := r.play(sh(`touch x; rm -rf "$PWD"`))["a1"].Result.(*task.Failed)
	if !ok || failed.Kind != task.CaptureFailed || strings.Contains(failed.Reason, "is kept") {
		t.Errorf("settled %+v", failed)
	}
	is(t, "released", r.spaces.released, "[a1.1 trash]")
}

// saying is an agent that says all of itself, and does something after that.
func saying(then string) string {
	return `printf '{"type":"session","id":"s","model":"m"}\n{"type":"usage","input":7}\n{"type":"result","text":"ok"}\n'; ` + then
}

// saidOf formats the parts of a result that come from the agent's output.
func saidOf(r task.Result) string {
	work := r.Done()
	return fmt.Sprintln(work.Output, work.Session, work.Model, work.Usage.Input, work.Conversation.Input)
}

// TestSaidOfTheLost checks that a second recovery, which captures the work of
// an agent whose owner died, keeps the facts that the first recovery read.
func TestSaidOfTheLost(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.config.Agents = specs("mine", "exit")
	r.append(called("a1", mine()), r.leasedAt("a1", 1), &event.Started{Agent: "a1", Attempt: 1, Step: "agent", Pid: 1 << 29, Start: 1})
	said := `{"type":"session","id":"s","model":"m"}` + "\n" + `{"type":"usage","input":7}` + "\n"
	if err := os.WriteFile(filepath.Join(r.deps.Run.Attempt("a1", 1), "stdout"), []byte(said), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, full := range []bool{true, false} {
		r.spaces.capture = func(string) error {
			if full {
				return errors.New("no space left")
			}
			return nil
		}
		died(t, r)
		result := r.view().Agent("a1").Result()
		is(t, "captured", result.Done().Patch != nil, !full)
		is(t, "said", saidOf(result), " s m 7 7\n")
	}
}

// TestSaidWithoutACapture checks that an agent's answer is in its result even
// if the capture of its work failed.
func TestSaidWithoutACapture(t *testing.T) {
	t.Parallel()
	for _, shared := range []bool{false, true} {
		r := newRig(t)
		r.config.Agents = specs("mine", saying(`rm -rf "$PWD"`))
		call := mine()
		call.Shared = shared
		result := r.play(call)["a1"].Result
		is(t, "result", endOf(result), "failed capture_failed")
		is(t, "said", saidOf(result), "ok s m 7 7\n")
	}
}

// TestSaidBeforeARound checks that a result has the agent's first answer even
// if its next round cannot start.
func TestSaidBeforeARound(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	program := filepath.Join(r.dir, "once")
	testprogram.Write(t, program, "#!/bin/sh\nrm \"$0\"\n"+saying(""))
	r.config.Agents = specs("mine", "")
	r.config.Agents["mine"].Command = []string{program}
	call := mine()
	call.Schema = json.RawMessage(oneNumber)
	result := r.play(call)["a1"].Result
	is(t, "result", endOf(result), "failed start_failed")
	is(t, "said", saidOf(result), "ok s m 7 7\n")
}

// TestJournalFails refuses each kind of record in turn: the run ends, says
// why, and does nothing that is not on disk.
func TestJournalFails(t *testing.T) {
	t.Parallel()
	full := errors.New("no room")
	for _, kind := range []string{
		"called", "leased", "started", "ended", "captured", "checked", "settled", "released",
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.config.Verify = "true"
			r.fail = func(e event.Event) error {
				if event.Kind(e) == kind {
					return full
				}
				return nil
			}
			e := Open(t.Context(), r.deps, r.config, nil)
			_, err := e.Start(sh("touch x"))
			if (err != nil) != (kind == "called") {
				t.Errorf("Start = %v", err)
			}
			<-e.Halted()
			if _, err := e.Start(sh("touch $RIG/late")); !errors.Is(err, full) {
				t.Errorf("Start after the failure = %v", err)
			}
			if err := e.Close(); !errors.Is(err, full) || !strings.Contains(err.Error(), "journal "+kind) {
				t.Errorf("Close = %v", err)
			}
			if kind != "released" {
				is(t, "released", r.spaces.released, "[]")
			}
			is(t, "late", r.lines("late"), "[]")
			// The next owner finds all of it.
			r.mu.Lock()
			r.fail = nil
			r.mu.Unlock()
			died(t, r)
			if a := r.view().Agent("a1"); a != nil && (len(a.Leases) > 0 || a.Attempt > 0 && a.Result() == nil) {
				t.Errorf("after Recover: %+v", a)
			}
		})
	}
}
