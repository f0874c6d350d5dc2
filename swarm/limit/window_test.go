package limit

import (
	"cmp"
	"container/heap"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// noChance is the least of all chances.
func noChance(time.Duration) time.Duration { return 0 }

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// TestWindow tells of each rule of a window in a few steps.
func TestWindow(t *testing.T) {
	t.Parallel()
	full := func(w *Window, now time.Time, times int) {
		for range times {
			w.Passed(now, Success{Held: w.Size})
		}
	}
	for _, tc := range []struct {
		name string
		do   func(*Window) string
		want string
	}{
		{"starts low", func(w *Window) string {
			why, _ := w.Enter(noon, 8, noChance)
			return why
		}, "8 of 8"},
		{"lets in", func(w *Window) string {
			why, _ := w.Enter(noon, 3, noChance)
			return why
		}, ""},
		{"grows once a window of requests went well", func(w *Window) string {
			full(w, noon, 7)
			before := w.Size
			full(w, noon, 1)
			return fmt.Sprint(before, w.Size)
		}, "8 9"},
		{"does not grow where it holds nobody back", func(w *Window) string {
			for range 100 {
				w.Passed(noon, Success{Held: 7})
			}
			return fmt.Sprint(w.Size)
		}, "8"},
		{"does not grow before each one in it went well", func(w *Window) string {
			for range 100 {
				w.Passed(noon, Success{Held: 8, Fresh: 1})
			}
			return fmt.Sprint(w.Size)
		}, "8"},
		{"grows where there is always a new one, once others went well", func(w *Window) string {
			for range 8 + 9 {
				w.Passed(noon, Success{Held: w.Size, Fresh: 1, First: true})
			}
			return fmt.Sprint(w.Size)
		}, "10"},
		{"grows by each agent that proved itself, once it is wide", func(w *Window) string {
			w.Size = wideSize
			for range 5 {
				w.Passed(noon, Success{Held: w.Size, Fresh: w.Size / 2, First: true})
				w.Passed(noon, Success{Held: w.Size, Fresh: w.Size / 2})
				w.Passed(noon, Success{Held: w.Size - 1, Fresh: w.Size / 2, First: true})
			}
			return fmt.Sprint(w.Size - wideSize)
		}, "5"},
		{"grows slowly after the first refusal, though it is wide", func(w *Window) string {
			w.Size = 2 * wideSize
			w.Refuse(noon, Refusal{Since: noon, Overloaded: true}, w.Size, noChance)
			for range 5 {
				w.Passed(noon, Success{Held: w.Size, Fresh: w.Size / 2, First: true})
			}
			return fmt.Sprint(w.Size - wideSize)
		}, "0"},
		{"tries nothing while it owes for what was refused", func(w *Window) string {
			w.Size, w.Ceiling, w.Owed = 2, 2, 100
			full(w, noon, 99)
			before := w.Size
			full(w, noon, 1)
			return fmt.Sprint(before, w.Size)
		}, "2 3"},
		{"halves and remembers where", func(w *Window) string {
			w.Size = 9
			w.Refuse(noon, Refusal{Since: noon}, 9, noChance)
			return fmt.Sprint(w.Size, w.Ceiling)
		}, "4 8"},
		{"halves once for many under way together", func(w *Window) string {
			w.Size = 16
			for range 8 {
				w.Refuse(noon.Add(time.Second), Refusal{Since: noon}, 16, noChance)
			}
			return fmt.Sprint(w.Size, w.Ceiling, w.Streak)
		}, "8 15 1"},
		{"halves not again while it empties", func(w *Window) string {
			w.Size = 16
			w.Refuse(noon, Refusal{Since: noon}, 16, noChance)
			w.Refuse(noon.Add(2*time.Second), Refusal{Since: noon.Add(time.Second)}, 12, noChance)
			return fmt.Sprint(w.Size, w.Ceiling)
		}, "8 11"},
		{"an overloaded provider says nothing of how many it allows", func(w *Window) string {
			w.Size = 8
			w.Refuse(noon, Refusal{Since: noon, Overloaded: true}, 8, noChance)
			return fmt.Sprint(w.Size, w.Ceiling)
		}, "4 0"},
		{"never below one", func(w *Window) string {
			for i := range 5 {
				at := noon.Add(time.Duration(i) * time.Hour)
				w.Refuse(at, Refusal{Since: at}, 1, noChance)
			}
			return fmt.Sprint(w.Size, w.Ceiling)
		}, "1 0"},
		{"comes back up to the ceiling, and stays", func(w *Window) string {
			w.Size = 9
			w.Refuse(noon, Refusal{Since: noon}, 9, noChance)
			full(w, noon, 4+5+6+7) // 4 5 6 7 8
			full(w, noon, 8*patience-1)
			return fmt.Sprint(w.Size)
		}, "8"},
		{"tries one more, rarely", func(w *Window) string {
			w.Size, w.Ceiling = 8, 8
			full(w, noon, 8*patience)
			return fmt.Sprint(w.Size, w.Probing)
		}, "9 true"},
		{"more rarely each time that is refused", func(w *Window) string {
			w.Size, w.Ceiling = 8, 8
			full(w, noon, 8*patience)
			w.Refuse(noon, Refusal{Since: noon}, 9, noChance)
			w.Size, w.Good = 8, 0
			w.Owed = 0
			full(w, noon, 8*2*patience-1)
			before := w.Size
			full(w, noon, 1)
			return fmt.Sprint(before, w.Size, w.Ceiling)
		}, "8 9 8"},
		{"soon again once one more went well", func(w *Window) string {
			w.Size, w.Ceiling = 8, 8
			full(w, noon, 8*patience+9+9+10+10)
			return fmt.Sprint(w.Size, w.Ceiling)
		}, "11 10"},
		{"waits as long as it was told", func(w *Window) string {
			w.Refuse(noon, Refusal{Since: noon, After: 90 * time.Second}, 4, noChance)
			why, wait := w.Enter(noon.Add(30*time.Second), 0, noChance)
			again, _ := w.Enter(noon.Add(90*time.Second), 0, noChance)
			return fmt.Sprintf("%s %s %q", why, wait, again)
		}, "told to wait until " + noon.Add(90*time.Second).Local().Format(time.TimeOnly) + ` 1m0s ""`},
		{"a shorter word does not shorten it", func(w *Window) string {
			w.Refuse(noon, Refusal{Since: noon, After: 90 * time.Second}, 4, noChance)
			w.Refuse(noon, Refusal{Since: noon, After: time.Second}, 4, noChance)
			return w.Until.Sub(noon).String()
		}, "1m30s"},
		{"nobody is told for longer than an hour", func(w *Window) string {
			w.Refuse(noon, Refusal{Since: noon, After: 1000 * time.Hour}, 4, noChance)
			return w.Until.Sub(noon).String()
		}, "1h0m0s"},
		{"waits longer each time where it was not told", func(w *Window) string {
			text := ""
			for i := range 8 {
				at := noon.Add(time.Duration(i) * 10 * time.Minute)
				w.Refuse(at, Refusal{Since: at}, 1, noChance)
				text += w.Until.Sub(at).String() + " "
			}
			return text
		}, "1s 2s 4s 8s 16s 32s 1m0s 1m0s "},
		{"those that come back keep a gap", func(w *Window) string {
			w.Refuse(noon, Refusal{Since: noon, After: time.Second}, 4, noChance)
			at := noon.Add(time.Second)
			first, _ := w.Enter(at, 0, func(n time.Duration) time.Duration { return n / 2 })
			_, wait := w.Enter(at, 1, noChance)
			return first + wait.String()
		}, (spreadGap / 2).String()},
		{"begins with half after a rest, and remembers", func(w *Window) string {
			w.Size, w.Ceiling, w.Used = 40, 50, noon
			_, _ = w.Enter(noon.Add(2*time.Hour), 0, noChance)
			return fmt.Sprint(w.Size, w.Ceiling)
		}, "20 50"},
		{"begins with no more than it had", func(w *Window) string {
			w.Size, w.Ceiling, w.Used = 3, 3, noon
			_, _ = w.Enter(noon.Add(2*time.Hour), 0, noChance)
			return fmt.Sprint(w.Size, w.Ceiling)
		}, "3 3"},
		{"what was written by somebody else is not believed", func(w *Window) string {
			w.Size, w.Patience, w.Until = -5, -1, noon.Add(1000*time.Hour)
			_, wait := w.Enter(noon, 0, noChance)
			return fmt.Sprint(w.Size, w.Patience, wait)
		}, "8 8 1h0m0s"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if got := tc.do(&Window{}); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// happening is an event of a simulation, with its time.
type happening struct {
	at time.Time
	n  int // of two at the same time, the event planned first wins
	do func(now time.Time)
}

type calendar struct {
	all []happening
	n   int
}

func (c *calendar) Len() int { return len(c.all) }
func (c *calendar) Less(i, j int) bool {
	return cmp.Or(c.all[i].at.Compare(c.all[j].at), cmp.Compare(c.all[i].n, c.all[j].n)) < 0
}
func (c *calendar) Swap(i, j int) { c.all[i], c.all[j] = c.all[j], c.all[i] }
func (c *calendar) Push(x any)    { c.all = append(c.all, x.(happening)) }
func (c *calendar) Pop() any {
	last := c.all[len(c.all)-1]
	c.all = c.all[:len(c.all)-1]
	return last
}

func (c *calendar) plan(at time.Time, do func(time.Time)) {
	c.n++
	heap.Push(c, happening{at, c.n, do})
}

// crowd is a hundred agents and a server that answers only so many at a time.
type crowd struct {
	calendar
	window  Window
	chance  *rand.Rand
	allowed int
	each    int  // requests of an agent
	ends    bool // an agent that is refused ends, and another attempt of it enters
	steady  bool // each answer takes 3 s, and a program starts in 0.3 s

	queue          []int // how many requests each that waits has left
	held, busy     int
	fresh          map[*member]bool
	done           int
	asked, refused int
	most           int
	end            time.Time
}

// member is an agent at work.
type member struct {
	left  int
	since time.Time
}

func (c *crowd) random(n time.Duration) time.Duration {
	if n <= 0 {
		return 0
	}
	return time.Duration(c.chance.Int64N(int64(n)))
}

// between is a time from a to b.
func (c *crowd) between(a, b time.Duration) time.Duration { return a + c.random(b-a) }

// play runs this many agents until all have ended.
func (c *crowd) play(agents int) {
	c.queue = slices.Repeat([]int{c.each}, agents)
	c.enter(noon)
	for c.Len() > 0 {
		next := heap.Pop(c).(happening)
		next.do(next.at)
	}
}

func (c *crowd) enter(now time.Time) {
	for len(c.queue) > 0 {
		why, wait := c.window.Enter(now, c.held, c.random)
		if wait > 0 {
			c.plan(now.Add(wait), c.enter)
			return
		}
		if why != "" {
			return
		}
		m := &member{left: c.queue[0], since: now}
		c.queue = c.queue[1:]
		c.held++
		c.fresh[m] = true
		// It takes a while until a program asks its first question.
		boot := c.between(300*time.Millisecond, 3*time.Second)
		if c.steady {
			boot = 300 * time.Millisecond
		}
		c.plan(now.Add(boot), func(now time.Time) { c.request(now, m) })
	}
}

func (c *crowd) request(now time.Time, m *member) {
	c.asked++
	if c.busy >= c.allowed {
		c.refused++
		c.window.Refuse(now, Refusal{Since: m.since}, c.held, c.random)
		if c.ends {
			c.leave(m)
			c.plan(now.Add(c.between(time.Second, 2*time.Second)), func(now time.Time) {
				c.queue = append(c.queue, m.left)
				c.enter(now)
			})
			c.enter(now)
			return
		}
		c.plan(now.Add(c.between(2*time.Second, 4*time.Second)), func(now time.Time) { c.request(now, m) })
		return
	}
	c.busy++
	c.most = max(c.most, c.busy)
	takes := c.between(2*time.Second, 20*time.Second)
	if c.steady {
		takes = 3 * time.Second
	}
	c.plan(now.Add(takes), func(now time.Time) { c.answer(now, m) })
}

func (c *crowd) answer(now time.Time, m *member) {
	c.busy--
	first := c.fresh[m]
	delete(c.fresh, m)
	m.since = now
	c.window.Passed(now, Success{Held: c.held, Fresh: len(c.fresh), First: first})
	if m.left--; m.left == 0 {
		c.leave(m)
		c.done++
		c.end = now
	} else {
		// A tool runs before it asks again.
		c.plan(now.Add(c.between(0, 3*time.Second)), func(now time.Time) { c.request(now, m) })
	}
	c.enter(now)
}

func (c *crowd) leave(m *member) {
	c.held--
	delete(c.fresh, m)
}

// TestCrowd has a hundred agents make several requests each of a server that
// answers so many at a time and refuses all beyond. All have to end, with
// few of the requests refused, and without leaving the server idle.
func TestCrowd(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		allowed, each int
		ends          bool
	}{
		{8, 5, false}, {8, 5, true}, {8, 1, true}, {8, 20, false}, {3, 5, true}, {20, 5, false}, {1000, 5, false},
	} {
		t.Run(fmt.Sprintf("%d at a time, %d each, ends %v", tc.allowed, tc.each, tc.ends), func(t *testing.T) {
			t.Parallel()
			worst := 0.0
			for seed := range uint64(50) {
				c := &crowd{
					chance: rand.New(rand.NewPCG(seed, 1)), allowed: tc.allowed, each: tc.each, ends: tc.ends,
					fresh: map[*member]bool{},
				}
				c.play(100)
				share := float64(c.refused) / float64(c.asked)
				worst = max(worst, share)
				if c.done != 100 || c.held != 0 {
					t.Fatalf("seed %d: %d of 100 are done, %d held", seed, c.done, c.held)
				}
				if share >= 0.05 {
					t.Errorf("seed %d: %d of %d requests were refused: %.1f %%", seed, c.refused, c.asked, 100*share)
				}
				if c.most < min(tc.allowed, 8)*3/4 {
					t.Errorf("seed %d: at most %d were answered at a time, of %d", seed, c.most, tc.allowed)
				}
				if seed == 0 {
					t.Logf("%d asked, %d refused, took %s, at most %d; %+v", c.asked, c.refused, c.end.Sub(noon), c.most, c.window)
				}
			}
			t.Logf("at worst %.1f %% refused", 100*worst)
		})
	}
}

// TestWide bounds the simulated time of a hundred agents whose provider refuses no
// request. Each agent gets a single answer, after 3 s. In a new lane they took 36 s
// when a window began with 4 and always grew by a fifth.
func TestWide(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		window Window
		most   time.Duration
	}{
		{"a new lane", Window{}, 27 * time.Second},
		{"a lane that was empty for a day", Window{Size: 100, Used: noon.Add(-24 * time.Hour)}, 7 * time.Second},
	} {
		c := &crowd{chance: rand.New(rand.NewPCG(1, 1)), allowed: 1000, each: 1, steady: true, window: tc.window, fresh: map[*member]bool{}}
		c.play(100)
		t.Logf("%s: %s", tc.name, c.end.Sub(noon))
		if took := c.end.Sub(noon); took > tc.most || c.done != 100 {
			t.Errorf("%s: %d of 100 were done after %s, want all within %s", tc.name, c.done, took, tc.most)
		}
	}
}

// TestClockSetBack checks that a window waits no longer than it was told, and
// learns on, though its times lie ahead.
func TestClockSetBack(t *testing.T) {
	t.Parallel()
	none := func(time.Duration) time.Duration { return 0 }
	then := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for _, back := range []time.Duration{0, time.Minute, 30 * time.Minute, 24 * time.Hour, 1000 * 24 * time.Hour} {
		var w Window
		for range 4 {
			w.Enter(then, 0, none)
		}
		w.Refuse(then, Refusal{After: 10 * time.Second, Since: then.Add(-time.Second)}, 4, none)
		now := then.Add(-back)
		if _, wait := w.Enter(now, 1, none); wait != 10*time.Second {
			t.Errorf("back by %s: it waits %s, want ten seconds", back, wait)
		}
		now = now.Add(11 * time.Second)
		if why, _ := w.Enter(now, 1, none); why != "" {
			t.Errorf("back by %s: it waits still: %s", back, why)
		}
		w.Refuse(now.Add(time.Second), Refusal{Since: now}, 2, none)
		if w.Size != 1 {
			t.Errorf("back by %s: the size is %d after another refusal, want 1", back, w.Size)
		}
	}
}
