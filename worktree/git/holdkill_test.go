package git

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// killVariable tells a child process at which step it is to die, and where it works.
const killVariable = "SWARM_TEST_KILL"

// killedHold holds a base and releases another run in a child process, which a signal
// ends at a step.
func killedHold(t *testing.T, plan string) {
	f := strings.Split(plan, "\n")
	home, root, step, act := f[0], f[1], f[2], f[3]
	r, err := New((&fixture{home: home}).environ()).Discover(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	r.HideRefs(filepath.Join(home, "state", "refs.git"))
	count := 0
	r.own.atStep = func(name string) {
		count++
		if name == step {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
	switch act {
	case "hold":
		err = r.UpdateRefs(t.Context(), "m", RefUpdate{Ref: OwnRefs + "bbbbbb/base", New: Hash(f[4])})
	case "release":
		err = r.ReleasePacks(t.Context(), ReleaseRequest{Runs: []string{"aaaaaa"}, Now: time.Now()})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// die runs killedHold, and reports whether it came to the step.
func (h *hiding) die(step, act string, at Hash) bool {
	h.Helper()
	self, err := os.Executable()
	h.ok(err)
	cmd := exec.Command(self, "-test.run=^TestHoldKilledAtEveryStep$")
	cmd.Env = append(os.Environ(), killVariable+"="+strings.Join([]string{h.home, h.root, step, act, string(at)}, "\n"))
	out, err := cmd.CombinedOutput()
	if err == nil {
		return false
	}
	var exit *exec.ExitError
	status, signalled := syscall.WaitStatus(0), errors.As(err, &exit)
	if signalled {
		status, signalled = exit.Sys().(syscall.WaitStatus)
	}
	if !signalled || !status.Signaled() {
		h.Fatalf("%s at %q: %v\n%s", act, step, err, out)
	}
	return true
}

// TestHoldKilledAtEveryStep holds that a kill at any step of holding a base or of releasing
// a run loses nothing of other runs, is mended by the next command, and leaves no mark for
// good.
func TestHoldKilledAtEveryStep(t *testing.T) {
	if plan := os.Getenv(killVariable); plan != "" {
		killedHold(t, plan)
		return
	}
	t.Parallel()
	packs := []string{"packed", "kept", "placed .pack", "placed .idx"}
	pins := []string{"locked", "wrote commondir", "wrote HEAD", "wrote gitdir", "listed", "unlisted", "emptied"}
	t.Run("hold", func(t *testing.T) {
		t.Parallel()
		killedHolds(t, slices.Concat(packs, []string{"copied"}, pins, []string{"pinned"}))
	})
	t.Run("release", func(t *testing.T) {
		t.Parallel()
		killedReleases(t, append(packs, "settled", "forgot", "released"), false)
	})
	t.Run("release of a pin", func(t *testing.T) {
		t.Parallel()
		killedReleases(t, append(pins, "settled", "forgot", "released"), true)
	})
}

// killScene is a repository with a run that stays. It returns the capture of the run.
func killScene(t *testing.T) (h *hiding, kept Hash) {
	t.Helper()
	h = newHiding(t)
	h.publishAll()
	h.pin("cccccc", h.base)
	return h, h.capture("cccccc", 1, h.base, nil)
}

// clean is gc of the user's with all that is no ref expired.
func (h *hiding) clean() {
	h.Helper()
	h.git("worktree", "prune", "--expire=now")
	h.git("reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all")
	h.git("gc", "-q", "--prune=now")
}

// killedHolds kills a run that begins at each step, and sees that it leaves no trace.
func killedHolds(t *testing.T, steps []string) {
	h, kept := killScene(t)
	h.commit("b", "second\n")
	h.publishAll()
	next := h.commit("b", "third\n")
	for _, step := range steps {
		if !h.die(step, "hold", next) {
			t.Fatalf("it never came to the step %q", step)
		}
		h.clean()
		h.again()
		h.shown("cccccc", 1, kept)
		h.drop(time.Now(), "bbbbbb") // the run is removed
		if got := h.pinned(); !slices.Equal(got, []Hash{h.base}) || h.kept(" bbbbbb") > 0 {
			t.Errorf("killed at %q: pinned are %v, and %d packs are kept, want %s and none", step, got, h.kept(" bbbbbb"), h.base)
		}
	}
	// A killed run goes on with its resume.
	h.die("wrote HEAD", "hold", next)
	h.again()
	h.pin("bbbbbb", next)
	b := h.capture("bbbbbb", 1, next, nil)
	h.git("update-ref", "-d", "refs/remotes/origin/main")
	h.git("checkout", "-q", "--orphan", "other")
	h.git("commit", "-q", "-m", "other")
	h.git("branch", "-q", "-D", "main")
	h.clean()
	h.shown("bbbbbb", 1, b)
	h.git("fsck", "--strict", "--no-dangling")
	h.drop(time.Now(), "bbbbbb", "cccccc")
	h.nothingLeft(kept, b, next)
}

// killedReleases kills a gc at each step while it releases a run. It checks that other
// runs lose no object and that the next gc finishes the release. If lower is set, the
// run was the last that needed the pin, and the pin is lower in the end.
func killedReleases(t *testing.T, steps []string, lower bool) {
	h, kept := killScene(t)
	h.commit("b", "second\n")
	h.publishAll()
	next := h.commit("b", "third\n")
	for _, step := range steps {
		h.again()
		h.pin("aaaaaa", next)
		a := h.capture("aaaaaa", 1, next, nil)
		if !lower {
			h.pin("dddddd", a)
		}
		h.deleteRefs("aaaaaa")
		if !h.die(step, "release", "") {
			t.Fatalf("it never came to the step %q", step)
		}
		h.clean()
		h.again()
		h.shown("cccccc", 1, kept)
		h.drop(time.Now(), "aaaaaa")
		if !lower {
			h.clean()
			h.git("rev-list", "--objects", "--quiet", string(a))
			h.drop(time.Now(), "dddddd")
		}
		if got := h.pinned(); !slices.Equal(got, []Hash{h.base}) || h.kept(" aaaaaa") > 0 {
			t.Errorf("killed at %q: pinned are %v, and %d packs are kept, want %s and none", step, got, h.kept(" aaaaaa"), h.base)
		}
	}
	h.git("fsck", "--strict", "--no-dangling")
	h.drop(time.Now(), "cccccc")
	h.nothingLeft(kept)
}
