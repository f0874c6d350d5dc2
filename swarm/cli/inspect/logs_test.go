package inspect

import (
	"bufio"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/view"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/event"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// The output of an agent of another program is read in the format of that
// program.
func TestLogsReadEachKind(t *testing.T) {
	t.Parallel()
	l := &logger{kinds: cmdline.Kinds(cmdline.Env{})}
	for kind, line := range map[string]string{
		"codex":   `{"method":"item/started","params":{"item":{"type":"commandExecution","id":"c1","command":"ls","status":"inProgress"}}}`,
		"pi":      `{"type":"tool_execution_start","toolCallId":"c1","toolName":"bash","args":{"command":"ls"}}`,
		"builtin": `{"type":"tool_start","id":"c1","name":"bash","input":{"command":"ls"}}`,
		"gone":    `{"type":"tool_start","id":"c1","name":"bash","input":{"command":"ls"}}`,
	} {
		got := l.parser(&agent.Spec{Kind: kind, Format: agent.FormatJSONL}).Feed([]byte(line + "\n"))
		if !slices.ContainsFunc(got, func(e event.Event) bool {
			start, ok := e.(*event.ToolStart)
			return ok && start.Name == "bash"
		}) {
			t.Errorf("%s: %s is read as %v", kind, line, got)
		}
	}
}

// TestQueuedTimeEnds holds that the time of an agent which waits for another try
// ends with its run.
func TestQueuedTimeEnds(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	v := &store.View{Ended: began.Add(time.Minute)}
	a := &store.Agent{ID: "a1", Call: &task.Call{Input: &task.TypedAgentInput{Prompt: "p"}}, Status: &task.Running{State: task.Queued}, Started: began}
	o := view.NewAgentObject(engine.Config{}, v, a, began.Add(time.Hour))
	if want := time.Minute.Milliseconds(); o.Duration != want {
		t.Errorf("its time is %d ms, want %d", o.Duration, want)
	}
}

// TestPrintedRepeats holds which answers were printed already.
func TestPrintedRepeats(t *testing.T) {
	t.Parallel()
	text := func(s string) event.Event { return &event.Text{Text: s} }
	for _, test := range []struct {
		name   string
		events []event.Event
		answer string
		want   bool
	}{
		{"the last text", []event.Event{text("so"), text("done\n")}, "done", true},
		{"all texts together", []event.Event{text("do"), text("ne")}, "done", true},
		{"another", []event.Event{text("so")}, "done", false},
		{"before a tool", []event.Event{text("done"), &event.ToolStart{ID: "t"}}, "done", false},
		{"none", nil, "done", false},
	} {
		var p printed
		for _, e := range test.events {
			p.repeats(e)
		}
		if got := p.repeats(&event.Answered{Text: test.answer}); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

// TestLogsTurn checks that the late output of an attempt is printed before the
// next attempt begins.
func TestLogsTurn(t *testing.T) {
	t.Parallel()
	run, owner, err := (&store.State{Dir: filepath.Join(t.TempDir(), "state")}).Create(store.Identity{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = owner.Close() }()
	for attempt, text := range []string{"", "first\nits end", "second\n"} {
		dir := run.Attempt("a1", attempt)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "stdout"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var b strings.Builder
	l := &logger{out: bufio.NewWriter(&b), run: run, several: true, buf: make([]byte, 100)}
	s := &stream{id: "a1", spec: agent.Inline(), attempt: 1}
	l.streams = []*stream{s}
	if err := s.turn(l, 2); err != nil {
		t.Fatal(err)
	}
	if err := l.drain(); err != nil {
		t.Fatal(err)
	}
	if err := l.out.Flush(); err != nil {
		t.Fatal(err)
	}
	if want := "a1 | first\na1 | its end\na1 | second\n"; b.String() != want {
		t.Errorf("printed %q, want %q", b.String(), want)
	}
}
