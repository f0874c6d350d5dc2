package main

import (
	"bytes"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"agentswarm/swarm/event"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree"
)

// budgetFixture is a fixture whose agents cost a hundred tokens each.
func budgetFixture(t *testing.T) *fixture {
	t.Helper()
	y := newFixture(t)
	y.write("home/.config/swarm/config.toml", `run.default_agent = "mine"
[agents.mine]
format = "jsonl"
command = ["sh", "-c", 'echo $SWARM_AGENT >> `+y.path("starts")+`; echo x > $SWARM_AGENT.txt; echo "{\"type\":\"usage\",\"output\":100}"; echo "{\"type\":\"result\",\"text\":\"ok\"}"']
[agents.shut]
format = "jsonl"
command = ["sh", "-c", 'echo "{\"type\":\"usage\",\"output\":100}"; if ! test -e `+y.path("open")+`; then test $SWARM_AGENT = a1 && { touch `+y.path("up")+`; exec fakeagent deaf; }; until test -e `+y.path("up")+`; do sleep 0.02; done; echo "{\"type\":\"error\",\"kind\":\"auth\",\"message\":\"no\"}"; exit 1; fi; echo "{\"type\":\"result\",\"text\":\"ok\"}"']
`)
	return y
}

// TestKilledWhenPaused kills swarm around each record of a pause. A resume
// pauses again, a resume with a larger budget goes on, and no attempt is paid
// twice.
func TestKilledWhenPaused(t *testing.T) {
	t.Parallel()
	for at, want := range map[string]store.Status{
		"before paused": store.RunStopped,
		"after paused":  store.RunPaused,
		"before closed": store.RunPaused,
		"after closed":  store.RunPaused,
	} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			y := budgetFixture(t)
			happened := filepath.Join(y.dir, "happened")
			s := y.swarm([]string{faultVar + "=kill:" + at + ":" + happened},
				"run", "-j", "1", "--budget-tokens", "150", "--each", "pkg/*/", "p")
			if s.code != 128+int(syscall.SIGKILL) {
				t.Fatalf("it ended with %d: %s", s.code, s.stderr)
			}
			y.ends(0, "gc")
			if v := y.view(); v.Status != want || v.Spent(v.Ended).Tokens != 200 {
				t.Errorf("the run is %s and has spent %d, want %s and 200", v.Status, v.Usage().Output, want)
			}
			y.ends(6, "resume")
			if starts := y.lines("starts"); len(starts) != 2 {
				t.Errorf("%q have begun, want a1 and a2", starts)
			}
			y.ends(0, "resume", "--budget-tokens", "250")
			if starts := y.lines("starts"); len(starts) != 3 {
				t.Errorf("%q have begun, want each once", starts)
			}
			v := y.view()
			if v.Status != store.RunCompleted || v.Usage().Output != 300 || v.Inherited.Output != 200 {
				t.Errorf("the run is %s and has spent %d, %d of it before; want it completed, 300 and 200",
					v.Status, v.Usage().Output, v.Inherited.Output)
			}
		})
	}
}

// TestKilledWhilePausing kills swarm while an agent goes on after a pause.
func TestKilledWhilePausing(t *testing.T) {
	t.Parallel()
	y := budgetFixture(t)
	y.on(worktree.Overlay)
	cmd, wait := y.start(nil, "run", "-j", "2", "--agent", "shut", "--each", "pkg/*/", "p")
	y.await("the pause", func() bool {
		return y.recorded(func(e event.Event) bool { _, ok := e.(*event.Paused); return ok })
	})
	y.await("what a1 used", func() bool {
		text, _ := os.ReadFile(filepath.Join(y.runs()[0].Attempt("a1", 1), "stdout"))
		return bytes.Contains(text, []byte("usage"))
	})
	y.must(cmd.Process.Kill())
	wait()
	y.ends(0, "gc")
	if alive := y.alive(); len(alive) > 0 {
		t.Errorf("still alive: %q", alive)
	}
	v := y.view()
	lost, ok := v.Agent("a1").Status.(*task.Failed)
	if v.Status != store.RunPaused || v.Code != 6 || !ok || lost.Kind != task.Lost || lost.Usage.Output != 100 {
		t.Errorf("the run is %s with code %d and a1 %+v, want it paused, and a1 lost with what it used",
			v.Status, v.Code, v.Agent("a1").Status)
	}
	y.must(os.WriteFile(y.path("open"), nil, 0o600))
	y.ends(0, "resume")
	if v = y.view(); v.Usage().Output != 500 || v.Agent("a3").Attempt != 1 {
		t.Errorf("%d tokens were used and a3 was tried %d times, want 500 and once", v.Usage().Output, v.Agent("a3").Attempt)
	}
}
