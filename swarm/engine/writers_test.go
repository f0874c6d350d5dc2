package engine

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"agentswarm/swarm/task"
)

// TestHoldForDisk lets agents wait while the disk is low, and fails them only
// once it is full for good.
func TestHoldForDisk(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		then func(e *Engine)
		want string
	}{
		{"room again", func(e *Engine) { e.HoldForDisk("", false) }, "completed"},
		{"full", func(e *Engine) { e.HoldForDisk("no space: 1 B left", true) }, "failed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.config.Jobs = 1
			e := Open(t.Context(), r.deps, r.config, r.view())
			e.HoldForDisk("no space: 2 B left", false)
			if _, err := e.StartAll([]*task.Call{sh("true"), sh("true")}); err != nil {
				t.Fatal(err)
			}
			test.then(e)
			for id, s := range r.collect(e, 2) {
				is(t, string(id), task.Word(s.Result), test.want)
				if f, ok := s.Result.(*task.Failed); ok {
					is(t, "kind", f.Kind, task.StartFailed)
					contains(t, "reason", f.Reason, "no space: 1 B left; ")
				}
			}
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestStopWriter stops the attempt that was measured, and no other of its agent.
func TestStopWriter(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		attempt int
		began   time.Duration
		want    string
	}{
		{"this attempt", 0, 0, "cancelled"},
		{"an earlier attempt", -1, 0, "completed"},
		{"an earlier part of it", 0, -time.Hour, "completed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			e := Open(t.Context(), r.deps, r.config, r.view())
			if _, err := e.Start(sh(`touch $RIG/up; while ! test -e $RIG/go; do :; done`)); err != nil {
				t.Fatal(err)
			}
			r.await("up")
			w := e.Writers()[0]
			w.Attempt += test.attempt
			w.Began = w.Began.Add(test.began)
			e.StopWriter(w, "wrote 3 GB")
			if test.want == "completed" {
				touch(t, r, "go")
			}
			is(t, "it", task.Word(settled(e).Result), test.want)
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestCaptureWithReserve captures on a full disk once the reserve is released.
func TestCaptureWithReserve(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	reserve := filepath.Join(r.deps.Run.Dir, "reserve")
	if err := os.WriteFile(reserve, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r.spaces.capture = func(string) error {
		if _, err := os.Stat(reserve); !errors.Is(err, fs.ErrNotExist) {
			return &fs.PathError{Op: "write", Path: "pack", Err: syscall.ENOSPC}
		}
		return nil
	}
	s := r.play(sh("touch f"))["a1"]
	is(t, "it", task.Word(s.Result), "completed")
	is(t, "captured", s.Result.Done().Patch != nil, true)
}
