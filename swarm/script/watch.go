package script

import (
	"context"
	"fmt"
	"runtime/metrics"
	"sync/atomic"
	"time"
)

// Bounds end a script that got out of hand. The language itself cannot. It can
// leave neither a regular expression that backtracks, nor a built-in function
// that fills all memory.
type Bounds struct {
	Memory uint64        // bytes of the whole process
	Wall   time.Duration // without asking or waiting for anything
	CPU    time.Duration // of the whole process, likewise
	Every  time.Duration // how often it is looked at
}

// DefaultBounds are the bounds of a workflow script.
func DefaultBounds() Bounds {
	return Bounds{Memory: 512 << 20, Wall: 30 * time.Second, CPU: 30 * time.Second, Every: 25 * time.Millisecond}
}

// meter knows whether a script makes progress. The goroutine of the script
// moves it, that of the watcher looks at it.
type meter struct {
	steps   atomic.Uint64
	waiting atomic.Bool
}

// wait marks that the script waits for its host; step that it goes on.
func (m *meter) wait() { m.waiting.Store(true) }

func (m *meter) step() {
	m.steps.Add(1)
	m.waiting.Store(false)
}

// watch looks at the process until a limit is passed, which it gives, or until
// ctx ends.
func (b Bounds) watch(ctx context.Context, m *meter) *Error {
	tick := time.NewTicker(b.Every)
	defer tick.Stop()
	var (
		wall  time.Duration
		steps = m.steps.Load()
		cpu   = processCPU()
		last  = time.Now()
	)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if memoryInUse() > b.Memory {
			return runaway("the script took more than %d MiB of memory", b.Memory>>20)
		}
		now := time.Now()
		// A process that was stopped for a while did not run meanwhile.
		wall += min(now.Sub(last), 20*b.Every)
		last = now
		if s := m.steps.Load(); s != steps || m.waiting.Load() {
			steps, wall, cpu = s, 0, processCPU()
			continue
		}
		if wall > b.Wall {
			return runaway("the script ran for %v without asking or waiting for anything", b.Wall)
		}
		if processCPU()-cpu > b.CPU {
			return runaway("the script used the processor for %v without asking or waiting for anything", b.CPU)
		}
	}
}

func runaway(format string, args ...any) *Error {
	return &Error{Name: "Error", Code: CodeRunaway, Message: fmt.Sprintf(format, args...)}
}

// memoryInUse returns the memory that the process holds of the system, in
// bytes.
func memoryInUse() uint64 {
	s := []metrics.Sample{
		{Name: "/memory/classes/total:bytes"},
		{Name: "/memory/classes/heap/released:bytes"},
	}
	metrics.Read(s)
	if s[0].Value.Kind() != metrics.KindUint64 || s[1].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return s[0].Value.Uint64() - s[1].Value.Uint64()
}
