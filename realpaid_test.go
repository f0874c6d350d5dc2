package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/modeltest"
)

// paying are two turns whose usage is reported, and a third in which the agent
// waits.
func paying(mark string) []modeltest.Rule {
	rules := editing()[:2]
	wait := asleep(mark)[0]
	for i := range rules {
		rules[i].When = modeltest.When{Results: at(i)}
	}
	wait.When = modeltest.When{Serial: at(3)}
	wait.Usage = &modeltest.Usage{Input: 50, Output: 10, CacheRead: 1100}
	return append(rules, wait)
}

// TestRealPaid holds that the tokens of an agent count though it was killed, or
// swarm was, and that the attempt that continues it counts only its own.
func TestRealPaid(t *testing.T) {
	t.Parallel()
	onKinds(t, func(t *testing.T, k realKind) {
		for _, victim := range []string{"swarm", "agent"} {
			t.Run(victim, func(t *testing.T) {
				t.Parallel()
				if victim == "agent" && k.name == agent.KindBuiltin {
					t.Skip("its process is swarm itself")
				}
				before, after := "1150 60 2100", "1155 63 2100"
				if k.name == agent.KindCodex || k.name == agent.KindOpencode {
					// They report a turn when its tools have ended.
					before, after = "1100 50 1000", "1105 53 1000"
				}
				mark := sleeper(t)
				rules := append(paying(mark), modeltest.Rule{Turn: modeltest.Turn{
					Text: modeltest.Pieces{"Done."}, Usage: &modeltest.Usage{Input: 5, Output: 3},
				}})
				r := newReal(t, k, rules...)
				cmd := r.command(nil, "run", "--retries", "0", "--agent", k.name, "--model", k.model, "Sleep")
				r.must(cmd.Start())
				r.awaitProcess("-s\x00" + mark) // itself, and no shell that will start it
				if victim == "swarm" {
					r.must(cmd.Process.Kill())
					_ = cmd.Wait()
					r.awaitNone(mark)
					r.swarm(nil, "gc")
				} else {
					r.killAgent()
					_ = cmd.Wait()
				}
				if got := r.used(); got != before {
					t.Errorf("it used %s, want %s", got, before)
				}
				r.ends(0, "resume")
				if got := r.used(); got != after {
					t.Errorf("with another attempt it used %s, want %s", got, after)
				}
			})
		}
	})
}

// used is the input, the output and the cached input of the first agent.
func (r *real) used() string {
	r.t.Helper()
	var run struct{ Agents []result }
	r.must(json.Unmarshal([]byte(r.ends(0, "status", "--json").stdout), &run))
	if len(run.Agents) == 0 {
		r.t.Fatal("no agent is there")
	}
	u := run.Agents[0].Usage
	return fmt.Sprint(u.Input, u.Output, u.CacheRead)
}

// killAgent kills the processes of the agent, and none of swarm.
func (r *real) killAgent() {
	r.t.Helper()
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		env, err := os.ReadFile(filepath.Join(dir, "environ"))
		line, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		program, _, _ := strings.Cut(string(line), "\x00")
		if err != nil || !strings.Contains("\x00"+string(env), "\x00SWARM_ROOT="+r.repo+"\x00") || filepath.Base(program) == "swarm" {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(dir)); err == nil {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended with another
		}
	}
}
