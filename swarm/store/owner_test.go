package store

import (
	"context"
	"errors"
	"os"
	"runtime"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

func TestOneOwner(t *testing.T) {
	t.Parallel()
	r, o := created(t, scratch(t))
	if _, err := r.Own(t.Context()); !isBusy(err, os.Getpid()) {
		t.Errorf("a second owner: %v", err)
	}
	mustClose(t, o)
	if r.Live() {
		t.Error("live without an owner")
	}
	c := play(t, "hold", r)
	if word := c.line(); word != "held" {
		t.Fatalf("the child said %q", word)
	}
	if _, err := r.Own(t.Context()); !isBusy(err, c.Pid) || !r.Live() {
		t.Errorf("beside process %d: %v", c.Pid, err)
	}
	cancelled, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	if _, err := r.Own(cancelled); err == nil || err.Error() != "enough" {
		t.Errorf("a cancelled wait = %v", err)
	}
	if err := c.Kill(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Wait(); err != nil {
		t.Fatal(err)
	}
	again, err := r.Own(t.Context())
	if err != nil {
		t.Fatalf("after the owner was killed: %v", err)
	}
	mustClose(t, again)
}

// TestLookingIsNotOwning looks at a run from many sides while it changes
// owners.
func TestLookingIsNotOwning(t *testing.T) {
	t.Parallel()
	r, o := created(t, scratch(t))
	mustClose(t, o)
	ctx, cancel := context.WithCancel(t.Context())
	looked := make(chan struct{})
	go func() {
		defer close(looked)
		for ctx.Err() == nil {
			r.Live()
			runtime.Gosched()
		}
	}()
	for range 50 {
		o, err := r.Own(t.Context())
		if err != nil {
			t.Error(err)
			break
		}
		mustClose(t, o)
	}
	cancel()
	<-looked
}

// TestLookingForLong checks that somebody who looks at a run, and is not let
// run meanwhile, is not taken for its owner.
func TestLookingForLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, o := created(t, scratch(t))
		mustClose(t, o)
		looks, err := os.Open(r.Lock())
		if err != nil {
			t.Fatal(err)
		}
		if err := flock(looks, syscall.LOCK_SH); err != nil {
			t.Fatal(err)
		}
		go func() {
			time.Sleep(time.Minute)
			if err := errors.Join(unlock(looks), looks.Close()); err != nil {
				t.Error(err)
			}
		}()
		again, err := r.Own(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		mustClose(t, again)
	})
}

func TestChildrenDoNotInheritTheLock(t *testing.T) {
	t.Parallel()
	s := scratch(t)
	r, o := created(t, s)
	other, p := created(t, s)
	mustClose(t, p)
	c := play(t, "hold", other) // started while r is owned here
	c.line()
	mustClose(t, o)
	if r.Live() {
		t.Error("a child holds the lock of its parent")
	}
	c.end(t)
}
