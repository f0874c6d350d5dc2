package workflow

import (
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"agentswarm/swarm/engine"
	"agentswarm/swarm/event"
	"agentswarm/swarm/script"
	"agentswarm/swarm/task"
)

// many is a script of n calls, a thousand at once.
func many(n int) string {
	return fmt.Sprintf(`let done = 0
for (let at = 0; at < %d; at += 1000)
  done += (await parallel(Array.from({length: Math.min(1000, %d - at)}, (_, i) => () => agent('true # ' + (at + i))))).length
return done`, n, n)
}

// completed fills the journal with the records of n calls of [many].
func (r *rig) completed(n int) {
	d := newDriver(Request{Config: Config{Agent: "sh", Agents: []string{"sh"}, Base: "base", BaseTree: "tree"}})
	now := time.Now()
	for i := range n {
		call, err := d.narrow(r.t.Context(), &script.Call{Prompt: fmt.Sprintf("true # %d", i)})
		if err != nil {
			r.t.Fatal(err)
		}
		call.Key = call.Sum()
		id := task.AgentID(i + 1)
		for _, e := range []event.Event{
			&event.Called{Agent: id, Call: call},
			&event.Settled{Agent: id, Attempt: 1, Result: &task.Completed{
				Answer: "an answer of some length, as an agent gives one", Work: task.Work{Attempts: 1, Started: now, Ended: now},
			}},
		} {
			r.records = append(r.records, event.Record{N: int64(len(r.records) + 1), Time: now, Event: e})
		}
	}
}

// BenchmarkReplay is a resume of a run whose calls have all completed.
func BenchmarkReplay(b *testing.B) {
	for _, n := range []int{1000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			r := newRig(b)
			r.completed(n)
			all := r.records
			for b.Loop() {
				r.records = all[:len(all):len(all)]
				outcome, err := r.play(many(n))
				if err != nil || outcome.Error != nil || string(outcome.Value) != fmt.Sprint(n) {
					b.Fatalf("play = %+v, %v", outcome, err)
				}
			}
			b.ReportMetric(float64(b.N*n)/b.Elapsed().Seconds(), "calls/s")
		})
	}
}

// BenchmarkCalls is a script whose agents do nothing, each in a process of its
// own below a supervisor; and beside it the same commands started bare, as many
// at once.
func BenchmarkCalls(b *testing.B) {
	const n = 50
	b.Run("script", func(b *testing.B) {
		for b.Loop() {
			r := newRig(b)
			if outcome, err := r.play(many(n)); err != nil || outcome.Error != nil {
				b.Fatalf("play = %+v, %v", outcome, err)
			}
		}
		b.ReportMetric(float64(b.N*n)/b.Elapsed().Seconds(), "calls/s")
	})
	b.Run("bare", func(b *testing.B) {
		for b.Loop() {
			var group errgroup.Group
			group.SetLimit(8) // as many as the rig has at once
			for i := range n {
				group.Go(func() error {
					cmd := exec.CommandContext(b.Context(), "sh")
					cmd.Stdin = strings.NewReader(fmt.Sprintf("true # %d", i))
					return cmd.Run()
				})
			}
			if err := group.Wait(); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.N*n)/b.Elapsed().Seconds(), "calls/s")
	})
}

// BenchmarkQueued measures a thousand calls that wait for their turn: the time
// to take them, and the memory of the engine.
func BenchmarkQueued(b *testing.B) {
	const n = 1000
	var held uint64
	for b.Loop() {
		r := newRig(b)
		e := engine.Open(b.Context(), r.deps(r), r.config(), nil)
		e.Hold(true)
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		for i := range n {
			call := &task.Call{
				Script: true, Agent: "sh", Input: &task.TypedAgentInput{Prompt: fmt.Sprintf("true # %d", i)},
				Base: "base", BaseTree: "tree",
			}
			if _, err := e.Start(call); err != nil {
				b.Fatal(err)
			}
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		held += after.HeapAlloc - min(after.HeapAlloc, before.HeapAlloc)
		if err := e.Stop(&engine.Halt{Cause: task.CauseStopped}); err != nil {
			b.Fatal(err)
		}
		if err := e.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(held)/float64(b.N*n), "B/call")
}
