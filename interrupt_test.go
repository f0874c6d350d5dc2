package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"agentswarm/internal/testprogram"
	"agentswarm/swarm/captureref"
	"agentswarm/swarm/event"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree"
)

// ledgerRun is a run of the fixture's items whose agents keep a ledger.
func (y *fixture) ledgerRun(more ...string) []string {
	args := append([]string{"run", "--each", "pkg/*/"}, more...)
	return append(args, "--", "fakeagent", fmt.Sprintf("ledger:%s:%d", y.ledger, killWrites))
}

// start starts a command and hands over how it ends.
func (y *fixture) start(more []string, args ...string) (*exec.Cmd, func() said) {
	y.t.Helper()
	cmd := y.command(more, args...)
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	y.must(cmd.Start())
	return cmd, func() said {
		err := cmd.Wait()
		if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
			y.t.Fatal(err)
		}
		return said{stdout: stdout.String(), stderr: stderr.String(), code: cmd.ProcessState.ExitCode()}
	}
}

// await waits until something is so.
func (y *fixture) await(what string, so func() bool) {
	y.t.Helper()
	if !poll(never, so) {
		y.t.Fatalf("%s: it never came\n%s", what, y.states())
	}
}

// poll asks until something of another process holds, and reports whether it did
// within some time.
func poll(within time.Duration, holds func() bool) bool {
	for deadline := time.Now().Add(within); !holds(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}

// states describes the agents of the run for a failure: their states and errors.
func (y *fixture) states() string {
	y.t.Helper()
	v := y.view()
	if v == nil {
		return "there is no run"
	}
	var all strings.Builder
	fmt.Fprintf(&all, "the run is %s\n", v.Status)
	for _, a := range v.Agents {
		fmt.Fprintf(&all, "%s: %T %+v, held: %q\n", a.ID, a.Status, a.Status, a.Held)
	}
	return all.String()
}

func (y *fixture) awaitPaused(agents ...string) {
	y.t.Helper()
	for _, agent := range agents {
		y.await(agent+" pauses", func() bool {
			_, err := os.Stat(y.path("paused", agent))
			return err == nil
		})
	}
}

// records are the kinds of the journal's records so far.
func (y *fixture) records() []event.Record {
	y.t.Helper()
	var all []event.Record
	for _, run := range y.runs() {
		records, err := run.Records()
		y.must(err)
		all = append(all, records...)
	}
	return all
}

func (y *fixture) recorded(is func(event.Event) bool) bool {
	for _, r := range y.records() {
		if is(r.Event) {
			return true
		}
	}
	return false
}

// TestSignalled ends a run by a signal. A first agent would end at a TERM, a
// second is deaf, and a third waits for its turn.
func TestSignalled(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		signal  syscall.Signal
		code    int
		backend worktree.Backend
	}{
		{"SIGINT", syscall.SIGINT, 130, worktree.Linked},
		{"SIGTERM", syscall.SIGTERM, 143, worktree.Linked},
		{"SIGINT behind walls", syscall.SIGINT, 130, worktree.Overlay},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			y := newFixture(t)
			y.on(test.backend)
			before := y.theirs()
			y.must(y.order("a1", "polite", 3))
			y.must(y.order("a2", "deaf", 4))
			cmd, wait := y.start(nil, y.ledgerRun("-j", "2")...)
			y.awaitPaused("a1", "a2")
			y.must(cmd.Process.Signal(test.signal))
			if s := wait(); s.code != test.code {
				t.Fatalf("it ended with %d, want %d: %s", s.code, test.code, s.stderr)
			}
			if alive := processesWith(y.dir); len(alive) > 0 {
				t.Errorf("still alive: %q", alive)
			}
			v := y.view()
			if v.Status != store.RunStopped || v.Died || v.Code != test.code {
				t.Errorf("the run is %s (died: %t) with code %d", v.Status, v.Died, v.Code)
			}
			for id, files := range map[task.ID]int{"a1": 1, "a2": 2} {
				r, ok := v.Agent(id).Status.(*task.Cancelled)
				if !ok || r.Cause != task.CauseStopped || r.Patch == nil || r.Patch.Files != files {
					t.Errorf("%s is %+v, want it stopped with a patch of %d files", id, v.Agent(id).Status, files)
				}
			}
			if word := task.Word(v.Agent("a3").Status); word != "queued" {
				t.Errorf("a3 is %s, want queued", word)
			}
			y.nothingLost(v)
			if now := y.theirs(); now != before {
				t.Error("what is the user's changed")
			}
			y.ends(0, "resume")
			y.startedTimes(map[string]int{"a1": 2, "a2": 2, "a3": 1})
			y.tidy()
		})
	}
}

// startedTimes checks how often each agent was started.
func (y *fixture) startedTimes(want map[string]int) {
	y.t.Helper()
	got := map[string]int{}
	for _, line := range y.lines("starts") {
		agent, _, _ := strings.Cut(line, " ")
		got[agent]++
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		y.failf("started %v, want %v", got, want)
	}
}

// TestSignalledTwice ends swarm at the second SIGINT, before the grace of a
// deaf agent is over. The next command captures.
func TestSignalledTwice(t *testing.T) {
	t.Parallel()
	onBackends(t, fixtureBackends(), signalledTwice)
}

