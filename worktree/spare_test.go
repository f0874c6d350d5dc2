package worktree

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

type fakeHelper struct{ closed *atomic.Int64 }

func (h fakeHelper) Close() error {
	h.closed.Add(1)
	return nil
}

// TestSpareIsWaitedFor: requests at the same moment wait for a single process,
// as long as it answers, and it ends after the last request.
func TestSpareIsWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, started, closed, answers := newSpare[fakeHelper](), 0, new(atomic.Int64), make(chan bool)
		const n = 50
		for range n {
			go func() {
				asked, err := s.ask(t.Context(), func() (fakeHelper, error) {
					started++ // by a single goroutine at a time
					return fakeHelper{closed}, nil
				}, func(fakeHelper) error {
					time.Sleep(stuck / 5) // all of them together wait far longer than for a stuck process
					return nil
				})
				answers <- asked && err == nil
			}()
		}
		for range n {
			if !<-answers {
				t.Error("somebody went elsewhere")
			}
		}
		if started != 1 || closed.Load() != 0 {
			t.Errorf("%d were started and %d closed, want one that waits", started, closed.Load())
		}
		time.Sleep(idle + time.Millisecond)
		synctest.Wait()
		if closed.Load() != 1 {
			t.Errorf("%d closed after a while, want 1", closed.Load())
		}
	})
}

// TestSpareIsStuck: no request waits longer than allowed, also for a process
// that does not answer.
func TestSpareIsStuck(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, closed, hold := newSpare[fakeHelper](), new(atomic.Int64), make(chan struct{})
		start := func() (fakeHelper, error) { return fakeHelper{closed}, nil }
		first := make(chan error)
		go func() {
			_, err := s.ask(t.Context(), start, func(fakeHelper) error {
				<-hold
				return errors.New("it fell over")
			})
			first <- err
		}()
		synctest.Wait()
		begin := time.Now()
		asked, err := s.ask(t.Context(), start, func(fakeHelper) error { return nil })
		if asked || err != nil || time.Since(begin) > 2*stuck {
			t.Errorf("asked = %v, %v after %s, want an answer from elsewhere", asked, err, time.Since(begin))
		}
		ctx, cancel := context.WithTimeoutCause(t.Context(), stuck/2, errKilled)
		defer cancel()
		if asked, err := s.ask(ctx, start, func(fakeHelper) error { return nil }); asked || !errors.Is(err, errKilled) {
			t.Errorf("asked = %v, %v, want the cause", asked, err)
		}
		close(hold)
		if err := <-first; err == nil || closed.Load() != 1 {
			t.Errorf("%v, closed %d, want the one that failed closed", err, closed.Load())
		}
		if asked, err := s.ask(t.Context(), start, func(fakeHelper) error { return nil }); !asked || err != nil {
			t.Errorf("asked = %v, %v, want a new one to answer", asked, err)
		}
		if err := s.close(); err != nil || closed.Load() != 2 {
			t.Errorf("close = %v, closed %d", err, closed.Load())
		}
	})
}
