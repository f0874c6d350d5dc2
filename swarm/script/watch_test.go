package script

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// plenty are bounds that no test reaches.
func plenty() Bounds {
	return Bounds{Memory: 1 << 50, Wall: 1000 * time.Hour, CPU: 1000 * time.Hour, Every: 25 * time.Millisecond}
}

func TestAScriptMayRunForAWhile(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		// do moves the meter; it is given the time it may run.
		do   func(m *meter, wall time.Duration)
		want time.Duration // until the script is ended; 0 is never
	}{
		{"it runs", func(*meter, time.Duration) {}, 30 * time.Second},
		{"it waits", func(m *meter, _ time.Duration) { m.wait() }, 0},
		{"it waits and goes on", func(m *meter, wall time.Duration) {
			m.wait()
			time.Sleep(3 * wall)
			m.step()
		}, 120 * time.Second},
		{"it asks now and then", func(m *meter, wall time.Duration) {
			for range 5 {
				time.Sleep(wall / 2)
				m.wait()
				m.step()
			}
		}, 105 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := plenty()
				b.Wall = 30 * time.Second
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				var m meter
				begin := time.Now()
				go tt.do(&m, b.Wall)
				e := b.watch(ctx, &m)
				took := time.Since(begin)
				switch {
				case tt.want == 0 && e != nil:
					t.Errorf("it was ended after %v: %v", took, e)
				case tt.want != 0 && (e == nil || e.Code != CodeRunaway || !strings.Contains(e.Message, "ran for 30s")):
					t.Errorf("watch = %v, want a runaway", e)
				case tt.want != 0 && (took < tt.want || took > tt.want+4*b.Every):
					t.Errorf("it was ended after %v, want %v", took, tt.want)
				}
			})
		})
	}
}

func TestMemoryIsWatchedWhileItWaits(t *testing.T) {
	t.Parallel()
	b := plenty()
	b.Memory, b.Every = 1, time.Millisecond
	var m meter
	m.wait()
	if e := b.watch(t.Context(), &m); e == nil || e.Code != CodeRunaway || !strings.Contains(e.Message, "of memory") {
		t.Errorf("watch = %v, want a runaway", e)
	}
}

func TestDefaultBounds(t *testing.T) {
	t.Parallel()
	b := DefaultBounds()
	if b.Memory != 512<<20 || b.Wall != 30*time.Second || b.CPU != 30*time.Second || b.Every < 20*time.Millisecond || b.Every > 50*time.Millisecond {
		t.Errorf("the bounds are %+v", b)
	}
}
