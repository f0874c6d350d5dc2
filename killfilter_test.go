package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestKillWhileFilterHangs kills swarm with -9 while a git of its own waits
// for a filter that hangs, wherever that can be: nothing of it lives on.
func TestKillWhileFilterHangs(t *testing.T) {
	t.Parallel()
	each := []string{"run", "--each", "pkg/*/", "--", "fakeagent", "write:new.txt:x"}
	// The filter hangs from the moment an agent asks for it, not before.
	late := append(slices.Clone(each), "touch:HANGS")
	tests := []struct {
		name  string
		first []string // runs before the filter hangs
		hangs string   // smudge: files to the disk; clean: files to objects
		args  []string
		next  []string // finds the run that was killed, and hangs, too
	}{
		{name: "base", hangs: "clean", args: []string{"run", "--with-changes", "--", "fakeagent"}},
		{name: "fill", hangs: "smudge", args: each},
		{name: "capture", hangs: "clean", args: late, next: []string{"gc"}},
		{name: "merge", first: each, hangs: "smudge", args: []string{"merge"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			y := newFixture(t)
			y.write("repo/.gitattributes", "*.txt filter=hang\n")
			y.git("add", "-A")
			y.git("commit", "-q", "-m", "second")
			if tt.name == "base" {
				y.write("repo/pkg/p0/f.txt", "changed\n")
			}
			if tt.first != nil {
				y.ends(0, tt.first...)
			}
			hangs := y.path("hangs")
			script := fmt.Sprintf("#!/bin/sh\ntest -e '%s' || exec cat\n"+
				"echo $$ $PPID >> '%s'\nexec fakeagent deaf 'mark:%s'\n", hangs, y.path("hanging"), y.dir)
			y.program("hang.sh", script)
			y.git("config", "filter.hang."+tt.hangs, filepath.Join(y.dir, "hang.sh"))
			args := slices.Clone(tt.args)
			if last := len(args) - 1; args[last] == "touch:HANGS" {
				args[last] = "touch:" + hangs
			} else {
				y.must(os.WriteFile(hangs, nil, 0o600))
			}
			y.killHanging(args)
			if tt.next != nil {
				y.killHanging(tt.next)
			}
			// The work of a killed process is captured once the filter works,
			// also if an agent that runs again asks for a hang.
			y.program("hang.sh", "#!/bin/sh\nexec cat\n")
			if v := y.view(); v != nil {
				y.ends(0, "resume")
				y.nothingLost(y.view())
			}
		})
	}
}

// killHanging kills a command once a filter hangs.
func (y *fixture) killHanging(args []string) {
	y.t.Helper()
	y.must(os.RemoveAll(y.path("hanging")))
	cmd := y.command(nil, args...)
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	y.must(cmd.Start())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // it is killed
	}()
	defer func() { <-ended }()
	for deadline := time.Now().Add(never); len(y.lines("hanging")) == 0; {
		select {
		case <-ended:
			y.failf("swarm %v ended before a filter hung: %s", args, said.String())
		case <-time.After(5 * time.Millisecond): // a poll for another process
		}
		if time.Now().After(deadline) {
			_ = cmd.Process.Kill()
			y.failf("swarm %v: no filter hangs", args)
		}
	}
	y.must(cmd.Process.Kill())
	<-ended
	y.dead(strings.Fields(strings.Join(y.lines("hanging"), " ")))
	if alive := y.alive(); len(alive) > 0 {
		y.failf("still alive: %q", alive)
	}
}

// dead waits until the processes that were started for the fixture are gone. A
// zombie counts as gone. The process id of an ended process may belong to
// another process by now.
func (y *fixture) dead(pids []string) {
	y.t.Helper()
	for deadline := time.Now().Add(never); ; {
		alive := slices.DeleteFunc(slices.Clone(pids), func(pid string) bool {
			return !startedFor(filepath.Join("/proc", pid), y.dir)
		})
		if len(alive) == 0 {
			return
		}
		if time.Now().After(deadline) {
			for _, pid := range alive { // not to be left behind
				if n, err := strconv.Atoi(pid); err == nil {
					_ = syscall.Kill(n, syscall.SIGKILL)
				}
			}
			y.failf("git and its filters live: %v", alive)
		}
		time.Sleep(5 * time.Millisecond) // a poll: the kernel tells nobody
	}
}

// TestReadersStartNoKeeper checks that only a command that works on a run has a
// process that ends its gits. A reading command has none, and its gits are in
// groups of their own.
func TestReadersStartNoKeeper(t *testing.T) {
	t.Parallel()
	y := newFixture(t)
	real, err := exec.LookPath("git")
	y.must(err)
	y.program("bin/git", fmt.Sprintf("#!/bin/sh\nread -r pid name state parent group rest < /proc/$$/stat\n"+
		"echo $pid $group >> '%s'\nexec '%s' \"$@\"\n", y.path("groups"), real))
	path := "PATH=" + filepath.Join(y.dir, "bin") + ":" + os.Getenv("PATH")
	for _, tt := range []struct {
		args []string
		kept bool
	}{
		{args: []string{"run", "--", "fakeagent", "write:new.txt:x"}, kept: true},
		{args: []string{"ls"}},
		{args: []string{"status"}},
		{args: []string{"show"}},
		{args: []string{"logs"}},
		{args: []string{"diff"}},
		{args: []string{"wait"}},
		{args: []string{"gc"}},
		{args: []string{"merge"}, kept: true},
	} {
		y.must(os.RemoveAll(y.path("groups")))
		if s := y.swarm([]string{path}, tt.args...); s.code != 0 {
			t.Fatalf("swarm %v ended with %d: %s", tt.args, s.code, s.stderr)
		}
		groups := map[string]bool{}
		for _, line := range y.lines("groups") {
			if pid, group, _ := strings.Cut(line, " "); pid != group {
				groups[group] = true
			}
		}
		if (len(groups) == 1) != tt.kept || len(groups) > 1 || len(y.lines("groups")) == 0 {
			t.Errorf("swarm %v: gits in groups %v, want one group of a keeper: %v", tt.args, groups, tt.kept)
		}
	}
}
