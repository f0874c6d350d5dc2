package agent

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestWaitingIsNotTheAgentsTime checks that an agent's wait for a person
// extends its limit by exactly that wait.
func TestWaitingIsNotTheAgentsTime(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ limit, before, waits, want time.Duration }{
		{10 * time.Second, 5 * time.Second, 95 * time.Second, 105 * time.Second},
		{10 * time.Second, 5 * time.Second, 2 * time.Second, 12 * time.Second},
		{10 * time.Second, 5 * time.Second, 0, 10 * time.Second},
		{time.Minute, 59 * time.Second, time.Hour, time.Hour + time.Minute},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := &Line{}
			began := time.Now()
			if test.waits > 0 {
				time.AfterFunc(test.before, l.Waits)
				time.AfterFunc(test.before+test.waits, func() { l.Reply(Reply{}) })
			}
			limit := time.NewTimer(test.limit)
			for {
				<-limit.C
				more := l.credit()
				if more <= 0 {
					break
				}
				limit.Reset(more)
			}
			// It is looked at again once a second while a question is open.
			if got := time.Since(began); got < test.want || got > test.want+2*recheck {
				t.Errorf("limit %s, %s of waiting: ended after %s, want %s", test.limit, test.waits, got, test.want)
			}
		})
	}
}

// TestWaitingIsNotIdle checks that an agent which waits for a person is not
// idle, and has all of its time again once it was answered.
func TestWaitingIsNotIdle(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := &Line{}
		if l.idle() < 1000*time.Hour {
			t.Errorf("an agent that asked nothing was heard %s ago", l.idle())
		}
		l.Waits()
		time.Sleep(time.Hour)
		if got := l.idle(); got != 0 {
			t.Errorf("it waits, and is idle for %s", got)
		}
		l.Reply(Reply{})
		time.Sleep(3 * time.Second)
		if got := l.idle(); got != 3*time.Second {
			t.Errorf("3 s after its answer it is idle for %s", got)
		}
	})
}

// TestExcusesEnd checks that an agent is idle that has done nothing for an hour
// but say that its provider told it to wait, however often it says so.
func TestExcusesEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := &Line{}
		said := func(pause time.Duration) {
			l.excuse(pause)
			time.Sleep(pause)
		}
		for range 6 {
			said(10 * time.Minute)
		}
		if got := l.idle(); got > 0 {
			t.Errorf("within the hour it is idle for %s", got)
		}
		for range 3 {
			said(10 * time.Minute)
		}
		if got := l.idle(); got != 30*time.Minute {
			t.Errorf("half an hour after that it is idle for %s", got)
		}
		l.goesOn()
		l.excuse(30 * time.Minute)
		l.excuse(30 * time.Minute) // the same half hour
		if time.Sleep(40 * time.Minute); l.idle() != 10*time.Minute {
			t.Errorf("once it went on it is idle for %s", l.idle())
		}
		w := wrote{busy: time.Now()}
		waits, works := &Outcome{Waits: "slow"}, &Outcome{}
		for _, step := range []struct {
			o    *Outcome
			want bool
		}{{waits, true}, {waits, true}, {works, true}, {waits, true}, {waits, true}, {waits, false}, {waits, false}, {works, true}} {
			time.Sleep(25 * time.Minute)
			if got := w.counts(step.o, time.Now()); got != step.want {
				t.Errorf("%q counts: %v, want %v", step.o.Waits, got, step.want)
			}
		}
	})
}