func signalledTwice(t *testing.T, y *fixture) {
	before := y.theirs()
	y.must(y.order("a2", "deaf", 4))
	// The grace may be over before the second signal is sent.
	hold := fmt.Sprintf("%s=hold:before closed:%s", faultVar, filepath.Join(y.dir, "held"))
	cmd, wait := y.start([]string{hold}, y.ledgerRun()...)
	y.awaitPaused("a2")
	y.must(cmd.Process.Signal(syscall.SIGINT))
	y.await("the first signal", func() bool {
		return y.recorded(func(e event.Event) bool { _, ok := e.(*event.CancelAsked); return ok })
	})
	y.must(cmd.Process.Signal(syscall.SIGINT))
	if s := wait(); s.code != 130 {
		t.Fatalf("it ended with %d: %s", s.code, s.stderr)
	}
	if y.recorded(func(e event.Event) bool { _, ok := e.(*event.Closed); return ok }) {
		t.Error("the second signal did not end it at once: the run was closed")
	}
	y.ends(0, "gc")
	s := y.ends(0, "status")
	if !strings.Contains(s.stdout, "stopped") {
		t.Errorf("status says %q, want stopped", s.stdout)
	}
	if alive := y.alive(); len(alive) > 0 {
		t.Errorf("still alive: %q", alive)
	}
	v := y.view()
	r, ok := v.Agent("a2").Status.(*task.Cancelled)
	if !ok || r.Cause != task.CauseStopped || r.Patch == nil || r.Patch.Files != 2 {
		t.Errorf("a2 is %+v, want it stopped with a patch of 2 files", v.Agent("a2").Status)
	}
	y.nothingLost(v)
	if now := y.theirs(); now != before {
		t.Error("what is the user's changed")
	}
	y.ends(0, "resume")
	y.tidy()
}

// gitOn puts a git first on PATH that does something else where its arguments
// match a pattern of sh.
func (y *fixture) gitOn(pattern, instead string) []string {
	y.t.Helper()
	real, err := exec.LookPath("git")
	y.must(err)
	script := fmt.Sprintf("#!/bin/sh\ncase \"$*\" in\n%s) %s ;;\nesac\nexec %s \"$@\"\n", pattern, instead, real)
	dir := filepath.Join(y.dir, "git")
	testprogram.Write(y.t, filepath.Join(dir, "git"), script)
	return []string{"PATH=" + dir + ":" + os.Getenv("PATH")}
}

// TestBeginCutOff ends a run before its first agent: while it copies the
// configuration that captures go by, and while it pins its base. The resume
// makes up for both.
func TestBeginCutOff(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"*--get*core.excludesFile*", "*update-ref*--stdin*"} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			y := newFixture(t)
			y.git("config", "filter.shout.clean", "tr a-z A-Z")
			y.write("repo/.git/info/attributes", "*.txt filter=shout\n")
			if s := y.swarm(y.gitOn(at, "kill -9 $PPID; exit 1"), y.ledgerRun()...); s.code != 137 {
				t.Fatalf("it ended with %d: %s", s.code, s.stderr)
			}
			y.ends(0, "resume")
			v := y.view()
			if got := y.captures("rev-parse", captureref.Base(v.Identity.Run)); got != v.Identity.Base.Commit {
				t.Errorf("the base is pinned at %s", got)
			}
			commit := v.Agent("a1").Result().Done().Patch.Commit
			if got := y.git("show", commit+":a1.txt"); !strings.HasPrefix(got, "A1 WROTE 1\n") {
				t.Errorf("captured %q: not by the user's filter", got)
			}
			y.tidy()
		})
	}
}

// TestSignalledInFill presses Ctrl-C while git fills a workspace and takes
// for ever.
func TestSignalledInFill(t *testing.T) {
	t.Parallel()
	y := newFixture(t)
	path := y.gitOn("*read-tree*--reset*-u*", "kill -INT $PPID; exec sleep 1000")
	if s := y.swarm(path, y.ledgerRun("-j", "1")...); s.code != 130 {
		t.Fatalf("it ended with %d: %s", s.code, s.stderr)
	}
	if alive := y.alive(); len(alive) > 0 {
		t.Errorf("still alive: %q", alive)
	}
	y.startedTimes(map[string]int{})
	y.tidy()
	y.ends(0, "resume")
	y.startedTimes(map[string]int{"a1": 1, "a2": 1, "a3": 1})
	y.tidy()
}

// TestPrunedByUser has the user tidy the repository up between all steps of
// a run and its merge, as far as git can.
func TestPrunedByUser(t *testing.T) {
	t.Parallel()
	onBackends(t, []worktree.Backend{worktree.Linked}, prunedByUser)
}

func prunedByUser(t *testing.T, y *fixture) {
	prune := []string{fmt.Sprintf("%s=prune:all:%s", faultVar, y.repo)}
	if s := y.swarm(prune, y.ledgerRun("-j", "2")...); s.code != 0 {
		t.Fatalf("run ended with %d: %s", s.code, s.stderr)
	}
	v := y.view()
	y.nothingLost(v)
	if s := y.swarm(prune, "merge"); s.code != 0 {
		t.Fatalf("merge ended with %d: %s", s.code, s.stderr)
	}
	y.git("fsck", "--strict")
	for _, agent := range []string{"a1", "a2", "a3"} {
		for n := range killWrites {
			path, text := ledgerWrite(agent, n+1)
			if got := y.git("show", "HEAD:"+path); !strings.Contains(got+"\n", text) {
				t.Errorf("%s holds %q, want %q in it", path, got, text)
			}
		}
	}
	y.tidy()
}
