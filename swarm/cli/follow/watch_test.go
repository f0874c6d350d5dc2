package follow

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"agentswarm/internal/terminal"
	"agentswarm/internal/testing/getenv"
	"agentswarm/swarm/event"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// TestToldOfTheEnd holds that a terminal tells of the end of a run that took
// long, once, and only where somebody may have looked elsewhere meanwhile.
func TestToldOfTheEnd(t *testing.T) {
	t.Parallel()
	const told = "\x1b]9;swarm: run k3x9q2 degraded\a"
	closed := &event.Closed{Status: string(store.RunDegraded)}
	settled := &event.Settled{Agent: "a1", Attempt: 1, Result: &task.Completed{}}
	long := time.Now().Add(-longRun)
	short := time.Now().Add(time.Hour) // whatever the clock does meanwhile
	for _, tt := range []struct {
		name  string
		env   string
		file  bool // no terminal
		began time.Time
		last  event.Event
		late  time.Duration // of the last record, after the watch began
		want  string
		over  bool
	}{
		{name: "a long run", env: "TERM=xterm", began: long, last: closed, late: 1, want: told, over: true},
		{name: "a short run", env: "TERM=xterm", began: short, last: closed, late: 1, over: true},
		{name: "a dumb terminal", env: "TERM=dumb", began: long, last: closed, late: 1, over: true},
		{name: "a terminal of no name", env: "TERM=", began: long, last: closed, late: 1, over: true},
		{name: "the console of Linux", env: "TERM=linux", began: long, last: closed, late: 1, over: true},
		{name: "a build server", env: "TERM=xterm CI=true", began: long, last: closed, late: 1, over: true},
		{name: "a file", env: "TERM=xterm", file: true, began: long, last: closed, late: 1, over: true},
		{name: "not the end", env: "TERM=xterm", began: long, last: settled, late: 1},
		{name: "the end of an earlier owner", env: "TERM=xterm", began: long, last: closed, late: -1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var b strings.Builder
			getenv := getenv.Func(strings.Fields(tt.env)...)
			term := terminal.Output{TTY: !tt.file, Descriptor: -1, Getenv: getenv}.WithEnv(getenv)
			w := &Watcher{
				Began: tt.began, progress: newProgress(&b, term), told: map[string]bool{},
				View: store.Fold(store.Identity{Run: "k3x9q2"}, nil),
			}
			r := event.Record{N: 1, Time: tt.began.Add(tt.late), Event: tt.last}
			w.see(r)
			if got := w.over(r); got != tt.over {
				t.Errorf("over = %v, want %v", got, tt.over)
			}
			w.progress.Close()
			_, got, found := strings.Cut(b.String(), "\x1b]9;")
			if found {
				got = "\x1b]9;" + got
			}
			if got != tt.want {
				t.Errorf("the terminal was sent %q, want %q", got, tt.want)
			}
		})
	}
}

// TestInquiryLine holds that progress names the asker of a question, and shows its
// text in a line.
func TestInquiryLine(t *testing.T) {
	t.Parallel()
	for agent, want := range map[task.ID]string{
		"":   "the script asks k3x9q2-1: Which? - a: first [a, b]\n",
		"a1": "a1 hi asks k3x9q2-1: Which? - a: first [a, b]\n",
	} {
		var b strings.Builder
		call := &task.Call{Agent: "x", Input: &task.TypedAgentInput{Prompt: "hi"}}
		added := event.Record{N: 1, Time: time.Now(), Event: &event.Called{Agent: "a1", Call: call}}
		w := &Watcher{
			Began: time.Now(), progress: newProgress(&b, terminal.Output{Descriptor: -1}.WithEnv(getenv.Func("TERM=dumb"))), told: map[string]bool{},
			View: store.Fold(store.Identity{Run: "k3x9q2"}, []event.Record{added}),
		}
		w.see(event.Record{N: 2, Time: time.Now(), Event: &event.Questioned{
			ID: "k3x9q2-1", Agent: agent, Attempt: 1, Action: json.RawMessage(`{"question":"Which?\n- a: first","choices":["a","b"]}`),
		}})
		if got := b.String(); got != want {
			t.Errorf("asked by %q, progress says %q, want %q", agent, got, want)
		}
	}
}
