package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"agentswarm/internal/testprogram"
	"agentswarm/swarm/ask"
	"agentswarm/swarm/guard"
)

// guardOf makes a guard of a program as agents find it.
func guardOf(t testing.TB, program string) string {
	t.Helper()
	swarm, err := exec.LookPath("swarm")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(swarm)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	link := filepath.Join(dir, guard.Folder, "set", program)
	for _, err := range []error{
		os.MkdirAll(filepath.Dir(link), 0o700), os.Symlink("../../swarm", link),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	testprogram.Write(t, filepath.Join(dir, "swarm"), string(text))
	return link
}

// TestGuardStartUp: a guard has asked, and refused, before most of the binary is
// initialised.
func TestGuardStartUp(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(guardOf(t, "true"))
	cmd.Env = []string{"GODEBUG=inittrace=1", "GOMAXPROCS=1", "PATH=/usr/bin:/bin"}
	text, err := cmd.CombinedOutput()
	if err == nil || cmd.ProcessState.ExitCode() != guard.Denied {
		t.Fatalf("a guard with nobody to ask: %v, %s", err, text)
	}
	var bytes int64
	all := parseInits(string(text))
	for _, i := range all {
		bytes += i.bytes
	}
	if len(all) < 10 || bytes > 230_000 {
		t.Errorf("%d packages take %d bytes before a guard asks; the worst are\n%s", len(all), bytes, worstInits(all))
	}
}

// BenchmarkGuard runs a program that may, in turn with and without its guard.
func BenchmarkGuard(b *testing.B) {
	link := guardOf(b, "true")
	socket := saysYes(b)
	bare, err := exec.LookPath("true")
	if err != nil {
		b.Fatal(err)
	}
	type cost struct{ time, cpu time.Duration }
	run := func(path string, all *cost) {
		begin := time.Now()
		cmd := &exec.Cmd{Path: path, Args: []string{"true"}, Env: []string{"PATH=/usr/bin:/bin", ask.Variable + "=" + socket}}
		if err := cmd.Run(); err != nil {
			b.Fatal(err)
		}
		all.time += time.Since(begin)
		all.cpu += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	var with, without cost
	for b.Loop() {
		run(link, &with)
		run(bare, &without)
	}
	for unit, took := range map[string]time.Duration{
		"ms/guarded": with.time, "ms/bare": without.time, "cpu-ms/guarded": with.cpu, "cpu-ms/bare": without.cpu,
	} {
		b.ReportMetric(float64(took.Microseconds())/1e3/float64(b.N), unit)
	}
	b.ReportMetric(float64(with.time)/float64(without.time), "times-bare")
}
