package engine

import (
	"context"
	"slices"
	"testing"

	"agentswarm/worktree"
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

// TestReleasedBeforeTheNext: an agent starts after the workspace of the agent before it was
// released, so that it can take over its files: as many copies are made as agents may run
// at once.
func TestReleasedBeforeTheNext(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.config.Jobs = 1
	r.spaces.backend = worktree.Copied
	e := Open(t.Context(), r.deps, r.config, r.view())
	r.spaces.recycle = func() {
		e.do(func(context.Context) {
			if e.running > 0 {
				t.Error("an agent was started before the workspace was released")
			}
		})
	}
	for range 3 {
		if _, err := e.Start(sh("echo a > a")); err != nil {
			t.Fatal(err)
		}
	}
	r.collect(e, 3)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if got := len(r.spaces.recycled); got != 3 {
		t.Errorf("%d workspaces were recycled, want 3", got)
	}
}
