package engine

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/event"
	"agentswarm/swarm/proc"
	"agentswarm/swarm/task"
)

// TestBecause holds which line of stderr is the cause of an exit status.
func TestBecause(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, stderr string
		kind         task.ErrorKind
		want         string
	}{
		{"the last line", "first\nfatal: no such thing\n\n", task.Other, "exit status 1: fatal: no such thing"},
		{"a warning after it", "fatal: gone\n(node:7) [DEP0040] DeprecationWarning: punycode\n(Use `node --trace-deprecation ...` to show where)\n", task.Other, "exit status 1: fatal: gone"},
		{"warnings only", "npm warn old\nWarning: 256-color support not detected\n", task.Other, "exit status 1"},
		{"another kind", "fatal: gone\n", task.Overloaded, "exit status 1"},
		{"nothing", "", task.Other, "exit status 1"},
	} {
		file := filepath.Join(t.TempDir(), "stderr")
		if err := os.WriteFile(file, []byte(test.stderr), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := because(file, test.kind, "exit status 1", nil); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// TestErrorWithoutStderr checks that no text is added to an error which the
// agent reported itself.
func TestErrorWithoutStderr(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.config.Agents = specs("mine", `echo 'stray line' >&2; printf '{"type":"error","kind":"other","message":"it broke"}\n'; exit 1`)
	failed, ok := r.play(mine())["a1"].Result.(*task.Failed)
	if !ok {
		t.Fatalf("a1 = %+v", r.view().Agent("a1").Status)
	}
	is(t, "its reason", failed.Reason, "it broke")
}

// TestWholeAnswer has answers that no result carries along, of owners that
// settle them and of those that die before.
func TestWholeAnswer(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 2*task.OutputLimit)
	for _, test := range []struct {
		name             string
		text, structured string // the answer
	}{
		{"text", "begin" + long, ""},
		{"structured", `{"s":"` + long + `"}`, `{"s":"` + long + `"}`},
	} {
		for _, crash := range []bool{false, true} {
			t.Run(fmt.Sprint(test.name, crash), func(t *testing.T) {
				t.Parallel()
				r := newRig(t)
				call := mine()
				call.Script = true
				if test.structured != "" {
					call.Schema = json.RawMessage(`{"type":"object"}`)
					r.config.Agents = specs("mine", `read -r p; printf '{"type":"result","structured":`+test.structured+`}\n'`)
				} else {
					r.prose("printf " + test.text)
				}
				if crash {
					r.crashAt("settled", 0, call)
				} else {
					r.play(call)
				}
				done, ok := r.view().Agent("a1").Result().(*task.Completed)
				if !ok || done.Whole == nil || len(done.Answer) > task.OutputLimit || done.Structured != nil {
					t.Fatalf("a1 = %s", word(r.view().Agent("a1").Result()))
				}
				text, structured, err := WholeAnswer(done)
				if err != nil || text != test.text || string(structured) != test.structured {
					t.Errorf("WholeAnswer = %d and %d bytes, %v", len(text), len(structured), err)
				}
				r.isOurs(done.Whole.File)
				if err := os.WriteFile(done.Whole.File, []byte(`{"text":"other"}`), 0o600); err != nil {
					t.Fatal(err)
				}
				if _, _, err := WholeAnswer(done); err == nil || !strings.Contains(err.Error(), "sum") {
					t.Errorf("of a changed file: %v", err)
				}
			})
		}
	}
}

// isOurs fails the test unless a file of the first attempt is there, readable
// only by this user.
func (r *rig) isOurs(file string) {
	r.t.Helper()
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 || filepath.Dir(file) != r.deps.Run.Attempt("a1", 1) {
		r.t.Errorf("%s is %v, %v", file, info, err)
	}
}

// TestShortAnswer checks that a result includes a short answer, and that its
// end is enough for runs without a script.
func TestShortAnswer(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	call := sh("printf short")
	call.Script = true
	all := r.play(call, sh("head -c 20000 /dev/zero | tr '\\0' y"))
	for id, want := range map[task.ID]int{"a1": 5, "a2": task.OutputLimit} {
		done := all[id].Result.(*task.Completed)
		text, structured, err := WholeAnswer(done)
		if err != nil || len(text) != want || structured != nil || done.Whole != nil {
			t.Errorf("%s: WholeAnswer = %d bytes, %s, %v", id, len(text), structured, err)
		}
	}
}

// TestAnswerThatCannotBeKept checks that an answer that cannot be written ends
// the run. The answer was paid for, so the next owner reads it again.
func TestAnswerThatCannotBeKept(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.prose(`mkdir "$SWARM_ARTIFACTS/../` + wholeFile + `"; head -c 20000 /dev/zero | tr '\0' y`)
	call := mine()
	call.Script = true
	e := r.start(call)
	<-e.Halted()
	if err := e.Close(); err == nil || !strings.Contains(err.Error(), "keep its answer") {
		t.Fatalf("Close = %v", err)
	}
	if err := os.Remove(filepath.Join(r.deps.Run.Attempt("a1", 1), wholeFile)); err != nil {
		t.Fatal(err)
	}
	died(t, r)
	done, ok := r.view().Agent("a1").Result().(*task.Completed)
	if !ok || done.Whole == nil {
		t.Errorf("a1 = %s", word(r.view().Agent("a1").Result()))
	}
}

// TestJoinedAnswer checks that an answer is marked as joined from two streams
// if the first broke.
func TestJoinedAnswer(t *testing.T) {
	t.Parallel()
	for _, joined := range []bool{false, true} {
		v := verdict{
			call: &task.Call{}, spec: &agent.Spec{}, changed: true,
			outcome: &agent.Outcome{Exit: proc.Exit{Reason: proc.Exited}, Answer: &event.Answered{Text: "ok", Joined: joined}},
		}
		result, err := v.result()
		if err != nil {
			t.Fatal(err)
		}
		notes := strings.Join(result.Done().Notes, "\n")
		if told := strings.Contains(notes, "joined with the next"); word(result) != "completed ok" || told != joined {
			t.Errorf("joined %t: it is %s, with the notes %q", joined, word(result), notes)
		}
	}
}

// TestNobodyAt holds that a failure whose error names no server names the one that
// the login of the agent does.
func TestNobodyAt(t *testing.T) {
	t.Parallel()
	kind := agent.Kind{Login: func(s agent.Surroundings) agent.Login {
		return agent.Login{Addresses: map[string]string{"": s.Getenv("BASE")}}
	}}
	around := agent.Surroundings{
		Getenv: func(string) string { return "http://127.0.0.1:1" }, Read: func(string) ([]byte, error) { return nil, os.ErrNotExist },
	}
	for _, test := range []struct {
		name   string
		deps   Deps
		own    map[string]string
		wanted string
	}{
		{"no login", Deps{}, nil, "the address of its model"},
		{"caller's", Deps{Kinds: map[string]agent.Kind{"k": kind}, Surroundings: around}, nil, "http://127.0.0.1:1"},
		{"its own", Deps{Kinds: map[string]agent.Kind{"k": kind}, Surroundings: around}, map[string]string{"BASE": "http://127.0.0.1:2"}, "http://127.0.0.1:2"},
	} {
		spec := &agent.Spec{Kind: "k", Env: test.own}
		v := verdict{
			call: &task.Call{}, spec: spec, address: addressOf(test.deps, spec),
			outcome: &agent.Outcome{Exit: proc.Exit{Reason: proc.Exited}, Error: &event.Erred{Kind: task.Overloaded, Message: "fetch failed sending request"}},
		}
		result, err := v.result()
		if err != nil {
			t.Fatal(err)
		}
		if want := "no server answers at " + test.wanted + ": is the server started? (fetch failed sending request)"; !strings.HasSuffix(word(result), want) {
			t.Errorf("%s: it is %q, want %q", test.name, word(result), want)
		}
	}
}
