package landing

import (
	"cmp"
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
		want    time.Duration // until it ends; with six hours for want of a known time
	}{
		{"unknown", 0, 0, "make", 6 * time.Hour},
		{"known", 10 * time.Minute, 0, "make", 30 * time.Minute},
		{"short", time.Second, 0, "make", time.Minute},
		{"learned", 0, 2 * time.Minute, "make", 6 * time.Minute},
		{"learned late", 0, time.Second, "make", time.Minute},
		{"the first counts", 10 * time.Minute, time.Minute, "make", 30 * time.Minute},
		{"of another command", time.Second, 0, "make test", 6 * time.Hour},
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
			<-ctx.Done()
			took, cause := time.Since(began), context.Cause(ctx)
			var none *NoVerdictError
			if took != tt.want || errors.Is(cause, ErrTimeLimit) == (tt.want == 6*time.Hour) || errors.As(cause, &none) != (tt.want == 6*time.Hour) {
				t.Errorf("%s: it ended after %v with %v, want %v", tt.name, took, cause, tt.want)
			}
		})
	}
}

// TestLimitsOverdue: a run that takes the least limit needs the time on the branch, unless
// that is known.
func TestLimitsOverdue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := Limits{Least: 5 * time.Second}
		overdue, began := l.Overdue("make"), time.Now()
		ctx, done := l.Bound(t.Context(), "make")
		<-overdue
		if took := time.Since(began); took != 5*time.Second {
			t.Errorf("a run was overdue after %v, want 5s", took)
		}
		l.Learn("make", time.Second)
		if l.Overdue("make") != nil {
			t.Error("a run is overdue although its limit is known")
		}
		<-ctx.Done()
		if took := time.Since(began); took != 5*time.Second {
			t.Errorf("it ended after %v, want 5s", took)
		}
		done()
	})
}

// TestLimitsSetup: a setup that takes too long gives no verdict.
func TestLimitsSetup(t *testing.T) {
	t.Parallel()
	for _, most := range []time.Duration{0, time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			ctx, done := (&Limits{Setup: most}).BoundSetup(t.Context())
			defer done()
			<-ctx.Done()
			var none *NoVerdictError
			if took := time.Since(began); took != cmp.Or(most, time.Hour) || !errors.As(context.Cause(ctx), &none) {
				t.Errorf("a setup ended after %v with %v", took, context.Cause(ctx))
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
