package engine

import (
	"strings"
	"testing"

	"agentswarm/swarm/task"
)

// TestDenialIsJudgedBy checks that an earlier denial counts when an action of
// the same agent is judged, until the denied action is allowed. It does not
// count for other agents.
func TestDenialIsJudgedBy(t *testing.T) {
	t.Parallel()
	r, _ := judging(t, `may "unless denied"; may "drop it"; may "unless denied"; may "drop it"; may "unless denied"`)
	e := Open(t.Context(), r.deps, r.config, nil)
	if _, err := e.Start(mine()); err != nil {
		t.Fatal(err)
	}
	for _, allow := range []bool{false, true} {
		if err := answerTo(e, shown(r.opened(1)[0], "drop it", allow, "")); err != nil {
			t.Fatal(err)
		}
	}
	is(t, "status", task.Word(settled(e).Result), "completed")
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	is(t, "may", strings.Join(r.lines("may.a1"), " "), "0 2 2 0 0")
}
