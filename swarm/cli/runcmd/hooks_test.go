package runcmd

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"agentswarm/internal/testprogram"
)

// TestHooksStartSlowly: a process of functions that takes long to come up, as on
// a busy machine, is not held against a function.
func TestHooksStartSlowly(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	slow := filepath.Join(t.TempDir(), "slow")
	testprogram.Write(t, slow, "#!/bin/sh\nsleep 2.5\nexec '"+self+"' \"$@\"\n") // more than it once had
	h := &hooks{self: slow, turn: make(chan struct{}, 1)}
	if got, err := h.Decide(t.Context(), "s => s.turns > 0", json.RawMessage(`{"turns":1}`)); err != nil || string(got) != "true" {
		t.Errorf("Decide = %s, %v", got, err)
	}
	if err := h.close(); err != nil {
		t.Error(err)
	}
}

// TestHooksBeginNothing checks that a caller whose context has ended gets no
// turn, though a turn is free.
func TestHooksBeginNothing(t *testing.T) {
	t.Parallel()
	h := &hooks{self: filepath.Join(t.TempDir(), "none"), turn: make(chan struct{}, 1)}
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	cancel(why)
	for range 20 {
		if got, err := h.Decide(ctx, "() => true", json.RawMessage(`{}`)); !errors.Is(err, why) {
			t.Errorf("Decide = %s, %v, want the cause", got, err)
		}
	}
	if err := h.close(); err != nil {
		t.Error(err)
	}
}

// TestHooksHurtOnlyTheirOwn: a function that cannot be interrupted is ended
// with its process, and those that wait for their turn are answered by another.
func TestHooksHurtOnlyTheirOwn(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	h := &hooks{self: self, turn: make(chan struct{}, 1)}
	input := json.RawMessage(`{"turns":1}`)
	if got, err := h.Decide(t.Context(), "s => s.turns > 0", input); err != nil || string(got) != "true" {
		t.Fatalf("Decide = %s, %v", got, err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		const runaway = `() => /^(?=a)(a+)+$/.test('a'.repeat(60) + '!')`
		if got, err := h.Decide(t.Context(), runaway, input); err == nil {
			t.Errorf("what never ends says %s", got)
		}
	})
	for range 8 {
		all.Go(func() {
			if got, err := h.Decide(t.Context(), "() => false", input); err != nil || string(got) != "false" {
				t.Errorf("Decide beside a runaway = %s, %v", got, err)
			}
		})
	}
	all.Wait()
	if err := h.close(); err != nil {
		t.Error(err)
	}
}
