package proc

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func testKeeper() *Keeper { return &Keeper{Binary: exe(), Args: []string{"keep"}} }

// join starts a deaf agent that has a child, both in the keeper's group.
func join(k *Keeper, fifo string) (*exec.Cmd, error) {
	group, err := k.Group()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(exe(), "agent", "kept", fifo)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pgid: group}
	return cmd, cmd.Start()
}

// playKept is a git whose filter hangs: it and a child of its own are deaf.
func playKept(fifo string) {
	cmd := exec.Command(exe(), "agent", "deaf", fifo)
	must(cmd.Start())
	announce(fifo)
	forever()
}

// playKeeping is a swarm that waits for such a git.
func playKeeping(fifo string) {
	cmd, err := join(testKeeper(), fifo)
	must(err)
	must(cmd.Wait())
}

// TestKeeperOutlivesKill: a kept process dies after a kill of its owner.
func TestKeeperOutlivesKill(t *testing.T) {
	t.Parallel()
	w := newWitness(t)
	owner := exec.Command(exe(), "keeping", w.path)
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	w.meet(t, 2)
	w.alive(t)
	if err := owner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = owner.Wait() // it says that it was killed
	w.end(t)
}

// TestKeeperAsksFirst: a kept process can remove its half-made files, as a git
// does with its lock files.
func TestKeeperAsksFirst(t *testing.T) {
	t.Parallel()
	k, dir := &Keeper{Binary: exe(), Args: []string{"keep-patiently"}}, t.TempDir()
	group, err := k.Group()
	if err != nil {
		t.Fatal(err)
	}
	lock := filepath.Join(dir, "lock")
	cmd := exec.Command("sh", "-c", "trap 'rm \"$0\"; exit 7' TERM; touch \"$0\"; echo; while :; do sleep 0.01; done", lock)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pgid: group}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil { // its trap is set
		t.Fatal(err)
	}
	if err := k.Close(); err != nil {
		t.Error(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 7 {
		t.Errorf("it ended with %d, want the code of its trap", code)
	}
	if _, err := os.Stat(lock); err == nil {
		t.Error("its lock is left")
	}
}

// TestKeeperCloses: Close kills the remaining members, and all calls use the
// same keeper.
func TestKeeperCloses(t *testing.T) {
	t.Parallel()
	k, w := testKeeper(), newWitness(t)
	if err := k.Close(); err != nil {
		t.Errorf("Close of one that was not started = %v", err)
	}
	cmd, err := join(k, w.path)
	if err != nil {
		t.Fatal(err)
	}
	w.meet(t, 2)
	group, err := k.Group()
	if got, _ := syscall.Getpgid(cmd.Process.Pid); err != nil || got != group {
		t.Errorf("Group = %d, %v, and its member is in %d", group, err, got)
	}
	row, _ := look(group)
	if err := k.Close(); err != nil {
		t.Error(err)
	}
	_ = cmd.Wait() // it was killed
	w.end(t)
	dead(t, row.pid, row.start)
}

// TestKeeperStops: Stop ends a member and its descendants, and no other.
func TestKeeperStops(t *testing.T) {
	t.Parallel()
	k := testKeeper()
	defer k.Close()
	group, err := k.Group()
	if err != nil {
		t.Fatal(err)
	}
	start := func(w *witness) *exec.Cmd {
		// The shell and its background process hold the pipe open.
		cmd := exec.CommandContext(context.WithoutCancel(t.Context()), "/bin/sh", "-c",
			`exec 9> "$0"; sleep 1000 & echo here >&9; wait`, w.path)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pgid: group}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		w.meet(t, 1)
		return cmd
	}
	ended, stays := newWitness(t), newWitness(t)
	one, other := start(ended), start(stays)
	if err := k.Stop(one.Process.Pid); err != nil {
		t.Error(err)
	}
	_ = one.Wait() // it was killed
	ended.end(t)
	stays.alive(t)
	if err := k.Close(); err != nil {
		t.Error(err)
	}
	_ = other.Wait() // so was this
	stays.end(t)
}

// TestKeeperKilled: where somebody kills the keeper, there is another.
func TestKeeperKilled(t *testing.T) {
	t.Parallel()
	k := testKeeper()
	defer k.Close()
	first, err := k.Group()
	if err != nil {
		t.Fatal(err)
	}
	gone := k.kept.gone
	if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	select {
	case <-gone:
	case <-time.After(patient):
		t.Fatal("the keeper lives")
	}
	second, err := k.Group()
	if err != nil || second == first || syscall.Kill(second, 0) != nil {
		t.Errorf("Group = %d, %v after keeper %d was killed", second, err, first)
	}
}

// TestKeepIsNotForPeople: typed by a person, it says so and kills no process.
func TestKeepIsNotForPeople(t *testing.T) {
	t.Parallel()
	for _, group := range []bool{true, false} {
		cmd := exec.CommandContext(t.Context(), exe(), "keep")
		if !group {
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
		}
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: group}
		out, _ := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != 2 || !strings.Contains(string(out), "not for people") {
			t.Errorf("in a group of its own %v, it ended with %v: %s", group, cmd.ProcessState, out)
		}
	}
}

// TestKeeperCannotStart: the error is of the same kind as a supervisor's.
func TestKeeperCannotStart(t *testing.T) {
	t.Parallel()
	k := &Keeper{Binary: "/nowhere/swarm", Args: []string{"keep"}}
	if _, err := k.Group(); err == nil || !strings.Contains(err.Error(), "could not be started") {
		t.Errorf("Group = %v, want a StartError", err)
	}
}
