package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"agentswarm/swarm/agent"
)

// lockingKind is an agent CLI of which two break each other that share the
// folder a variable names: the database, the settings or the login there is
// locked. The loser ends at once, with 0 and without a word, as some do.
type lockingKind struct {
	name, variable string
	stream         string // the stream of the real program, below swarm/agent
}

func lockingKinds() []lockingKind {
	return []lockingKind{
		{agent.KindPi, "PI_CODING_AGENT_DIR", "pi/testdata/edit/in.jsonl"},
		{agent.KindCodex, "CODEX_HOME", "codex/testdata/edit/in.jsonl"},
		{agent.KindClaude, "CLAUDE_CONFIG_DIR", "claude/testdata/edit.jsonl"},
		{agent.KindOpencode, "XDG_DATA_HOME", "opencode/testdata/edit.jsonl"},
		{agent.KindGemini, "GEMINI_CLI_HOME", "gemini/testdata/edit.jsonl"},
		{agent.KindQwen, "QWEN_HOME", "qwen/testdata/edit.jsonl"},
		{agent.KindCopilot, "COPILOT_HOME", "copilot/testdata/edit.jsonl"},
	}
}

// fake puts a program of the kind's name before all others. Once it has its
// lock, it prints the stream of the real program. It never gives the lock back.
func (y *fixture) fake(k lockingKind) {
	y.t.Helper()
	stream, err := filepath.Abs(filepath.Join("swarm", "agent", k.stream))
	y.must(err)
	bin := filepath.Join(y.dir, "bin")
	y.program("bin/"+k.name, `#!/bin/sh
mkdir -p "$`+k.variable+`"
mkdir "$`+k.variable+`/lock" 2>/dev/null || exit 0
cat '`+stream+`'
cat >/dev/null
`)
	for i, kv := range y.env {
		if path, ok := strings.CutPrefix(kv, "PATH="); ok {
			y.env[i] = "PATH=" + bin + ":" + path
		}
	}
}

// TestLockedHomes holds that agents of a kind whose CLIs lock each other out have
// nothing in common that could be locked.
func TestLockedHomes(t *testing.T) {
	t.Parallel()
	for _, k := range lockingKinds() {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			y := newFixture(t)
			y.fake(k)
			s := y.ends(0, "run", "--anyway", "--json", "--agent", k.name, "--count", "6", "-j", "6", "do it")
			if n := strings.Count(s.stdout, `"status":"completed"`); n < 6 {
				t.Errorf("%d of 6 agents completed: %s", n, s.stdout)
			}
		})
	}
}

// TestSilentEnd holds that an agent which ends well and says nothing has failed.
func TestSilentEnd(t *testing.T) {
	t.Parallel()
	for _, k := range lockingKinds() {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			y := newFixture(t)
			y.fake(k)
			y.program("bin/"+k.name, "#!/bin/sh\nexit 0\n")
			s := y.ends(3, "run", "--anyway", "--json", "--agent", k.name, "do it")
			var run struct {
				Agents []struct{ Error struct{ Kind string } }
			}
			y.must(json.Unmarshal([]byte(s.stdout), &run))
			if len(run.Agents) != 1 || run.Agents[0].Error.Kind != "no_result" {
				t.Errorf("it is %s", s.stdout)
			}
		})
	}
}
