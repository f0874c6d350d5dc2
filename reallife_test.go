package main

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/modeltest"
)

// asleep are the turns of a model that has its agent wait for a process in a
// session of its own, after it left a file.
func asleep(mark string) []modeltest.Rule {
	return []modeltest.Rule{
		{When: modeltest.When{Since: at(0)}, Turn: modeltest.Turn{
			Calls: []modeltest.Call{{Name: "{shell}", Args: map[string]any{
				"command": "echo up > up.txt; setsid --wait tail -s " + mark + " -f /dev/null",
			}}},
		}},
		{Turn: modeltest.Turn{Text: modeltest.Pieces{"I slept."}}},
	}
}

// sleeper is the word by which such a process is known. It is no sleep: some
// agents refuse to run that.
func sleeper(t *testing.T) string {
	sum := fnv.New32()
	sum.Write([]byte(t.Name()))
	return fmt.Sprintf("300.%d%d", os.Getpid(), sum.Sum32())
}

// TestRealCancel holds that nothing of a cancelled agent is left, but its work.
func TestRealCancel(t *testing.T) {
	t.Parallel()
	onKinds(t, func(t *testing.T, k realKind) {
		mark := sleeper(t)
		r := newReal(t, k, asleep(mark)...)
		cmd := r.command(nil, "run", "--json", "--agent", k.name, "--model", k.model, "Sleep")
		var said strings.Builder
		cmd.Stdout = &said
		r.must(cmd.Start())
		r.awaitProcess("-s\x00" + mark) // itself, and no shell that will start it
		if n := len(r.server.Requests()); n != 1 {
			t.Errorf("its model was asked %d times", n)
		}
		r.ends(0, "cancel", "a1")
		_ = cmd.Wait()
		r.nothingLeft(mark)
		var run struct{ Agents []result }
		r.must(json.Unmarshal([]byte(said.String()), &run))
		if len(run.Agents) != 1 || run.Agents[0].Status != "cancelled" || run.Agents[0].Attempt != 1 {
			t.Errorf("the run is %+v", run.Agents)
		}
	})
}

// TestRealKill holds that nothing outlives a swarm that is killed, and that the
// work is captured afterwards.
func TestRealKill(t *testing.T) {
	t.Parallel()
	onKinds(t, func(t *testing.T, k realKind) {
		mark := sleeper(t)
		r := newReal(t, k, asleep(mark)...)
		cmd := r.command(nil, "run", "--agent", k.name, "--model", k.model, "Sleep")
		r.must(cmd.Start())
		r.awaitProcess("-s\x00" + mark) // itself, and no shell that will start it
		r.must(cmd.Process.Kill())
		_ = cmd.Wait()
		r.awaitNone(mark)
		r.swarm(nil, "gc")
		r.nothingLeft(mark)
		if left, _ := filepath.Glob(filepath.Join(r.state, "*/runs/*/a/*/*/box")); len(left) > 0 {
			t.Errorf("what it kept for itself is still there: %v", left)
		}
	})
}

// nothingLeft holds that of an agent that was ended nothing is left but its work,
// and that its model was asked no more.
func (r *real) nothingLeft(mark string) {
	r.t.Helper()
	for _, trace := range []string{mark, r.state + "/"} {
		if left := processesWith(trace); len(left) > 0 {
			r.t.Errorf("left: %v", left)
		}
	}
	if left := tagged("SWARM_ROOT=" + r.repo); len(left) > 0 {
		r.t.Errorf("left, with its environment: %v", left)
	}
	if diff := r.ends(0, "diff", "a1"); !strings.Contains(diff.stdout, "+++ b/up.txt") || !strings.Contains(diff.stdout, "\n+up\n") {
		r.t.Errorf("its work is not there: %s", diff.stdout)
	}
	if n := len(r.server.Requests()); n != 1 {
		r.t.Errorf("its model was asked %d times", n)
	}
}

// tagged are the commands of processes, other than this, that were started with
// a variable.
func tagged(variable string) (alive []string) {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		env, err := os.ReadFile(filepath.Join(dir, "environ"))
		if err == nil && strings.Contains("\x00"+string(env), "\x00"+variable+"\x00") {
			line, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
			alive = append(alive, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return alive
}

// TestRealSteer holds that a word reaches the model while it works.
func TestRealSteer(t *testing.T) {
	t.Parallel()
	onKinds(t, func(t *testing.T, k realKind) {
		r := newReal(t, k,
			modeltest.Rule{When: modeltest.When{Results: at(0)}, Turn: modeltest.Turn{
				Calls: []modeltest.Call{{Name: "{shell}", Args: map[string]any{"command": `mkfifo "$HELD" && cat "$HELD"`}}},
			}},
			modeltest.Rule{When: modeltest.When{User: "marmalade"}, Turn: modeltest.Turn{Text: modeltest.Pieces{"Done."}}},
			modeltest.Rule{When: modeltest.When{System: "marmalade"}, Turn: modeltest.Turn{Text: modeltest.Pieces{"Done."}}}, // as claude tells it
			// A program may read a sent message after the end of its command.
			modeltest.Rule{Turn: modeltest.Turn{
				Calls: []modeltest.Call{{Name: "{shell}", Args: map[string]any{"command": "true"}}},
			}},
		)
		pipe := r.path("pipe")
		cmd := r.command([]string{"HELD=" + pipe}, "run", "--agent", k.name, "--model", k.model, "--max-turns", "100", "Listen")
		r.must(cmd.Start())
		r.awaitProcess("cat\x00" + pipe)
		r.ends(0, "send", "a1", "Say marmalade")
		// Not by a command of swarm: that would be ended with the agent.
		r.until("nobody reads "+pipe, func() bool {
			held, err := os.OpenFile(pipe, os.O_WRONLY|syscall.O_NONBLOCK, 0)
			return err == nil && held.Close() == nil
		})
		r.must(cmd.Wait()) // only the message of `send` makes it end
	}, agent.KindPi, agent.KindCodex, agent.KindClaude, agent.KindBuiltin)
}

// awaitProcess waits until a command line with this in it is there.
func (r *real) awaitProcess(mark string) {
	r.t.Helper()
	r.until(mark+" does not begin", func() bool { return len(processesWith(mark)) > 0 })
}

// awaitNone waits until none is there any more.
func (r *real) awaitNone(mark string) {
	r.t.Helper()
	r.until(mark+" does not end", func() bool { return len(processesWith(mark)) == 0 })
}

// until polls for the effect of another process. On a busy machine an agent CLI
// takes a minute to begin its work.
func (r *real) until(what string, done func() bool) {
	r.t.Helper()
	for deadline := time.Now().Add(never); !done(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			r.t.Fatal(what)
		}
	}
}
