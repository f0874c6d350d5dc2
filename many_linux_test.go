package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"testing"

	"github.com/creack/pty"

	"agentswarm/internal/testing/campaign"
	"agentswarm/swarm/store"
)

// checkPeak holds swarm to a peak of memory, in a campaign: how much garbage
// there is at once depends on how busy the machine is.
func checkPeak(tb testing.TB, k cost, limit int64) {
	tb.Helper()
	if campaign.Running(tb) && k.peak > limit {
		tb.Errorf("its memory was %d MB at its peak, want at most %d", k.peak>>20, limit>>20)
	}
}

// TestManyEvents: a hundred agents (in the gate ten) write 10 MB of events each, while a face of
// each kind hangs: the run goes on, and keeps little in its memory.
func TestManyEvents(t *testing.T) {
	t.Parallel()
	c := newCrowd(t)
	c.record(code(60))
	agents := campaign.Rounds(t, 10, 100)
	printing := agents - 1 // the last agent prints on a terminal
	list := c.tasks(printing, agents-printing)

	// The run's own terminal has no reader.
	master, slave, err := pty.Open()
	c.must(err)
	cmd := c.command("run", list, "-j", strconv.Itoa(agents), "--json")
	cmd.Stderr = slave
	m := c.measure(cmd)
	c.must(slave.Close())
	t.Cleanup(func() { _ = master.Close() })
	c.awaitView("all agents to start", func(v *store.View) bool {
		started := 0
		for _, a := range v.Agents {
			if a.Round != nil {
				started++
			}
		}
		return started == agents
	})
	c.stuck("attach", fmt.Sprintf("t%d", agents))
	c.open(agents)
	c.stuck("logs", "-f")
	c.stuck("logs", "-f", "--json")
	v := c.awaitView("the end of the run", func(v *store.View) bool { return v.Status == store.RunCompleted })
	c.whole(v, printing)
	looked := make(chan struct{})
	go func() { // somebody looks at the terminal at last
		defer close(looked)
		_, _ = io.Copy(io.Discard, master) // until it is closed
	}()
	k := m.end(t)
	c.must(master.Close())
	<-looked
	if k.code != 0 || !json.Valid([]byte(k.out)) {
		t.Errorf("it ended with %d: %.300s", k.code, k.out)
	}
	checkPeak(t, k, 150<<20)
}

// TestManyLongLines is TestMany with lines about as long as an event may be. In
// the middle of a line, each agent would hold megabytes.
func TestManyLongLines(t *testing.T) {
	t.Parallel()
	c := newCrowd(t)
	c.record(code(12_000))
	agents := campaign.Rounds(t, 10, 100)
	m := c.measure(c.command("run", c.tasks(agents, 0), "-j", strconv.Itoa(agents), "--json"))
	c.open(agents)
	k := m.end(t)
	if k.code != 0 {
		t.Fatalf("it ended with %d: %s", k.code, k.wrong)
	}
	c.whole(c.awaitView("the run", func(*store.View) bool { return true }), agents)
	checkPeak(t, k, 150<<20)
}

// queued runs so many small commands, a hundred at once.
func (c *crowd) queued(calls int) cost {
	c.tb.Helper()
	m := c.measure(c.command("run", "--count", strconv.Itoa(calls), "-j", "100", "--json", "--", "true"))
	k := m.end(c.tb)
	var got struct{ Status string }
	if err := json.Unmarshal([]byte(k.out), &got); err != nil || k.code != 0 || got.Status != "completed" {
		c.tb.Fatalf("it ended with %d, %v: %s", k.code, err, k.wrong)
	}
	checkPeak(c.tb, k, 200<<20)
	return k
}

// TestManyQueued: calls that wait, and calls that have ended, take little.
func TestManyQueued(t *testing.T) {
	t.Parallel()
	newCrowd(t).queued(campaign.Rounds(t, 100, 1000))
}

// BenchmarkMany measures how many cores and how much memory swarm itself needs
// for the runs of this file's tests.
func BenchmarkMany(b *testing.B) {
	report := func(b *testing.B, k cost) {
		b.ReportMetric(k.cpu.Seconds()/k.wall.Seconds(), "cores")
		b.ReportMetric(k.children.Seconds()/k.wall.Seconds(), "child-cores")
		b.ReportMetric(float64(k.peak)/(1<<20), "MB-peak")
	}
	for _, test := range []struct {
		name   string
		output string
	}{{"events", code(60)}, {"longlines", code(12_000)}} {
		b.Run(test.name, func(b *testing.B) {
			for b.Loop() {
				c := newCrowd(b)
				c.record(test.output)
				m := c.measure(c.command("run", c.tasks(100, 0), "-j", "100", "--json"))
				c.open(100)
				k := m.end(b)
				c.whole(c.awaitView("the run", func(*store.View) bool { return true }), 100)
				report(b, k)
				c.must(os.RemoveAll(c.state))
			}
		})
	}
	b.Run("queued", func(b *testing.B) {
		for b.Loop() {
			report(b, newCrowd(b).queued(1000))
		}
	})
}
