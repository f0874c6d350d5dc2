package main

import (
	"bufio"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"agentswarm/swarm/early"
)

// TestStartUp bounds the cost of the initialisation of packages at every start,
// in bytes and allocations, since times depend on the machine. The bounds are a
// little above the measured cost. A change that exceeds them has added a
// package that does too much before main, or made a package of swarm do so. It
// is measured on a single processor, since the runtime's memory for each
// processor counts, too.
func TestStartUp(t *testing.T) {
	t.Parallel()
	tests := []struct {
		verb          string
		bytes, allocs int64
	}{
		// More than half of it are the schemas that a library reads beforehand.
		// An eighth are the types that the SDKs of the built-in agent register.
		// A tenth is the parser of AGENTS.md, without its printer.
		{"version", 3_150_000, 30_750},
		// It must be over before most packages are initialised.
		{early.Supervise, 230_000, 1_700},
		{early.Keep, 230_000, 1_700},
	}
	y := newFixture(t)
	for _, test := range tests {
		all := parseInits(y.swarm([]string{"GODEBUG=inittrace=1", "GOMAXPROCS=1"}, test.verb).stderr)
		var bytes, allocs int64
		for _, i := range all {
			bytes, allocs = bytes+i.bytes, allocs+i.allocs
		}
		if len(all) < 10 {
			t.Fatalf("%s: only %d packages say what they cost", test.verb, len(all))
		}
		t.Logf("%s: %d packages, %d bytes, %d allocations", test.verb, len(all), bytes, allocs)
		if bytes > test.bytes || allocs > test.allocs {
			t.Errorf("%s: initialisation takes %d bytes and %d allocations, more than %d and %d; the worst are\n%s",
				test.verb, bytes, allocs, test.bytes, test.allocs, worstInits(all))
		}
		ours := slices.IndexFunc(all, func(i initCost) bool { return strings.HasPrefix(i.path, module) && i.bytes > 8_000 })
		if ours >= 0 {
			t.Errorf("%s: %s takes %d bytes before main; compile and parse when it is needed",
				test.verb, all[ours].path, all[ours].bytes)
		}
	}
}

// initCost is the cost of the initialisation of a package.
type initCost struct {
	path          string
	bytes, allocs int64
}

// parseInits reads the output of GODEBUG=inittrace=1 among other lines, such as
//
//	init unicode @2.0 ms, 0.12 ms clock, 13280 bytes, 20 allocs
func parseInits(text string) []initCost {
	var all []initCost
	for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
		var i initCost
		var at, clock float64
		if n, _ := fmt.Sscanf(lines.Text(), "init %s @%g ms, %g ms clock, %d bytes, %d allocs",
			&i.path, &at, &clock, &i.bytes, &i.allocs); n == 5 {
			all = append(all, i)
		}
	}
	return all
}

// worstInits is a table of those that cost most.
func worstInits(all []initCost) string {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b initCost) int { return cmp.Compare(b.bytes, a.bytes) })
	var table strings.Builder
	for _, i := range all[:min(len(all), 15)] {
		fmt.Fprintf(&table, "%10d bytes %7d allocs  %s\n", i.bytes, i.allocs, i.path)
	}
	return table.String()
}

// BenchmarkStartUp starts swarm, in turn with a program that does nothing,
// and reports how much longer that takes.
func BenchmarkStartUp(b *testing.B) {
	swarm, err := exec.LookPath("swarm")
	if err != nil {
		b.Fatal(err)
	}
	nothing, err := exec.LookPath("true")
	if err != nil {
		b.Fatal(err)
	}
	start := func(b *testing.B, path string, args ...string) time.Duration {
		cmd := exec.Command(path, args...)
		cmd.Env = []string{"GOMAXPROCS=1", "GOGC=25", "HOME=" + os.TempDir()} // as supervisors are started
		begin := time.Now()
		_ = cmd.Run() // by hand a supervisor says that it is not for people
		took := time.Since(begin)
		if cmd.ProcessState == nil {
			b.Fatal("it does not start")
		}
		return took
	}
	for _, verb := range []string{"version", early.Supervise} {
		b.Run(verb, func(b *testing.B) {
			var ours, theirs time.Duration
			for b.Loop() {
				ours += start(b, swarm, verb)
				theirs += start(b, nothing)
			}
			b.ReportMetric(float64(ours.Microseconds())/1e3/float64(b.N), "ms/start")
			b.ReportMetric(float64(theirs.Microseconds())/1e3/float64(b.N), "ms/true")
			b.ReportMetric(float64(ours)/float64(theirs), "times-true")
		})
	}
}
