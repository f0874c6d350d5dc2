package engine

import (
	"fmt"
	"path/filepath"
	"testing"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/agent/command"
	"agentswarm/swarm/task"
)

// TestWave checks that a single agent of those with the same first words goes
// ahead. The others follow once it is answered or has ended.
func TestWave(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, first string }{
		{"answered", `echo '{"type":"usage","output":1}'; while ! test -e "$RIG/all"; do :; done; echo '{"type":"result","text":"ok"}'`},
		{"ended", `echo '{"type":"error","kind":"other","message":"no"}'`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			kind := command.Kind()
			kind.Name, kind.Alike = "alike", true
			r.deps.Kinds["alike"] = kind
			r.config.Agents = specs("mine", `read -r prompt; touch "$RIG/up.$SWARM_AGENT"
				if mkdir "$RIG/first" 2>/dev/null; then
					while ! test -e "$RIG/go"; do :; done
					`+test.first+`
				else
					touch "$RIG/all"; echo '{"type":"result","text":"ok"}'
				fi`)
			r.config.Agents["mine"].Kind = "alike"
			e := r.startAll(five()[:3])
			held := r.held(2)
			contains(t, "reason", held[0], "waiting for the first answer to an agent of its kind")
			r.await("first")
			if n := r.made("up.*"); n != 1 {
				t.Errorf("%d agents went ahead", n)
			}
			touch(t, r, "go")
			r.collect(e, 3)
			if n := r.made("up.*"); n != 3 {
				t.Errorf("%d agents ran", n)
			}
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestWaveRefused checks that the agents that wait for the first of their kind
// do not start if that was refused in a way that would be the same for them.
func TestWaveRefused(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"quota", "auth"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			alike := command.Kind()
			alike.Name, alike.Alike = "alike", true
			r.deps.Kinds["alike"] = alike
			r.config.Agents = specs("mine", `read -r prompt; touch "$RIG/up.$SWARM_AGENT"
				while ! test -e "$RIG/go"; do :; done
				echo '{"type":"error","kind":"`+kind+`","message":"no"}'`)
			r.config.Agents["mine"].Kind = "alike"
			r.config.Jobs = 2
			e := r.start(five()[:3]...)
			r.held(1)
			touch(t, r, "go")
			is(t, "the first", word(settled(e).Result), "failed "+kind+": no")
			select {
			case <-e.Halted():
			case n := <-e.News():
				t.Fatalf("another one went ahead: %+v", n)
			}
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			is(t, "agents that went ahead", r.made("up.*"), 1)
			is(t, "cause", r.view().Pause.Cause, task.ErrorKind(kind))
		})
	}
}

// TestWaveOf holds who is in a wave with whom.
func TestWaveOf(t *testing.T) {
	t.Parallel()
	alike := agent.Kind{Alike: true}
	base := waveOf(alike, &agent.Spec{Kind: "k", Model: "m", Tools: []string{"read", "ls"}})
	for i, test := range []struct {
		kind agent.Kind
		spec agent.Spec
		same bool
	}{
		{alike, agent.Spec{Kind: "k", Model: "m", Tools: []string{"ls", "read"}}, true},
		{alike, agent.Spec{Kind: "k", Model: "n", Tools: []string{"ls", "read"}}, false},
		{alike, agent.Spec{Kind: "k", Model: "m", Tools: []string{"ls", "read"}, ReadOnly: true}, false},
		{alike, agent.Spec{Kind: "k", Model: "m"}, false},
		{agent.Kind{}, agent.Spec{Kind: "k", Model: "m", Tools: []string{"ls", "read"}}, false},
	} {
		if got := waveOf(test.kind, &test.spec); (got == base) != test.same {
			t.Error(fmt.Sprint("case ", i, ": ", got))
		}
	}
}

// made counts the files of the rig's folder that a pattern names.
func (r *rig) made(pattern string) int {
	r.t.Helper()
	names, err := filepath.Glob(filepath.Join(r.dir, pattern))
	if err != nil {
		r.t.Fatal(err)
	}
	return len(names)
}
