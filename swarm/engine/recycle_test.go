package engine

import (
	"slices"
	"testing"
)

// TestRecycles: a workspace is reused if every process in it ended for certain.
func TestRecycles(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text, verify string
		want               bool
	}{
		{name: "ended", text: "echo a > a", want: true},
		{name: "failed", text: "exit 3", want: true},
		{name: "its supervisor was killed", text: "kill -9 $PPID; sleep 100"},
		{name: "that of its check was killed", text: "echo a > a", verify: "kill -9 $PPID; sleep 100"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.config.Verify = tt.verify
			r.play(sh(tt.text))
			if got := slices.Contains(r.spaces.recycled, "a1.1"); got != tt.want {
				t.Errorf("recycled: %v, want %v", got, tt.want)
			}
			if !slices.Contains(r.spaces.released, "a1.1") {
				t.Errorf("released: %q", r.spaces.released)
			}
		})
	}
}
