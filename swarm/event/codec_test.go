package event

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"strings"
	"testing"
	"time"

	"agentswarm/swarm/task"
)

// samples holds an event of every variant; TestSamplesAreComplete keeps it so.
func samples() []Event {
	ok := true
	raw := json.RawMessage(`{"a":1}`)
	until := time.Unix(7, 0).UTC()
	return []Event{
		&Opened{Pid: 1, Version: "v", Resumed: true, Walls: "w", Keeper: 2, KeeperStart: 3, Budget: &task.Amount{Tokens: 4, USD: 0.5, Time: 6}, MaxTurns: new(7)},
		&Called{Agent: "a1", Call: &task.Call{
			Key: "k", Base: "b", BaseTree: "t",
			Input: &task.TypedAgentInput{Prompt: "p"},
		}},
		&Leased{Agent: "a1", Attempt: 1, Backend: "worktree", Dir: "d", Admin: "m", Index: "i", Base: "b"},
		&Started{Agent: "a1", Attempt: 1, Step: "agent", Pid: 2, Start: 3},
		&Ended{Agent: "a1", Attempt: 1, Code: 2, Signal: "s", Error: task.Killed, Reason: "r", Left: 1, Stdout: 4, Stderr: 5, CPU: 6, MaxRSS: 7},
		&Captured{Agent: "a1", Attempt: 1, Patch: &task.Patch{Ref: "r"}, Head: "h", Complete: true, Notes: []string{"n"}, Ignored: []task.Ignored{{Path: "p", Bytes: 1}}, More: 2},
		&Checked{Agent: "a1", Attempt: 1, OK: false, Code: 1, Output: "f", Note: "n"},
		&Settled{Agent: "a1", Attempt: 1, Result: &task.Failed{Kind: task.Lost, Reason: "r"}},
		&Released{Agent: "a1", Attempt: 1, Trash: "t"},
		&Retried{Agent: "a1", Attempt: 1, Error: task.StartFailed, Reason: "r", Usage: &task.Usage{Input: 1}, Model: "m", Wait: 2},
		&CancelAsked{Agents: []task.ID{"a1"}, Cause: task.CauseStopped, Reason: "r"},
		&RetryAsked{Agent: "a1", After: 2, Feedback: "f", Fresh: true, From: &task.Patch{Ref: "r"}, Onto: "o", Remarks: []int{1}},
		&Reviewed{Agent: "a1", Attempt: 1, Verdict: task.Rejected, Reason: "r"},
		&Titled{Agent: "a1", Attempt: 1, Commit: "c", By: "a2", Subject: "s", Reason: "r"},
		&EditsReviewed{Agent: "a1", Attempt: 2, Verdict: task.Accepted, Reason: "r", Edits: []task.EditKey{{Path: "p", Exact: "e", Sum: "s", Nth: 1}}},
		&EditsReviewed{Agent: "a1", Attempt: 2, Verdict: task.Accepted, Edits: []task.EditKey{{Path: "a\xff", Exact: "e", Sum: "s", Nth: 1}, {Path: "a\xfe", Exact: "e", Sum: "s", Nth: 1}}},
		&Remarked{ID: 1, Agent: "a1", Attempt: 2, Edit: task.EditKey{Path: "p", Exact: "e", Sum: "s", Nth: 1}, Line: 3, Quote: []string{"q"}, Text: "t"},
		&Appraised{Agent: "a1", Attempt: 1, Pass: true, By: "a2", Problems: []string{"p"}},
		&Chosen{Won: []task.ID{"a1"}, Lost: []task.ID{"a2"}},
		&Questioned{ID: "r-1", Agent: "a1", Attempt: 1, Ask: "q", Action: raw, Redacted: true},
		&Replied{ID: "r-1", Allow: true, Text: "t", Reason: "r", For: task.ForTheRun, By: task.ByPerson},
		&Sent{Agent: "a1", Attempt: 1, Text: "t"},
		&Intended{ID: 1, Verb: "undo", Of: 1, Ref: "r", Old: "o", New: "n", Hold: "h", Dirs: []string{"d"}, Agents: []task.ID{"a1"}, Conflicts: []Conflict{{Agent: "a2", With: []task.ID{"a1"}, Paths: []string{"p"}, Hunks: []Hunk{{Path: "p", OursStart: 1}}, Text: "t"}}, Verified: &ok, Copies: []string{"a1-1"}, There: []task.ID{"a3"}, Refused: []Refusal{{Agent: "a4", Kind: "interaction"}}},
		&Verified{Ref: "r", Tree: "t", Command: "c", Agents: []task.ID{"a1"}, Passed: true, Code: 1, Output: "o", MS: 2},
		&Refused{Ref: "r", Tip: "t", BranchFails: true, Refused: []Refusal{{Agent: "a1", Copy: "a1-1", Kind: "failed", Command: "c", On: []task.ID{"a2"}, Tree: "t", Outputs: []string{"o"}}}},
		&Conflicted{Ref: "r", Tip: "t", Conflicts: []Conflict{{Agent: "a2", Paths: []string{"p"}}}, There: []task.ID{"a3"}},
		&Landed{ID: 1, OK: true, Reason: "r", Files: map[string]string{"f": "b"}},
		&Undone{ID: 1},
		&Scripted{
			Name: "s.js", Text: "return 1", Args: json.RawMessage(`{"a":1}`),
			Lib: []ScriptFile{{Name: "l.js", Text: "t"}}, Config: json.RawMessage(`{"config":{}}`),
		},
		&Entered{
			Verb: "check", Key: "k", Value: json.RawMessage(`true`),
			Error: &ScriptError{Name: "Error", Code: "timeout", Message: "m", Where: "s.js:1:2", Line: "l"},
		},
		&Logged{Text: "t", Phase: "p"},
		&Phased{Title: "t"},
		&Returned{Value: json.RawMessage(`[1]`), Unasked: []task.ID{"a1"}},
		&Paused{Cause: task.Quota, Reason: "r", Until: &until},
		&Held{Agent: "a1", Attempt: 1, Reason: "r"},
		&Switched{Agent: "a1", Attempt: 1, Choice: task.Choice{Model: "m", Effort: "low"}, Fallbacks: 1, Slow: true, Reason: "r"},
		&Continued{Agent: "a1", Attempt: 2, Of: 1, Session: "s", Used: task.Usage{Input: 1}, From: &task.Patch{Ref: "r"}},
		&Closed{Status: "degraded", Reason: "r", Code: 3},
		&Session{Protocol: 1, ID: "i", Model: "m", Can: []string{"steer"}},
		&Text{Text: "t"},
		&ToolStart{ID: "i", Name: "n", Input: raw},
		&ToolEnd{ID: "i", OK: true, Output: raw},
		&Turn{N: 1},
		&Spent{Usage: task.Usage{Input: 1}},
		&Asked{ID: "i", Action: raw},
		&Answered{Text: "t", Structured: raw},
		&Erred{Kind: task.Other, Message: "m", RetryAfterMS: 1},
		&Retry{Kind: task.Overloaded, Message: "m", RetryAfterMS: 1},
		&Raw{Line: raw},
	}
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	for i, e := range samples() {
		give := Record{N: int64(i + 1), Time: time.Unix(int64(i), 5000).UTC(), Event: e}
		line, err := Marshal(give)
		if err != nil {
			t.Fatal(err)
		}
		if strings.ContainsRune(string(line), '\n') {
			t.Errorf("%s holds a line end", line)
		}
		got, err := Unmarshal(line)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, give) {
			t.Errorf("round trip of %s = %#v, want %#v", line, got.Event, give.Event)
		}
	}
}

