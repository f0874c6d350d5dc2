package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentswarm/swarm/ask"
	"agentswarm/swarm/asksocket"
)

// saysYes is a socket on which all that is asked may be.
func saysYes(b *testing.B) string {
	b.Helper()
	dir, err := os.MkdirTemp("", "ask") // short: a socket's path is bounded
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = os.RemoveAll(dir) })
	s, err := asksocket.Listen(b.Context(), filepath.Join(dir, "s"), func(context.Context, ask.Request) ask.Answer { return ask.Answer{Allow: true} })
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	return s.Address()
}

// BenchmarkHook asks about a command by `swarm hook`, in turns with `swarm
// version`, which only starts: the goal is 5 ms more than that.
func BenchmarkHook(b *testing.B) {
	socket := saysYes(b)
	swarm, err := exec.LookPath("swarm")
	if err != nil {
		b.Fatal(err)
	}
	run := func(input string, args ...string) time.Duration {
		cmd := exec.Command(swarm, args...)
		cmd.Env, cmd.Stdin = []string{"HOME=" + filepath.Dir(socket), ask.Variable + "=" + socket}, strings.NewReader(input)
		begin := time.Now()
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
		return time.Since(begin)
	}
	var hook, start time.Duration
	for b.Loop() {
		hook += run(`{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}`, "hook", "--agent", "claude")
		start += run("", "version")
	}
	n := float64(b.N)
	b.ReportMetric(float64(hook.Microseconds())/1e3/n, "ms/hook")
	b.ReportMetric(float64(start.Microseconds())/1e3/n, "ms/start")
	b.ReportMetric(float64((hook-start).Microseconds())/1e3/n, "ms-more")
}
