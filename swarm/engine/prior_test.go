package engine

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// recounter is a kind whose agents report the usage of the whole conversation,
// with that of their parent.
type recounter struct{ talker }

func (recounter) Parser(s *agent.Spec) agent.Parser {
	return recount{talker{}.Adapter.Parser(s), s.Prior}
}

type recount struct {
	agent.Parser
	prior task.Usage
}

func (p recount) Feed(text []byte) []event.Event {
	all := p.Parser.Feed(text)
	for _, e := range all {
		if spent, ok := e.(*event.Spent); ok {
			spent.Usage.Output -= p.prior.Output
		}
	}
	return all
}

// TestPriorAgain checks that a fork whose owner died does not count the usage
// of its parent, at any stage of the fork and for any state of the parent.
func TestPriorAgain(t *testing.T) {
	t.Parallel()
	parent := &task.Completed{Answer: "ok", Work: task.Work{
		Attempts: 1, Session: "s", Conversation: task.Usage{Output: 10}, Usage: task.Usage{Output: 10},
	}}
	for _, test := range []struct {
		name, said string
		events     []event.Event
		want       string
	}{
		{"it ran", counted[:len(counted)-len(ok)], nil, "failed lost: swarm ended while it ran"},
		{"it had answered", counted, nil, "completed ok"},
		{"it had ended", counted, []event.Event{endedAt("a2")}, "completed ok"},
		{"its parent was sent back", counted, []event.Event{
			&event.RetryAsked{Agent: "a1", After: 1}, endedAt("a2"),
		}, "completed ok"},
		{"it was stopped", counted, []event.Event{
			&event.Ended{Agent: "a2", Attempt: 1, Stdout: int64(len(counted)), Error: task.CauseStopped},
		}, "cancelled stopped"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.talkers()
			r.deps.Kinds["talker"] = agent.Kind{Name: "talker", Adapter: recounter{}}
			fork := talks("two")
			fork.Input = &task.ForkAgentInput{Parent: "a1", Prompt: "two"}
			r.append(called("a1", talks("one")), called("a2", fork),
				&event.Settled{Agent: "a1", Attempt: 1, Result: parent}, r.leasedAt("a2", 1),
				&event.Started{Agent: "a2", Attempt: 1, Step: "agent", Pid: 1 << 29, Start: 1})
			if err := os.WriteFile(filepath.Join(r.deps.Run.Attempt("a2", 1), "stdout"), []byte(test.said), 0o600); err != nil {
				t.Fatal(err)
			}
			r.append(test.events...)
			died(t, r)
			got := r.view().Agent("a2").Result()
			is(t, "settled", word(got), test.want)
			is(t, "usage", got.Done().Usage.Output, int64(5))
			is(t, "model", got.Done().Model, "m")
			is(t, "session", got.Done().Session, "s2")
			if v := r.view(); test.want != "completed ok" {
				is(t, "of the run", v.Usage().Output, int64(15))
			} else {
				is(t, "conversation", got.Done().Conversation.Output, int64(15))
			}
		})
	}
}

// counted is the output of a fork that counts the ten tokens of its parent
// again.
const (
	ok      = `{"type":"result","text":"ok"}` + "\n"
	counted = `{"type":"session","id":"s2","model":"m"}` + "\n" + `{"type":"usage","output":15}` + "\n" + ok
)

func endedAt(id task.ID) *event.Ended {
	return &event.Ended{Agent: id, Attempt: 1, Stdout: int64(len(counted))}
}

// recorder is a kind whose agents report their usage only at their end, and keep
// it in their conversation.
type recorder struct{ speaker }

func (recorder) Recorded(state fs.FS, session string) (task.Usage, string, error) {
	text, err := fs.ReadFile(state, "talk/"+session)
	n, _ := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return task.Usage{Output: n}, "m", err
}

// TestRecordedUsage checks that tokens count even if the agent ended before it
// reported them: its owner died, its end was not judged, or it was killed. The
// usage of its parent does not count again.
func TestRecordedUsage(t *testing.T) {
	t.Parallel()
	parent := &task.Completed{Answer: "ok", Work: task.Work{
		Attempts: 1, Session: "s", Conversation: task.Usage{Output: 10}, Usage: task.Usage{Output: 10},
	}}
	begun := `{"type":"session","id":"s2","model":"m"}` + "\n"
	for _, test := range []struct {
		name, said, folder string
		events             []event.Event
		want               int64
	}{
		{"its owner died", begun, "box/state", nil, 5},
		{"its end is on record", begun, "session", []event.Event{
			&event.Ended{Agent: "a2", Attempt: 1, Code: -1, Signal: "killed", Stdout: int64(len(begun))},
		}, 5},
		{"it had reported", begun + `{"type":"usage","output":7}` + "\n", "box/state", nil, 7},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.talkers()
			r.deps.Kinds["talker"] = agent.Kind{Name: "talker", Adapter: recorder{}, Sessions: []string{"talk"}}
			fork := talks("two")
			fork.Input = &task.ForkAgentInput{Parent: "a1", Prompt: "two"}
			r.append(called("a1", talks("one")), called("a2", fork),
				&event.Settled{Agent: "a1", Attempt: 1, Result: parent}, r.leasedAt("a2", 1),
				&event.Started{Agent: "a2", Attempt: 1, Step: "agent", Pid: 1 << 29, Start: 1})
			dir := r.deps.Run.Attempt("a2", 1)
			talk := filepath.Join(dir, filepath.FromSlash(test.folder), "talk")
			if err := os.MkdirAll(talk, 0o700); err != nil {
				t.Fatal(err)
			}
			for name, text := range map[string]string{filepath.Join(talk, "s2"): "15", filepath.Join(dir, "stdout"): test.said} {
				if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			r.append(test.events...)
			died(t, r)
			is(t, "usage", r.view().Agent("a2").Result().Done().Usage.Output, test.want)
		})
	}
	t.Run("it was killed", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		call := r.speaks(`1) echo 4 > "$STATE/talk/s1"; kill -9 $$;;`)
		r.config.Retries = 0
		kind := r.deps.Kinds["talker"]
		kind.Adapter = recorder{}
		r.deps.Kinds["talker"] = kind
		is(t, "usage", r.play(call)["a1"].Result.Done().Usage.Output, int64(4))
	})
}