// TestSamplesAreComplete finds every type with a kind method in the sources
// and wants it in samples, so that a new variant cannot miss its round trip.
func TestSamplesAreComplete(t *testing.T) {
	t.Parallel()
	have := map[string]bool{}
	for _, e := range samples() {
		have[reflect.TypeOf(e).Elem().Name()] = true
	}
	for _, file := range []string{"event.go", "agent.go"} {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv == nil || fn.Name.Name != "kind" {
				continue
			}
			star, ok := fn.Recv.List[0].Type.(*ast.StarExpr)
			if !ok {
				t.Errorf("%s: a variant has a value receiver", file)
				continue
			}
			if name := star.X.(*ast.Ident).Name; !have[name] {
				t.Errorf("samples has no %s", name)
			}
		}
	}
}

func FuzzUnmarshal(f *testing.F) {
	for _, e := range samples() {
		line, err := Marshal(Record{N: 1, Event: e})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(line)
	}
	f.Add([]byte(`{"type":"nap"}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		r, err := Unmarshal(line)
		if err != nil {
			return
		}
		if _, err := Marshal(r); err != nil {
			t.Errorf("%q was read but cannot be written: %v", line, err)
		}
	})
}

// TestUnmarshalAllocates bounds the memory for finding the event of a record: a
// journal of a thousand agents has ten thousand records.
func TestUnmarshalAllocates(t *testing.T) {
	line, err := Marshal(Record{N: 1, Event: &Turn{N: 2}})
	if err != nil {
		t.Fatal(err)
	}
	n := testing.AllocsPerRun(100, func() {
		if _, err := Unmarshal(line); err != nil {
			t.Error(err)
		}
	})
	if n > 20 {
		t.Errorf("a record takes %v allocations", n)
	}
}
