package cli

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentswarm/internal/terminal"
	"agentswarm/swarm/agent"
	"agentswarm/swarm/event"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// TestFramesAreFew: records that come together cost few frames, and the last
// of them is on the screen in the end.
func TestFramesAreFew(t *testing.T) {
	t.Parallel()
	const agents = 300
	for _, tt := range []struct {
		env  string
		most int // frames
		want string
	}{
		{"TERM=xterm", 3, "300/300"},
		{"TERM=dumb", 0, "a300 do it completed"},
	} {
		t.Run(tt.env, func(t *testing.T) {
			t.Parallel()
			var b strings.Builder
			getenv := envOf(tt.env)
			began := time.Now()
			w := &watcher{
				began: began, told: map[string]bool{}, view: store.Fold(store.Identity{Run: "k3x9q2"}, nil),
				progress: newProgress(&b, terminal.Output{TTY: true, FD: -1, Getenv: getenv}.WithEnv(getenv)),
			}
			n := int64(0)
			add := func(e event.Event) {
				n++
				w.see(event.Record{N: n, Time: began.Add(time.Duration(n) * time.Microsecond), Event: e})
			}
			for i := range agents {
				add(&event.Called{Agent: task.AgentID(i + 1), Call: &task.Call{Input: &task.TypedAgentInput{Prompt: "do it"}}})
			}
			for i := range agents {
				add(&event.Settled{Agent: task.AgentID(i + 1), Attempt: 1, Result: &task.Completed{}})
			}
			if tt.most > 0 && strings.Contains(b.String(), tt.want) {
				t.Error("all frames were drawn at once")
			}
			w.close()
			if !strings.Contains(b.String(), tt.want) {
				t.Errorf("the last record is not shown: %.300q", b.String())
			}
			if frames := strings.Count(b.String(), "\x1b[J"); frames > tt.most {
				t.Errorf("%d frames for %d records, want at most %d", frames, n, tt.most)
			}
			if w.progress.Due(time.Hour) {
				t.Error("a frame is due after the end")
			}
		})
	}
}

// TestLogsTurn: what an attempt wrote after it was last looked at is printed
// before the next one begins.
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
