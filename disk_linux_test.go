package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"agentswarm/swarm/limit"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree"
)

// TestDiskFull lets an agent fill the disk that workspaces, journal and
// captures share. Nothing that was written is lost, swarm says why it could
// not go on, and does once there is room.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	onBackends(t, []worktree.Backend{worktree.Overlay}, fillDisk)
}

func fillDisk(t *testing.T, y *fixture) {
	t.Helper()
	// Room for the binary that swarm keeps, for the space that must be free
	// before swarm makes a workspace, and for little more.
	room := int64(limit.DiskSlack + 12<<20)
	if self, err := os.Executable(); err == nil {
		if at, err := os.Stat(self); err == nil {
			room += at.Size()
		}
	}
	if y.walled {
		room += 40 << 20 // there is a base as well, and more must be free
	}
	y.mountState(fmt.Sprintf("size=%d", room))
	y.must(y.order("a2", "flood", 4))
	s := y.swarm(nil, y.ledgerRun("-j", "1", "--verify", "true")...)
	if s.code != 3 && s.code != 1 {
		t.Fatalf("it ended with %d, want 3 or 1: %s", s.code, s.stderr)
	}
	if text := strings.ToLower(s.stderr); !strings.Contains(text, "no space") && !strings.Contains(text, "no room") {
		t.Errorf("it does not say that the disk is full: %s", s.stderr)
	}
	s = y.ends(0, "ls", "--json")
	if strings.Contains(s.stdout, "damaged") {
		t.Errorf("ls says %s", s.stdout)
	}
	v := y.view()
	y.nothingLost(v)
	y.floodIsKept(v)
	if _, ok := v.Agent("a1").Status.(*task.Completed); !ok {
		t.Errorf("a1, which had ended before, is %+v", v.Agent("a1").Status)
	}
	y.remountState(fmt.Sprintf("size=%d", room+(400<<20)))
	s = y.ends(0, "gc")
	v = y.view()
	y.nothingLost(v)
	y.floodIsKept(v)
	if len(v.Agent("a2").Leases) > 0 {
		t.Errorf("gc left a workspace that can be captured now: %s%s", s.stdout, s.stderr)
	}
	y.ends(0, "resume")
	y.startedTimes(map[string]int{"a1": 1, "a2": 2, "a3": 1})
	v = y.view()
	if v.Status != store.RunCompleted {
		t.Errorf("the run is %s", v.Status)
	}
	y.floodIsKept(v)
	y.tidy()
}

// mountState puts the state on a small disk of its own.
func (y *fixture) mountState(options string) {
	y.t.Helper()
	if os.Getuid() != 0 {
		y.t.Skip("only root can mount a small disk")
	}
	y.must(os.MkdirAll(y.state, 0o700))
	if err := syscall.Mount("tmpfs", y.state, "tmpfs", 0, options); err != nil {
		y.t.Skipf("no small disk can be mounted here: %v", err)
	}
	y.t.Cleanup(func() {
		// An ended process may hold it a moment longer than its parent's wait.
		y.await("the end of the small disk", func() bool {
			err := syscall.Unmount(y.state, 0)
			if err != nil && !errors.Is(err, syscall.EBUSY) {
				y.t.Fatalf("unmount the small disk: %v", err)
			}
			return err == nil
		})
	})
}

func (y *fixture) remountState(options string) {
	y.t.Helper()
	y.must(syscall.Mount("tmpfs", y.state, "tmpfs", syscall.MS_REMOUNT, options))
}

// floodIsKept finds all that the flood noted that it wrote, byte for byte. The
// watch of the disk may stop it between a write and its note.
func (y *fixture) floodIsKept(v *store.View) {
	y.t.Helper()
	lines := y.lines("flood")
	if len(lines) == 0 {
		y.t.Fatal("the disk was not filled")
	}
	name, noted, _ := strings.Cut(lines[len(lines)-1], " ")
	id, attempt, _ := strings.Cut(name, ".")
	size, err := strconv.Atoi(noted)
	y.must(err)
	kept := func(out []byte) bool { return len(out) >= size && bytes.Equal(out, floodOf(len(out))) }
	for _, ref := range y.refs(v.Identity.Run, id, attempt) {
		out, err := gitIn(y.repo, y.env, "show", ref+":"+id+".flood")
		if err == nil && kept(out) {
			return
		}
	}
	dirs, err := filepath.Glob(filepath.Join(y.state, "repo-*", "trash", "*-"+name, "tree"))
	y.must(err)
	for _, l := range v.Agent(task.ID(id)).Leases {
		dirs = append(dirs, l.Dir)
	}
	for _, dir := range dirs {
		for _, file := range []string{filepath.Join(dir, id+".flood"), filepath.Join(dir, "up", id+".flood")} {
			out, err := os.ReadFile(file)
			if err == nil && kept(out) {
				return
			}
		}
	}
	y.failf("the %d bytes of the flood are in no ref and none of %q", size, dirs)
}

// floodOf is the content of an agent's flood of n bytes.
func floodOf(n int) []byte {
	noise := rand.NewChaCha8([32]byte{})
	all := make([]byte, 0, n+floodBlock)
	block := make([]byte, floodBlock)
	for len(all) < n {
		_, _ = noise.Read(block) // never fails, says its documentation
		all = append(all, block...)
	}
	return all[:n]
}
