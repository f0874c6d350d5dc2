package fill

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestClimb feeds a climb the rates of disks with a single best width.
func TestClimb(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		cores int
		rate  func(width int) float64
		want  int
	}{
		{name: "a disk that hates two", cores: 2, want: 1, rate: func(w int) float64 { return 10 / float64(w*w) }},
		{name: "a disk that likes two", cores: 2, want: 2, rate: func(w int) float64 { return []float64{0, 10, 18, 17, 12}[w] }},
		{name: "a disk without limits", cores: 4, want: 8, rate: func(w int) float64 { return 10 * float64(w) }},
		{name: "no gain from more", cores: 8, want: 1, rate: func(int) float64 { return 10 }},
		{name: "one core", cores: 1, want: 2, rate: func(w int) float64 { return 10 * float64(w) }},
		{name: "a small gain is none", cores: 8, want: 3, rate: func(w int) float64 { return []float64{0, 10, 20, 30, 31, 32, 33, 34, 35, 36, 37, 38}[w] }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := newAdaptiveLimit(tt.cores)
			at := map[int]int{}
			for i := range 200 {
				if c.width < 1 || c.width > 2*tt.cores {
					t.Fatalf("width = %d, want 1 to %d", c.width, 2*tt.cores)
				}
				if i >= 100 {
					at[c.width]++
				}
				c.observe(tt.rate(c.width))
			}
			if at[tt.want] < 60 {
				t.Errorf("windows by width = %v, want most at %d", at, tt.want)
			}
		})
	}
}

// TestGate lets fills through that take a while, and more at once once that
// pays.
func TestGate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(4)
		var mu sync.Mutex
		busy, most := 0, 0
		var all sync.WaitGroup
		for range 200 {
			all.Go(func() {
				if err := g.Enter(t.Context()); err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				busy++
				most = max(most, busy)
				mu.Unlock()
				time.Sleep(time.Second) // of the bubble's clock
				mu.Lock()
				busy--
				mu.Unlock()
				g.Leave(true)
			})
		}
		all.Wait()
		if most != 8 {
			t.Errorf("at most %d at once, want twice the cores where each adds", most)
		}
		if g.busy != 0 || len(g.waiting) != 0 {
			t.Errorf("gate ends with %d busy, %d waiting", g.busy, len(g.waiting))
		}
	})
}

func TestGateCancelled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(1)
		if err := g.Enter(t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- g.Enter(ctx) }()
		synctest.Wait()
		cancel(errStopped)
		if err := <-ended; !errors.Is(err, errStopped) {
			t.Errorf("enter = %v, want the cause", err)
		}
		g.Leave(false)
		if err := g.Enter(t.Context()); err != nil {
			t.Errorf("enter after a cancel = %v", err)
		}
	})
}

// TestGateLetsEndingsGoFirst has nothing begin while as much is ending as
// may be filled at once.
func TestGateLetsEndingsGoFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(1) // a single fill at a time
		done := g.Ending()
		entered := make(chan error, 1)
		go func() { entered <- g.Enter(t.Context()) }()
		synctest.Wait()
		select {
		case err := <-entered:
			t.Fatalf("a fill began while a workspace was ending: %v", err)
		default:
		}
		done()
		if err := <-entered; err != nil {
			t.Fatalf("enter = %v once nothing ends any more", err)
		}
	})
}

var errStopped = errors.New("stopped")
