package kinds

import (
	"context"
	"errors"
	"testing"
	"time"
)

// TestUnanswered holds why a version is not known.
func TestUnanswered(t *testing.T) {
	t.Parallel()
	late, cancel := context.WithDeadline(t.Context(), time.Now())
	defer cancel()
	for _, tt := range []struct {
		ctx  context.Context
		give error
		want string
	}{
		{t.Context(), errors.New("exit status 1\nmore"), "exit status 1; more"},
		{late, context.DeadlineExceeded, "it did not say it within 10s, as on a machine that is busy"},
	} {
		if got := unanswered(tt.ctx, tt.give); got.Error() != tt.want {
			t.Errorf("unanswered(%v) = %q, want %q", tt.give, got, tt.want)
		}
	}
}
