package landing

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestLimits: a run is bounded by three times the time on the branch, also if that is
// learned while it runs, and by its own command only.
func TestLimits(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		before  time.Duration // of the branch, known before the run; 0: not
		during  time.Duration // likewise, learned after a minute
		command string        // of the run
		want    time.Duration // until it ends; 0: it does not
	}{
		{"unknown", 0, 0, "make", 0},
		{"known", 10 * time.Minute, 0, "make", 30 * time.Minute},
		{"short", time.Second, 0, "make", time.Minute},
		{"learned", 0, 2 * time.Minute, "make", 6 * time.Minute},
		{"learned late", 0, time.Second, "make", time.Minute},
		{"the first counts", 10 * time.Minute, time.Minute, "make", 30 * time.Minute},
		{"of another command", time.Second, 0, "make test", 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			var l Limits
			if tt.before > 0 {
				l.Learn("make", tt.before)
			}
			began := time.Now()
			ctx, done := l.Bound(t.Context(), tt.command)
			defer done()
			if tt.during > 0 {
				time.AfterFunc(time.Minute, func() { l.Learn("make", tt.during) })
			}
			day := time.NewTimer(24 * time.Hour)
			defer day.Stop()
			var took time.Duration
			select {
			case <-ctx.Done():
				took = time.Since(began)
			case <-day.C:
			}
			if took != tt.want || took > 0 && !errors.Is(context.Cause(ctx), ErrTimeLimit) {
				t.Errorf("%s: it ended after %v with %v, want %v", tt.name, took, context.Cause(ctx), tt.want)
			}
		})
	}
}

func TestCheckDisk(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		passed bool
		free   int64
		want   bool
	}{{true, 0, false}, {false, 1 << 30, false}, {false, 1 << 20, true}, {false, 0, true}} {
		err := CheckDisk(tt.passed, tt.free)
		if none := (*NoVerdictError)(nil); errors.As(err, &none) != tt.want {
			t.Errorf("CheckDisk(%t, %d) = %v", tt.passed, tt.free, err)
		}
	}
}
