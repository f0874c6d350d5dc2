package store

import (
	"testing"
	"time"
)

// TestUntil holds when the time of a run ends.
func TestUntil(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	ended, last := now.Add(-time.Hour), now.Add(-time.Minute)
	for _, test := range []struct {
		name string
		view View
		want time.Time
	}{
		{"goes on", View{LastTime: last}, now},
		{"closed", View{LastTime: last, Ended: ended}, ended},
		{"its process died", View{LastTime: last, Died: true}, last},
	} {
		if got := test.view.Until(now); !got.Equal(test.want) {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}
