package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"agentswarm/swarm/store"
)

// TestScriptProcessKilled kills the process that a script runs in: the run has
// failed, its agents are ended and captured, and a resume goes on.
func TestScriptProcessKilled(t *testing.T) {
	t.Parallel()
	y := scriptFixture(t)
	y.write("long.js", `await agent('! print:first')
return agent('! write:half.txt:x\n! touch:$WORK/up\n! await:$WORK/go\n! print:long')`)
	cmd, wait := y.start(nil, "run", filepath.Join(y.dir, "long.js"))
	y.await("the second agent", func() bool { _, err := os.Stat(filepath.Join(y.dir, "up")); return err == nil })
	killed, err := killChildren(cmd.Process.Pid, "__script")
	y.must(err)
	if s := wait(); killed != 1 || s.code != 8 {
		t.Fatalf("%d processes were killed, and it ended with %d, want one and 8: %s", killed, s.code, s.stderr)
	}
	if alive := aliveIn(y.dir); len(alive) > 0 {
		t.Errorf("still alive: %q", alive)
	}
	if v := y.view(); v.Status != store.RunFailed || v.Agent("a2").Result() == nil || v.Agent("a2").Result().Done().Patch == nil {
		t.Errorf("the run is %s, and a2 %+v, want it failed, and what a2 wrote captured", v.Status, v.Agent("a2").Status)
	}
	y.write("go", "")
	if s := y.ends(0, "resume"); s.stdout != "long\n" {
		t.Errorf("resumed it returned %q", s.stdout)
	}
	if a := y.view().Agent("a1"); a.Attempts != 1 {
		t.Errorf("a1 was begun %d times", a.Attempts)
	}
	y.tidy()
}

// killChildren kills the children of a process whose first argument is word with
// -9, and tells how many there were.
func killChildren(pid int, word string) (killed int, err error) {
	for _, child := range childrenOf(pid) {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", child))
		if words := strings.Split(string(line), "\x00"); len(words) > 1 && words[1] == word {
			err = errors.Join(err, syscall.Kill(child, syscall.SIGKILL))
			killed++
		}
	}
	return killed, err
}

// childrenOf are the processes whose parent is pid.
func childrenOf(pid int) (children []int) {
	procs, _ := filepath.Glob("/proc/[0-9]*")
	for _, proc := range procs {
		stat, _ := os.ReadFile(filepath.Join(proc, "stat"))
		_, rest, _ := strings.Cut(string(stat), ") ")
		if f := strings.Fields(rest); len(f) > 1 && f[1] == strconv.Itoa(pid) {
			child, _ := strconv.Atoi(filepath.Base(proc))
			children = append(children, child)
		}
	}
	return children
}
