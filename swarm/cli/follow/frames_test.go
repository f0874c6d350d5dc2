package follow

import (
	"strings"
	"testing"
	"time"

	"agentswarm/internal/terminal"
	"agentswarm/internal/testing/getenv"
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
			getenv := getenv.Func(tt.env)
			began := time.Now()
			w := &Watcher{
				Began: began, told: map[string]bool{}, View: store.Fold(store.Identity{Run: "k3x9q2"}, nil),
				progress: newProgress(&b, terminal.Output{TTY: true, Descriptor: -1, Getenv: getenv}.WithEnv(getenv)),
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
