package engine

import (
	"runtime"
	"strings"
	"testing"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/task"
)

// TestRemarkBesideAYes checks that a remark beside a yes reaches an agent whose
// hook asked, and is refused if it cannot reach the agent.
func TestRemarkBesideAYes(t *testing.T) {
	t.Parallel()
	for _, steers := range []bool{true, false} {
		r, _ := judging(t, `
			if test "$STEERS"; then printf '{"type":"session","id":"s","can":["steer"]}\n'; fi
			may "ask me"
			if test "$STEERS"; then read -r word; printf '%s\n' "$word" >> "$RIG/heard"; fi`)
		if steers {
			r.config.Agents["mine"].Env = map[string]string{"STEERS": "yes"}
		}
		r.config.Agents["mine"].Input = agent.InputJSONL
		e := Open(t.Context(), r.deps, r.config, nil)
		if _, err := e.Start(mine()); err != nil {
			t.Fatal(err)
		}
		r.opened(1)
		answer := shown(r.deps.Run.ID+"-1", "ask me", true, task.Once)
		answer.Text = "only in tmp"
		err := answerTo(e, answer)
		// The hook may ask before swarm has read the line of the session.
		for steers && err != nil && strings.Contains(err.Error(), "try again once it has started") {
			runtime.Gosched()
			err = answerTo(e, answer)
		}
		if !steers {
			if err == nil || !strings.Contains(err.Error(), "answer yes alone") {
				t.Errorf("a text that cannot reach the agent is answered %v", err)
			}
			answer.Text = ""
			err = answerTo(e, answer)
		}
		if err != nil {
			t.Fatal(err)
		}
		settled(e)
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		is(t, "may", strings.Join(r.lines("may.a1"), " "), "0")
		if heard := strings.Join(r.lines("heard"), " "); steers != strings.Contains(heard, "says: only in tmp") {
			t.Errorf("the agent heard %q", heard)
		}
	}
}
