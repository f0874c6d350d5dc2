package limit

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

const mib = 1 << 20

// TestMemoryAdmits checks the number of agents of 100 MiB that are admitted at
// once, by the memory beside the reserve and the memory of running agents.
func TestMemoryAdmits(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		free int64         // beside the reserve, when the first comes
		uses int64         // the memory that each running agent takes from that
		told bool          // the kernel reports the memory of each agent
		gap  time.Duration // between two starts
		want int
	}{
		{"all at once, by the table", 450 * mib, 0, true, 0, 4},
		{"nothing free", 0, 0, true, 0, 1}, // a single agent is always admitted
		{"nobody knows", -reserve, 0, true, 0, 10},
		{"those that settled have what they have", 450 * mib, 0, false, settled, 10},
		{"as heavy as said", 450 * mib, 100 * mib, true, settled, 4},
		{"heavier than said", 450 * mib, 140 * mib, true, settled, 3},
		{"lighter than said", 450 * mib, 60 * mib, true, settled, 7},
		{"lighter, and half of the table is kept", 450 * mib, 5 * mib, true, settled, 9},
		{"much heavier than said", 10000 * mib, 5000 * mib, true, settled, 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				n := 0
				m := &Memory{
					Now:       time.Now,
					Available: func() Room { return Room{Free: reserve + tc.free - int64(n)*tc.uses} },
					Used: func(int) int64 {
						if tc.told {
							return tc.uses
						}
						return 0
					},
				}
				for n < 10 {
					tenant, why, _ := m.try(MemoryRequest{Name: "k", Kind: Kind{Footprint: 100 * mib}})
					if tenant == nil {
						t.Log(why)
						break
					}
					tenant.Runs(1)
					n++
					time.Sleep(tc.gap)
				}
				if n != tc.want {
					t.Errorf("%d were admitted, want %d", n, tc.want)
				}
			})
		})
	}
}

// TestMemoryOfContainer keeps a quarter of a small container, and not the reserve
// of a machine.
func TestMemoryOfContainer(t *testing.T) {
	t.Parallel()
	m := &Memory{Now: time.Now, Available: func() Room { return Room{Free: 450 * mib, Limit: 512 * mib, By: "x"} }}
	n := 0
	for ; n < 10; n++ {
		if tenant, _, _ := m.try(MemoryRequest{Name: "k", Kind: Kind{Footprint: 64 * mib}}); tenant == nil {
			break
		}
	}
	if n != 5 {
		t.Errorf("%d were admitted, want 5", n)
	}
}

// TestMemoryMakesRoom admits the next agent once an agent has left, or other
// programs gave memory back, and tells the reason of the wait once.
func TestMemoryMakesRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var free atomic.Int64
		free.Store(reserve + 150*mib)
		m := &Memory{Now: time.Now, Available: func() Room { return Room{Free: free.Load()} }}
		request := MemoryRequest{Name: "k", Kind: Kind{Footprint: 100 * mib}}
		first, err := m.Admit(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		var told []string
		request.Waits = func(why string) { told = append(told, why) }
		admit := func() (done chan *Tenant) {
			done = make(chan *Tenant, 1)
			go func() {
				tenant, _ := m.Admit(t.Context(), request)
				done <- tenant
			}()
			synctest.Wait()
			return done
		}
		second := admit()
		time.Sleep(5 * time.Second)
		want := "waiting for memory: k needs 100 MiB, and of the 1174 MiB that are free 1024 are kept"
		if len(told) != 1 || told[0] != want {
			t.Errorf("told %q, want %q once", told, want)
		}
		first.Leave()
		tenant := <-second
		third := admit()
		free.Add(100 * mib)
		(<-third).Leave()
		ctx, cancel := context.WithCancelCause(t.Context())
		free.Store(reserve)
		why := errors.New("stopped")
		cancel(why)
		if _, err := m.Admit(ctx, request); !errors.Is(err, why) {
			t.Errorf("Admit = %v, want the cause", err)
		}
		tenant.Leave()
		if _, err := m.Admit(ctx, request); !errors.Is(err, why) {
			t.Errorf("Admit with room for it = %v, want the cause", err)
		}
	})
}

// TestGaps keeps the starts of a kind apart, and those of others not.
func TestGaps(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var g Gaps
		began := time.Now()
		for _, tc := range []struct {
			kind string
			gap  time.Duration
			want time.Duration
		}{
			{"a", time.Second, 0}, {"a", time.Second, time.Second}, {"b", time.Second, time.Second},
			{"none", 0, time.Second}, {"a", time.Second, 2 * time.Second},
		} {
			if err := g.Wait(t.Context(), tc.kind, tc.gap); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(began); took != tc.want {
				t.Errorf("%s starts after %s, want %s", tc.kind, took, tc.want)
			}
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		why := fmt.Errorf("stopped")
		cancel(why)
		for _, kind := range []string{"a", "fresh", "fresh"} {
			if err := g.Wait(ctx, kind, time.Hour); !errors.Is(err, why) {
				t.Errorf("Wait of %s = %v, want the cause", kind, err)
			}
		}
		began = time.Now()
		if err := g.Wait(t.Context(), "fresh", time.Hour); err != nil || time.Since(began) > 0 {
			t.Errorf("Wait = %v after %s: who did not start was given a turn", err, time.Since(began))
		}
	})
}

// TestMemoryMeasuresOnce checks that all waiters share a measurement for a
// second, and that it is taken again once an agent has left.
func TestMemoryMeasuresOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var looks, walks atomic.Int64
		m := &Memory{
			Now:       time.Now,
			Available: func() Room { looks.Add(1); return Room{Free: reserve + 10*mib} },
			Used:      func(int) int64 { walks.Add(1); return 100 * mib },
		}
		request := MemoryRequest{Name: "k", Kind: Kind{Footprint: 100 * mib}}
		first, err := m.Admit(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		first.Runs(1)
		time.Sleep(time.Minute)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		looks.Store(0)
		for range 50 {
			go func() {
				if tenant, err := m.Admit(ctx, request); err == nil {
					<-ctx.Done()
					tenant.Leave()
				}
			}()
			time.Sleep(time.Millisecond)
		}
		time.Sleep(9 * time.Second)
		synctest.Wait()
		if l, w := looks.Load(), walks.Load(); l > 11 || w > 11 || l < 9 {
			t.Errorf("fifty that waited for nine seconds looked %d times and measured %d times", l, w)
		}
		walks.Store(0)
		first.Leave()
		synctest.Wait()
		if len(m.in) != 1 {
			t.Errorf("%d were admitted once one had left, want 1", len(m.in))
		}
	})
}
