package agent_test

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/event"
)

// TestLiveAgain refuses two answers of an agent that waits for a verdict on
// them, and takes the third.
func TestLiveAgain(t *testing.T) {
	t.Parallel()
	const script = `
		echo '{"type":"text","text":"hm"}'
		while read -r line; do printf '%s\n' "$line" >&2; case $line in *finish*) exit;; esac
		i=$((i+1)); echo '{"type":"result","text":"'$i'"}'; done`
	l := life(t, jsonl(agent.InputJSONL), script, "p")
	var seen []string
	l.Refuse = func(a *event.Answered) string {
		if seen = append(seen, a.Text); len(seen) == 3 {
			return ""
		}
		return "not " + a.Text
	}
	out := live(t, t.Context(), l)
	if out.Answer.Text != "3" || out.Answers != 3 || out.Said != "hm" || strings.Join(seen, " ") != "1 2 3" {
		t.Errorf("Live = %+v, answers %q", out, seen)
	}
	heard, err := os.ReadFile(l.Stderr)
	want := `{"type":"prompt","text":"p"}
{"type":"prompt","text":"not 1"}
{"type":"prompt","text":"not 2"}
{"type":"finish","reason":"result"}
`
	if err != nil || string(heard) != want {
		t.Errorf("it heard %q, %v", heard, err)
	}
}

// TestLiveAgainGone refuses the answer of agents that are not there any more,
// or cannot be told: they end as they would.
func TestLiveAgainGone(t *testing.T) {
	t.Parallel()
	for _, input := range []agent.Input{agent.InputJSONL, agent.InputNone} {
		l := life(t, jsonl(input), `exec <&-; echo '{"type":"result","text":"once"}'`, "p")
		l.Refuse = func(*event.Answered) string { return "no" }
		out, err := l.Live(t.Context())
		if err != nil || out.Exit.Code != 0 || out.Answers != 1 {
			t.Errorf("%s: Live = %+v, %v", input, out, err)
		}
		if again := (&agent.Outcome{Exit: out.Exit}); agent.Reread(l.Adapter, l.Spec, l.Stdout, again) != nil || !reflect.DeepEqual(out, again) {
			t.Errorf("%s: read again it is %+v", input, again)
		}
	}
}
