package governor

import (
	"encoding/json"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"agentswarm/swarm/limit"
)

// TestToldToWait holds all agents back for the time that an agent was told, and
// tells the waiters; a refusal never lets an agent fail.
func TestToldToWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := Alone(Options{Now: time.Now, Chance: limit.Random})
		p := enter(t, g)
		began := time.Now()
		p.Refused(Refusal{After: 10 * time.Minute})
		want := "waiting for a slot (p/m: told to wait until " +
			began.Add(10*time.Minute).Local().Format(time.TimeOnly) + ")"
		why, in := queue(t.Context(), g)
		if got := <-why; got != want {
			t.Errorf("it waits with %q, want %q", got, want)
		}
		// A longer wait is news.
		time.Sleep(time.Minute)
		p.Refused(Refusal{After: 30 * time.Minute})
		if got := <-why; got == want {
			t.Errorf("it was not told of a longer wait")
		}
		p.Done() // the window is down to 1
		<-in
		if took := time.Since(began); took < 31*time.Minute || took > 32*time.Minute {
			t.Errorf("it was let in after %s", took)
		}
	})
}

// TestComingBack lets waiters in singly after a told wait, and not all of them
// at the same moment.
func TestComingBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := Alone(Options{Now: time.Now, Chance: func(n time.Duration) time.Duration { return n / 2 }})
		p := enter(t, g)
		p.Refused(Refusal{After: time.Minute, Overloaded: true})
		p.Done()
		var all sync.WaitGroup
		var mu sync.Mutex
		at := map[time.Time]int{}
		for range 20 {
			all.Go(func() {
				p, err := g.Enter(t.Context(), Request{Lane: "p/m"})
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				at[time.Now()]++
				mu.Unlock()
				time.Sleep(time.Second)
				p.Passed(0)
				p.Done()
			})
		}
		all.Wait()
		first := time.Time{}
		for when := range at {
			if first.IsZero() || when.Before(first) {
				first = when
			}
		}
		if at[first] != 1 {
			t.Errorf("%d came back at the same moment", at[first])
		}
	})
}

// TestGrows lets more in at once as requests go well.
func TestGrows(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := Alone(Options{Now: time.Now, Chance: limit.Random})
		var all sync.WaitGroup
		var mu sync.Mutex
		in, most, refused, asked := 0, 0, 0, 0
		for range 100 {
			all.Go(func() {
				p, err := g.Enter(t.Context(), Request{Lane: "p/m"})
				if err != nil {
					t.Error(err)
					return
				}
				defer p.Done()
				for left := 4; left > 0; {
					mu.Lock()
					asked++
					full := in >= 8
					if !full {
						in++
						most = max(most, in)
					} else {
						refused++
					}
					mu.Unlock()
					if full {
						p.Refused(Refusal{After: 3 * time.Second})
						time.Sleep(3*time.Second + limit.Random(time.Second))
						continue
					}
					time.Sleep(5*time.Second + limit.Random(5*time.Second))
					mu.Lock()
					in--
					mu.Unlock()
					p.Passed(0)
					left--
				}
			})
		}
		all.Wait()
		if most != 8 {
			t.Errorf("at most %d were at work, of 8", most)
		}
		if refused*20 >= asked {
			t.Errorf("%d of %d requests were refused", refused, asked)
		}
	})
}

// FuzzRecord has whatever is in a file let somebody in, within the hour that a
// provider may ask for.
func FuzzRecord(f *testing.F) {
	for _, text := range []string{
		`{"lane":"p/m","window":{"size":9,"ceiling":8,"patience":8,"until":"2030-01-02T03:04:05Z"},"holders":{"x":{"n":3,"fresh":[1]}}}`,
		`{"window":{"size":1,"patience":1,"used":"0001-01-01T00:00:00Z","streak":200}}`, `{}`, `null`,
	} {
		f.Add([]byte(text))
	}
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := parseRecord(text)
		if err != nil {
			return
		}
		for id := range r.Holders { // of processes that are gone
			delete(r.Holders, id)
		}
		why, wait := r.Window.Enter(now, 0, limit.Random)
		if why != "" && (wait <= 0 || wait > limit.MaxTold) {
			t.Fatalf("it lets nobody in: %q, %s", why, wait)
		}
		r.Window.Refuse(now, limit.Refusal{Since: now}, 3, limit.Random)
		r.Window.Passed(now, limit.Success{Held: 3})
		again, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parseRecord(again); err != nil {
			t.Fatalf("what it becomes is no record: %v\n%s", err, again)
		}
	})
}
